#include "runtime/execution_log.h"

#include <algorithm>
#include <limits>

namespace rtgpu {

ExecutionLog::ExecutionLog(Duration length) : steps_(static_cast<std::size_t>(ceil_div(length, kStep))) {}

void ExecutionLog::add(Duration now, Duration executed) {
  if (executed <= Duration() || steps_.empty()) return;
  const auto step = static_cast<std::size_t>(std::max<std::int64_t>(now.count(), 0) / kStep.count());
  if (step >= steps_.size()) {
    is_full_ = true;
    return;
  }
  used_ = std::max(used_, step + 1);
  const std::int64_t sum = steps_[step] + executed.count();
  steps_[step] = static_cast<std::uint32_t>(std::min<std::int64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

Duration ExecutionLog::most_in_window(Duration window) const {
  const auto length = static_cast<std::size_t>(ceil_div(window, kStep)) + 2;
  std::int64_t sum = 0;
  std::int64_t most = 0;
  for (std::size_t step = 0; step < used_; ++step) {
    sum += steps_[step];
    if (step >= length) sum -= steps_[step - length];
    most = std::max(most, sum);
  }
  return Duration::nanoseconds(most);
}

}  // namespace rtgpu
