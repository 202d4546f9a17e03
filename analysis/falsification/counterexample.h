// A schedule that exceeds a bound, with all that it takes to see it again.
#pragma once

#include "analysis/analysis.h"
#include "analysis/falsification/attack.h"
#include "analysis/simulation/scenario.h"
#include "rtgpu/policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rtgpu {

// The tasks wait as the taskset says.
struct Counterexample {
  std::string why;  // in one line
  Policy policy = Policy::gcaps;
  Variant variant = Variant::published;  // of the analysis that gave the bound
  TaskIndex task = kNoTask;
  std::int64_t job = 0;  // counted from 0
  Duration bound;
  Duration observed;  // the response of that job, or more than the bound where the end of the run cut it off
  Duration horizon;
  Scenario scenario;
  Taskset taskset;
};

// The taskset with every task waiting as `wait` says.
Taskset with_waits(Taskset taskset, WaitChoice wait);

// The bounds to attack of a taskset that has been changed.
using ClaimsOf = std::function<std::vector<Claim>(const Taskset&)>;

// The smallest taskset and the simplest schedule that were found to show the same: tasks and segments that do not
// matter removed, draws left out, the horizon cut. `start` exceeds its bound. Deterministic for a seed. At most a few
// thousand runs a task.
Counterexample shrink(Counterexample start, const ClaimsOf& claims_of, std::uint64_t seed);

// What a counterexample shows when it is run again: the response of the task's worst job.
Result<Duration> replay(const Counterexample& counterexample);

// As a JSON document of its own, which holds the taskset under "taskset". Reading what was written gives an equal
// counterexample. Errors: not such a document; its taskset is not valid.
std::string write_counterexample(const Counterexample& counterexample);
Result<Counterexample> read_counterexample(std::string_view text, std::string_view source);
// Whether a document is a counterexample and not a taskset.
bool is_counterexample(std::string_view text);

}  // namespace rtgpu
