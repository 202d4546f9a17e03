#include "analysis/simulation/gantt_marks.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr Centipixels kFull = pixels(18);
constexpr Centipixels kLow = pixels(8);

// In the order of Activity. Work is tall, waiting is low.
constexpr std::array<GanttMark, kActivityCount> kActivities = {
    GanttMark{0, "cpu", "CPU segment runs", GanttShape::bar, kFull},
    GanttMark{1, "misc", "misc of a GPU segment runs", GanttShape::bar, kFull},
    GanttMark{2, "call", "enter or leave call runs", GanttShape::bar, kFull},
    GanttMark{7, "preempted", "preempted: waits for its core", GanttShape::bar, kLow},
    GanttMark{8, "lock-wait", "waits for the lock", GanttShape::bar, kLow},
    GanttMark{3, "gpu", "on the GPU", GanttShape::bar, kFull},
    GanttMark{5, "switch", "GPU context switch", GanttShape::bar, kFull},
    GanttMark{9, "gpu-wait", "waits for the GPU", GanttShape::bar, kLow},
    GanttMark{6, "copy", "copies", GanttShape::bar, kFull},
    GanttMark{10, "copy-wait", "waits for the copy engine", GanttShape::bar, kLow}};
constexpr GanttMark kTurns{4, "turns", "on the GPU by turns (too short to draw)", GanttShape::bar, pixels(13)};
constexpr GanttMark kHoldsCore{11, "holds", "holds its core meanwhile", GanttShape::bar, pixels(3)};
constexpr GanttMark kBoosted{12, "boosted", "boosted above all priorities", GanttShape::rule, 0};
constexpr GanttMark kRelease{13, "release", "release", GanttShape::release, 0};
constexpr GanttMark kJitter{14, "jitter", "release jitter", GanttShape::rule, 0};
constexpr GanttMark kDeadline{15, "deadline", "deadline", GanttShape::deadline, 0};
constexpr GanttMark kCompletion{16, "completion", "completion", GanttShape::completion, 0};
constexpr GanttMark kMiss{17, "miss", "deadline missed", GanttShape::miss, 0};

// Colours are those of Okabe and Ito, which the colour-blind tell apart; patterns and grey levels differ too.
constexpr std::string_view kStyle = R"(<style>
text{font-family:"DejaVu Sans",Verdana,Arial,sans-serif;fill:#111}
.title{font-size:16px;font-weight:bold}.note{font-size:12px;fill:#333}
.name{font-size:12px;font-weight:bold}.number{font-size:11px;text-anchor:end}.about{font-size:10px;fill:#444}
.tick{font-size:11px;text-anchor:middle}.legend{font-size:11px}.inside{font-size:10px;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:2.5px}
.missed{font-size:10px;font-weight:bold;fill:#a00000}.responded{font-size:10px}
.paper,.behind{fill:#fff}.grid{stroke:#ddd}.row{stroke:#ccc}.core{stroke:#555}.axis{stroke:#111}
.cpu,.holds{fill:#00507f}.misc{fill:url(#misc);stroke:#00507f;stroke-width:.6}.call{fill:url(#call);stroke:#000;stroke-width:.6}
.gpu{fill:#f0b440;stroke:#7a5200;stroke-width:.6}.turns{fill:url(#turns);stroke:#7a5200;stroke-width:.6}
.switch{fill:#000}.copy{fill:url(#copy);stroke:#006b4f;stroke-width:.6}
.preempted{fill:#bbb;stroke:#555;stroke-width:.6}.lock-wait{fill:url(#lock-wait);stroke:#555;stroke-width:.6}
.gpu-wait{fill:#fff;stroke:#555;stroke-width:.8;stroke-dasharray:3 2}
.copy-wait{fill:url(#copy-wait);stroke:#555;stroke-width:.6}
.boosted{stroke:#b0305f;stroke-width:2.4}
.release,.completion{stroke:#000;stroke-width:1.1;fill:none}.deadline{stroke:#000;stroke-width:1.1;fill:#000}
.jitter{stroke:#000;stroke-width:1.1;stroke-dasharray:2 2}
.miss{stroke:#d00000;stroke-width:2.6;fill:none}.halo{stroke:#fff;stroke-width:5;fill:none}
.response{stroke:#444;stroke-width:1;fill:none}
</style>
<defs>
<pattern id="misc" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="#a9d6f0"/><path d="M-1 1l2-2M0 5l5-5M4 6l2-2" stroke="#00507f" stroke-width="1.2"/></pattern>
<pattern id="call" width="3" height="3" patternUnits="userSpaceOnUse"><rect width="3" height="3" fill="#fff"/><rect width="1.5" height="3" fill="#000"/></pattern>
<pattern id="turns" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="#fff"/><rect width="4" height="2" fill="#f0b440"/></pattern>
<pattern id="copy" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="#8fdcc0"/><circle cx="2.5" cy="2.5" r="1.2" fill="#006b4f"/></pattern>
<pattern id="lock-wait" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#fff"/><path d="M-1 5l6 6M0 0l6 6M5-1l6 6" stroke="#333" stroke-width="1.2"/></pattern>
<pattern id="copy-wait" width="5" height="4" patternUnits="userSpaceOnUse"><rect width="5" height="4" fill="#fff"/><circle cx="2.5" cy="2" r="1" fill="#333"/></pattern>
</defs>
)";

}  // namespace

const GanttMark& gantt_mark(Activity activity) {
  return kActivities[static_cast<std::size_t>(activity)];
}
const GanttMark& gantt_turns() {
  return kTurns;
}
const GanttMark& gantt_holds_core() {
  return kHoldsCore;
}
const GanttMark& gantt_boosted() {
  return kBoosted;
}
const GanttMark& gantt_release() {
  return kRelease;
}
const GanttMark& gantt_jitter() {
  return kJitter;
}
const GanttMark& gantt_deadline() {
  return kDeadline;
}
const GanttMark& gantt_completion() {
  return kCompletion;
}
const GanttMark& gantt_miss() {
  return kMiss;
}

std::string gantt_path(const GanttMark& mark, Centipixels x, Centipixels base, Centipixels height) {
  const std::string at = to_svg(x);
  const std::string low = to_svg(base);
  const std::string high = to_svg(base - height);
  switch (mark.shape) {
    case GanttShape::release:
      return fmt::format("M{0} {1}V{2}m-3.5 6l3.5-6l3.5 6", at, low, high);
    case GanttShape::deadline:
      return fmt::format("M{0} {2}V{1}M{0} {1}l-3.5-7h7z", at, low, high);
    case GanttShape::completion:
      return fmt::format("M{0} {1}V{2}m-4 0h8", at, low, to_svg(base - height + pixels(4)));
    case GanttShape::miss:
      return fmt::format("M{} {}m-4.5-4.5l9 9m0-9l-9 9", at, to_svg(base - height + pixels(4)));
    default:
      return {};
  }
}

std::string_view gantt_style() {
  return kStyle;
}

}  // namespace rtgpu
