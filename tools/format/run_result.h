// What is told about a run.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/time.h"
#include "runtime/histogram.h"
#include "runtime/machine/realtime.h"
#include "runtime/run_report.h"
#include "taskset/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

struct RunResult {
  std::string source;  // file name, "-" for standard input
  LoadedTaskset loaded;
  std::string device;  // as asked for
  WaitLabel wait = WaitLabel::suspend;
  Duration duration;  // asked for
  TrialChoices choices;
  std::uint64_t trial = 0;
  bool check_bounds = false;
  bool interrupted = false;
  std::optional<AnalysisResult> analysis;  // none: no bounds
  // By task, by what the taskset declares alone; those of `report` may count what was measured too.
  std::vector<std::optional<Duration>> declared_bounds;
  std::vector<std::string> notes;  // what else a user should be told
  RunReport report;                // its tasks are those of the taskset, in that order

  // Whether nothing failed and no deadline was missed and, if bounds are checked, every real-time task has one and none
  // was exceeded.
  bool is_yes() const;
  // Names of real-time tasks.
  std::vector<std::string> without_bound() const;
  std::vector<std::string> exceeded() const;
};

// What the runtime itself took, over all tasks.
struct RunOverheads {
  Histogram grant;       // from being let in to going on
  Histogram completion;  // from the end of GPU work or a copy to going on
};
RunOverheads overheads_of(const RunReport& report);

// The longest response as a share of the bound, in thousandths and rounded up: "0.967". More than "1.000" exactly if
// the bound is exceeded. Empty if there is no bound, or no job.
std::string observed_over_bound(const std::optional<Duration>& bound, Duration observed);

// Things that were not granted as asked for. Those of several threads with one reason are one item: "CPU of camera and
// 2 others".
std::vector<RealtimeItem> not_granted(const RealtimeReport& realtime);

// "not granted: priority of camera and 2 others: SCHED_OTHER, asked for SCHED_FIFO 80: the process is not permitted
// to". What mends it is told apart.
std::string to_string(const RealtimeItem& item);

}  // namespace rtgpu
