// What `rtgpu analyze` is asked for.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/result.h"

#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line.
struct AnalyzeArguments {
  std::string file;
  std::vector<std::string> policies;  // empty: all
  std::string wait = "file";
  std::string variant;  // empty: safe
  std::string jitter = "response";
  std::string gpu_priorities = "file";
  std::string format;  // empty: by where the output goes
  bool explain = false;
  bool beyond_deadline = false;
};

enum class Format : unsigned char { table, json, ndjson, csv };

struct AnalyzeRequest {
  std::vector<AnalysisOptions> analyses;  // at least one; each exists
  std::optional<Format> format;
  std::vector<std::string> notes;  // where the request could not be followed to the letter
};

// All errors of the options at once.
Result<AnalyzeRequest> make_request(const AnalyzeArguments& arguments);

}  // namespace rtgpu
