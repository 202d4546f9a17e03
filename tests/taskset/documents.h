// Small documents for the tests of the reader.
#pragma once

#include <string>
#include <string_view>

namespace rtgpu {

// A document around the members of one task; its name, period and segments are given.
inline std::string with_task(std::string_view members, std::string_view top = "") {
  return std::string(R"({"rtgpu": 1, "platform": {"cpus": 2}, )") + std::string(top) +
         R"("tasks": [{"name": "t", "period": 100, )" + std::string(members) + R"("segments": [{"cpu": 1}]}]})";
}

// A document around one segment.
inline std::string with_segment(std::string_view segment, std::string_view top = "") {
  return std::string(R"({"rtgpu": 1, "platform": {"cpus": 2}, )") + std::string(top) +
         R"("tasks": [{"name": "t", "period": 100, "segments": [)" + std::string(segment) + "]}]}";
}

// A document around the members of a GPU.
inline std::string with_gpu(std::string_view members) {
  return R"({"rtgpu": 1, "platform": {"cpus": 2, "gpus": [{)" + std::string(members) +
         R"(}]}, "tasks": [{"name": "t", "period": 100, "segments": [{"cpu": 1}]}]})";
}

}  // namespace rtgpu
