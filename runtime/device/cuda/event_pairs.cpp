#include "runtime/device/cuda/event_pairs.h"

namespace rtgpu::cuda {

std::unique_ptr<EventPairs> EventPairs::create(const Driver& driver, int engine, CUresult& result) {
  std::unique_ptr<EventPairs> made(new EventPairs(driver, engine));
  for (Pair& pair : made->pairs_) {
    for (HandleOf<CUevent>* handle : {&pair.begin, &pair.end}) {
      CUevent event = nullptr;
      result = driver->cuEventCreate(&event, kEventDefault);
      if (result != CUresult::success) return nullptr;
      *handle = HandleOf<CUevent>(event, GivesBack<CUevent>(driver->cuEventDestroy));
    }
  }
  return made;
}

void EventPairs::restart() {
  is_open_ = false;
  reached_.store(0, std::memory_order_relaxed);
  read_.store(0, std::memory_order_relaxed);
  missed_.store(0, std::memory_order_relaxed);
}

void EventPairs::forget() {
  for (Pair& pair : pairs_) {
    static_cast<void>(pair.begin.release());
    static_cast<void>(pair.end.release());
  }
}

void EventPairs::begin(CUstream stream) {
  const bool has_room = reached_.load(std::memory_order_relaxed) - read_.load(std::memory_order_acquire) < kPairs;
  is_open_ = has_room && driver_->cuEventRecord(pairs_[next()].begin.get(), stream) == CUresult::success;
}

void EventPairs::ended(const JobPlace& place) {
  if (!is_open_) {
    missed_.store(missed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  is_open_ = false;
  pairs_[next()].place = place;
  reached_.store(reached_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

const EventPairs::Pair* EventPairs::oldest() const {
  const std::uint64_t read = read_.load(std::memory_order_relaxed);
  return read != reached_.load(std::memory_order_acquire) ? &pairs_[read % kPairs] : nullptr;
}

}  // namespace rtgpu::cuda
