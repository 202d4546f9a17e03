// What `rtgpu falsify` is asked for.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/generators/preset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line; what is empty was not given.
struct FalsifyArguments {
  std::string file;
  std::string preset;
  std::string count = "1";
  std::vector<std::string> settings;  // key=value of the preset
  std::vector<std::string> policies;
  std::string wait = "file";
  std::string variant;
  std::string runs = "100";
  std::string horizon;
  std::string seed = "0";
  std::string output = ".";
  std::string format;
};

struct GeneratedTasksets {
  Preset preset;
  std::int64_t count = 1;
};

struct FalsifyRequest {
  std::string file;                            // empty: generated
  std::optional<GeneratedTasksets> generated;  // nothing: from the file
  std::vector<AnalysisOptions> analyses;       // at least one; each exists and can be simulated
  std::int64_t runs = 100;                     // a taskset and analysis
  std::optional<Duration> horizon;             // nothing: attack_horizon()
  std::uint64_t seed = 0;
  std::string output;  // the folder for counterexamples
  bool as_table = false;
  bool as_json = false;  // neither: by where the output goes
};

// All errors of the options at once.
Result<FalsifyRequest> make_request(const FalsifyArguments& arguments);

}  // namespace rtgpu
