// What is told about a simulated document.
#pragma once

#include "analysis/analysis.h"
#include "analysis/falsification/counterexample.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/json.h"
#include "tools/format/report.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rtgpu {

// The trials of one policy, or why it cannot be simulated with this taskset.
struct SimulationAnswer {
  Policy policy = Policy::gcaps;
  Result<TrialSummary> result;
  std::vector<int> sms = {};  // federated: by task, those of its own; 0: it does not use the GPU

  bool meets_deadlines() const { return result && result->misses() == 0; }
};

// A document that was read and simulated.
struct SimulationReport {
  DocumentId id;
  LoadedTaskset loaded;
  WaitLabel wait = WaitLabel::suspend;
  Duration horizon;
  std::uint64_t first_trial = 0;
  std::uint64_t trials = 1;
  TrialChoices choices;
  std::vector<SimulationAnswer> answers;
  std::optional<Counterexample> replayed;  // instead of trials

  // Whether no deadline was missed under one of the policies.
  bool meets_deadlines() const;
  // Whether no policy can be simulated.
  bool all_refused() const;
  // What the policies that cannot be simulated said.
  Errors refusals() const;
};

// How the real-time tasks that use the GPU or copy wait, under this choice.
WaitLabel wait_label(const Taskset& taskset, WaitChoice choice);

// Of a counterexample: the longest response of the task that it is about; nullopt if there is none.
std::optional<Duration> replayed_response(const SimulationReport& report);

// Of the completed jobs, to the nearest nanosecond; nullopt if there are none, or their sum is beyond the range.
std::optional<Duration> mean_response(const TaskTrials& task);

std::string_view to_string(Releases releases);    // "periodic", "sporadic"
std::string_view to_string(Execution execution);  // "worst", "random"

}  // namespace rtgpu
