#include "runtime/job.h"

#include "runtime/task_runner.h"

#include <algorithm>

namespace rtgpu {

std::int64_t Job::number() const {
  return runner_.job_;
}

Duration Job::release() const {
  return runner_.release_.nominal;
}

Duration Job::deadline() const {
  return runner_.deadline();
}

Duration Job::now() const {
  return runner_.context_->machine.now();
}

bool Job::aborted() const {
  if (runner_.is_own_thread()) runner_.watch_overrun();
  return runner_.aborted_;
}

std::span<std::byte> Job::memory() const {
  return runner_.memory_;
}

GpuStatus Job::copy(std::string_view name, const CopyRequest& request) {
  return runner_.copy(name, request);
}

void Job::spend(Duration time) {
  if (runner_.is_own_thread()) runner_.spend(std::max(time, Duration()));
}

GpuStatus Job::enter(std::string_view name) {
  return runner_.enter(name);
}

Stream Job::stream() {
  return Stream(runner_.target_);
}

bool Job::launches_later(const SlicedLaunches& sliced) {
  if (!runner_.context_->device.properties().attended) return false;
  runner_.batch_.set_sliced(sliced);
  return true;
}

void Job::end_slice() {
  runner_.batch_.end_slice();
}

GpuStatus Job::leave() {
  return runner_.leave();
}

void Job::give_up() {
  if (runner_.inside_) runner_.give_up();
}

}  // namespace rtgpu
