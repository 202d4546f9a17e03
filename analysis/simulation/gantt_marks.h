// The marks of a chart: how each is drawn, and what it stands for. Internal to analysis/simulation.
#pragma once

#include "analysis/simulation/activity.h"
#include "analysis/simulation/svg.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace rtgpu {

enum class GanttShape : std::uint8_t { bar, rule, release, deadline, completion, miss };

struct GanttMark {
  int place = 0;                // in the legend
  std::string_view class_name;  // of the style sheet
  std::string_view text;        // in the legend
  GanttShape shape = GanttShape::bar;
  Centipixels height = 0;  // of a bar
};

// Each is one object for the whole run of the program.
const GanttMark& gantt_mark(Activity activity);
const GanttMark& gantt_turns();  // on the GPU and off it, by turns too short to be drawn
const GanttMark& gantt_holds_core();
const GanttMark& gantt_boosted();
const GanttMark& gantt_release();
const GanttMark& gantt_jitter();
const GanttMark& gantt_deadline();
const GanttMark& gantt_completion();
const GanttMark& gantt_miss();

// The outline of a release, deadline, completion or miss at `x`, on the line `base`, `height` tall.
std::string gantt_path(const GanttMark& mark, Centipixels x, Centipixels base, Centipixels height);

// The style sheet and the patterns.
std::string_view gantt_style();

}  // namespace rtgpu
