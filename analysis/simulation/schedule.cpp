#include "analysis/simulation/schedule.h"

#include <array>

namespace rtgpu {

std::string_view to_string(JobState state) {
  constexpr std::array<std::string_view, kJobStateCount> kNames = {
      "idle",     "cpu",           "to_enter", "enter_waiting", "entering", "misc", "gpu",
      "to_leave", "leave_waiting", "leaving",  "woken",         "to_copy",  "copy", "copied"};
  const auto index = static_cast<std::size_t>(state);
  return index < kNames.size() ? kNames[index] : "?";
}

}  // namespace rtgpu
