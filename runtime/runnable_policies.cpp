#include "runtime/runnable_policies.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// Empty: nothing is missing.
std::string_view what_is_missing(Policy policy) {
  switch (policy) {
    case Policy::server:
      // Whatever a job does outside the device runs on the thread of its task.
      return "The runtime has no server that would run misc of all tasks on its core; mpcp serves one request at a "
             "time "
             "by priority, too.";
    case Policy::federated:
      return "The runtime has no partition for each task yet; stream-priority holds nobody back either, and SMs can be "
             "set aside for a task there (TaskSetup::sms).";
    default:
      return {};
  }
}

}  // namespace

std::vector<Policy> runnable_policies() {
  std::vector<Policy> policies;
  for (const Policy policy : all_policies()) {
    if (what_is_missing(policy).empty()) policies.push_back(policy);
  }
  return policies;
}

std::optional<Error> missing_for(Policy policy) {
  const std::string_view missing = what_is_missing(policy);
  if (missing.empty()) return std::nullopt;
  std::vector<std::string_view> names;
  for (const Policy each : runnable_policies()) names.push_back(to_string(each));
  return Error{ErrorCode::unsupported, Place{}, fmt::format("policy {}", to_string(policy)),
               fmt::format("one of {}", fmt::join(names, ", ")), std::string(missing)};
}

}  // namespace rtgpu
