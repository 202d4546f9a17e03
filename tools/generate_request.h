// What `rtgpu generate` is asked for.
#pragma once

#include "rtgpu/result.h"
#include "taskset/generators/preset.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line.
struct GenerateArguments {
  std::string preset;
  std::string count = "1";
  std::string first = "0";
  std::string seed = "0";
  std::vector<std::string> settings;  // key=value
};

struct GenerateRequest {
  Preset preset;
  std::int64_t first = 0;
  std::int64_t count = 1;  // first + count is in the range
  std::uint64_t seed = 0;
};

// All errors of the options at once.
Result<GenerateRequest> make_request(const GenerateArguments& arguments);

}  // namespace rtgpu
