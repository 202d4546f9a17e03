// What `rtgpu convert` is asked for.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rtgpu {

// The options as they are on the command line; what is empty was not given.
struct ConvertArguments {
  std::string file;
  std::string from;
  std::string to = "json";
  std::string unit;
  std::string cpus;
  std::string gpu_resource;
};

enum class TasksetFormat : std::uint8_t { json, gcaps_csv, jobs_csv, schedcat_xml };

struct ConvertRequest {
  TasksetFormat from = TasksetFormat::json;
  TasksetFormat to = TasksetFormat::json;
  std::optional<TimeUnit> unit = {};
  int cpus = 1;
  std::optional<std::int64_t> gpu_resource = {};
};

// All errors of the options at once, options without a meaning for the two formats among them.
Result<ConvertRequest> make_request(const ConvertArguments& arguments);

}  // namespace rtgpu
