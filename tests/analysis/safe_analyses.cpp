#include "tests/analysis/safe_analyses.h"

#include "analysis/rta/federated_safe.h"
#include "analysis/rta/fmlp_plus_safe.h"
#include "analysis/rta/gcaps_safe.h"
#include "analysis/rta/mpcp_safe.h"
#include "analysis/rta/server_safe.h"
#include "analysis/rta/stream_priority_safe.h"
#include "analysis/rta/tsg_rr_safe.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

namespace rtgpu::testing {
namespace {

constexpr std::array kSafe = {SafeAnalysis{Policy::gcaps, &build_gcaps_safe},
                              SafeAnalysis{Policy::gcaps_wc, &build_gcaps_wc_safe},
                              SafeAnalysis{Policy::tsg_rr, &build_tsg_rr_safe},
                              SafeAnalysis{Policy::mpcp, &build_mpcp_safe},
                              SafeAnalysis{Policy::fmlp_plus, &build_fmlp_plus_safe},
                              SafeAnalysis{Policy::stream_priority, &build_stream_priority_safe},
                              SafeAnalysis{Policy::federated, &build_federated_safe},
                              SafeAnalysis{Policy::server, &build_server_safe}};

}  // namespace

std::span<const SafeAnalysis> safe_analyses() {
  return kSafe;
}

std::vector<TaskResult> safe_bounds(const Taskset& taskset, const AnalysisOptions& options) {
  const auto* analysis = std::ranges::find(kSafe, options.policy, &SafeAnalysis::policy);
  const Result<StagedModel> model = StagedModel::of(taskset, options.wait);
  EXPECT_TRUE(model) << (model ? "" : to_string(model.errors().front()));
  if (!model) return {};
  WorkBudget budget;
  return bound_all_safe(*model, taskset, analysis->build, options, budget);
}

std::vector<TaskResult> safe_bounds(const Taskset& taskset, Policy policy, WaitChoice wait) {
  AnalysisOptions options;
  options.policy = policy;
  options.wait = wait;
  return safe_bounds(taskset, options);
}

std::string test_name(Policy policy) {
  std::string name(to_string(policy));
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '+'; }, '_');
  return name;
}

}  // namespace rtgpu::testing
