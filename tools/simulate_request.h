// What `rtgpu simulate` is asked for.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "tools/analyze_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line; what is empty was not given.
struct SimulateArguments {
  std::string file;
  std::vector<std::string> policies;
  std::string wait = "file";
  std::string horizon;
  std::string trials = "1";
  std::string trial;
  std::string seed = "0";
  std::string releases = "periodic";
  std::string execution = "worst";
  std::string trace;
  std::string gantt;
  std::string format;
};

// How many of the longest periods a run is long, unless said.
inline constexpr std::int64_t kDefaultHorizonPeriods = 10;
inline constexpr std::int64_t kMaxTrials = 1'000'000'000;

struct SimulateRequest {
  std::vector<Policy> policies;  // at least one
  WaitChoice wait = WaitChoice::file;
  std::optional<Duration> horizon;
  std::uint64_t first_trial = 0;
  std::uint64_t trials = 1;
  TrialChoices choices;
  std::string trace;  // empty: none
  std::string gantt;
  std::optional<Format> format;

  bool records() const { return !trace.empty() || !gantt.empty(); }
};

// Why a run of several policies cannot be recorded; nullopt if there is one, or nothing to record.
std::optional<Error> one_run_error(const SimulateRequest& request);

// The policies that can be simulated, in the order of all policies.
std::vector<Policy> simulated_policies();

// All errors of the options at once.
Result<SimulateRequest> make_request(const SimulateArguments& arguments);

}  // namespace rtgpu
