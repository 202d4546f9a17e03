// What `rtgpu plan` is asked for.
#pragma once

#include "analysis/analysis.h"
#include "analysis/plan/proposals.h"
#include "rtgpu/result.h"
#include "tools/analyze_request.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line.
struct PlanArguments {
  std::string file;
  std::vector<std::string> policies;  // empty: all
  std::string wait = "file";
  std::vector<std::string> allowed;  // empty: all
  std::string limit = "5";
  std::string output;  // empty: proposals are not written
  std::string format;  // empty: by where the output goes
};

inline constexpr std::int64_t kMaxProposals = 100;

struct PlanRequest {
  std::vector<AnalysisOptions> analyses;  // what the taskset may be under now; safe; at least one
  std::vector<ChangeKind> allowed;
  std::size_t limit = 5;
  std::string output;
  std::optional<Format> format;  // no CSV
};

// All errors of the options at once.
Result<PlanRequest> make_request(const PlanArguments& arguments);

}  // namespace rtgpu
