// Small tasksets as text.
#pragma once

#include <string>

namespace rtgpu {

// A set of these tasks (JSON objects, separated by commas) on two cores.
inline std::string taskset_of(const std::string& tasks) {
  return R"({"rtgpu": 1, "platform": {"cpus": 2}, "tasks": [)" + tasks + "]}";
}

// One CPU-only task: bound 2 ms.
inline std::string schedulable_set() {
  return taskset_of(R"({"name": "a", "period": 10, "priority": 1, "segments": [{"cpu": 2}]})");
}

// A low task that the high one leaves too little time.
inline std::string unschedulable_set() {
  return taskset_of(R"({"name": "high", "period": 10, "priority": 2, "segments": [{"cpu": 6}]},)"
                    R"({"name": "low", "period": 10, "priority": 1, "segments": [{"cpu": 5}]})");
}

}  // namespace rtgpu
