// The safe analyses as the tests of all of them use them.
#pragma once

#include "analysis/analysis.h"
#include "analysis/safe.h"
#include "rtgpu/policy.h"
#include "taskset/taskset.h"

#include <span>
#include <string>
#include <vector>

namespace rtgpu::testing {

struct SafeAnalysis {
  Policy policy;
  BuildWindowed build;
};

std::span<const SafeAnalysis> safe_analyses();

// With options.policy, wait, jitter, beyond_deadline and explain. Fails the test if the taskset is not covered.
std::vector<TaskResult> safe_bounds(const Taskset& taskset, const AnalysisOptions& options);
std::vector<TaskResult> safe_bounds(const Taskset& taskset, Policy policy, WaitChoice wait = WaitChoice::file);

// "gcaps_wc": the policy's name as GoogleTest takes it.
std::string test_name(Policy policy);

}  // namespace rtgpu::testing
