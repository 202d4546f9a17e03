// Whether a taskset may run: does it fit, and does every deadline hold?
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/error.h"
#include "rtgpu/policy.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

struct Admission {
  Taskset taskset;  // what was analysed
  Errors errors;    // what does not fit, or cannot be analysed
  std::optional<AnalysisResult> analysis;
  bool schedulable = false;  // no errors, and every real-time task has a bound at or below its deadline

  // The bound of a task of the taskset; nullopt: none, or best effort.
  std::optional<Duration> bound(TaskIndex task) const;
  // A line for each error, or for each real-time task: its bound and deadline, or why there is none.
  std::string explain() const;
};

// The device memory that tasks declare, against what there is. The error names the tasks and by how much they exceed.
Errors memory_errors(const Taskset& taskset, std::int64_t device_memory);

// Analyses the set with the safe analysis of the policy. `undeclared`: names of tasks that declare no execution times;
// they are errors, best-effort ones too: what they do on the GPU may be in the way of others.
Admission admit(Taskset taskset, Policy policy, WaitChoice wait, std::int64_t device_memory,
                const std::vector<std::string>& undeclared);

}  // namespace rtgpu
