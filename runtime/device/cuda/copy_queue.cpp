#include "runtime/device/cuda/copy_queue.h"

#include "runtime/device/cuda/driver_error.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace rtgpu::cuda {

CopyQueue::CopyQueue(const Driver& driver, HandleOf<CUstream> stream, HandleOf<CUevent> end, std::size_t chunk)
    : driver_(driver), copies_(std::move(stream)), end_(std::move(end)), chunk_(chunk) {}

void CopyQueue::reset(std::size_t streams) {
  waiting_.assign(streams, Waiting{});
  stage_ = Stage::idle;
  stream_ = kNoStream;
}

bool CopyQueue::submit(StreamId stream, const CopyRequest& request, Duration now) {
  const std::lock_guard guard(lock_);
  waiting_[stream] = {true, request};
  if (stage_ != Stage::idle) return false;
  take_next(now);
  is_told_ = true;
  return true;
}

bool CopyQueue::abandon(StreamId stream, Duration now) {
  const std::lock_guard guard(lock_);
  waiting_[stream].waits = false;
  if (stream_ != stream || stage_ == Stage::idle) return true;
  if (stage_ == Stage::in_flight || stage_ == Stage::starting) {
    has_failed_ = true;
    return false;
  }
  stage_ = Stage::idle;
  take_next(now);
  return true;
}

// By one thread at a time. The driver is called without the lock, which the arbiter may wait for.
CUresult CopyQueue::attend(Duration now) {
  Stage stage = stage_at(now);
  if (stage == Stage::in_flight) {
    const CUresult result = driver_->cuEventQuery(in_flight_);
    was_looked_at_ = true;
    if (result == CUresult::not_ready) return CUresult::success;
    if (result != CUresult::success) return result;
    if (pairs_ != nullptr) pairs_->ended(request_.place);
    stage = go_on();
  } else if (stage == Stage::ready) {
    stage = go_on();
  }
  if (stage != Stage::starting) return CUresult::success;
  const CUresult started = start_part();
  const std::lock_guard guard(lock_);
  if (started == CUresult::success) {
    stage_ = Stage::in_flight;
    since_ = now;
    was_looked_at_ = false;
  } else {
    end(true);
  }
  return severity_of(started) == Severity::device_lost ? started : CUresult::success;
}

CopyQueue::Stage CopyQueue::stage_at(Duration now) {
  const std::lock_guard guard(lock_);
  if (stage_ == Stage::passes_time && now - since_ >= request_.time) end(false);
  return stage_;
}

// After the end of a part, or before the first.
CopyQueue::Stage CopyQueue::go_on() {
  const std::lock_guard guard(lock_);
  if (stage_ != Stage::ready && stage_ != Stage::in_flight) return stage_;  // abandoned meanwhile
  if (has_failed_ || request_.bytes == 0) {
    end(has_failed_);
  } else {
    stage_ = Stage::starting;
  }
  return stage_;
}

void CopyQueue::tell(DeviceEvents& events, int engine, Duration now) {
  const std::lock_guard guard(lock_);
  if (!std::exchange(is_told_, true)) events.add({DeviceEvent::Kind::copying, stream_, engine});
  if (stage_ != Stage::ended) return;
  using Kind = DeviceEvent::Kind;
  events.add({has_failed_ ? Kind::copy_failed : Kind::copied, stream_, engine});
  stage_ = Stage::idle;
  take_next(now);
  if (!std::exchange(is_told_, true)) events.add({Kind::copying, stream_, engine});
}

Duration CopyQueue::next_event() const {
  const std::lock_guard guard(lock_);
  const bool is_new = stage_ == Stage::in_flight && !was_looked_at_;
  if (!is_told_ || stage_ == Stage::ended || stage_ == Stage::ready || is_new) return {};
  return stage_ == Stage::passes_time ? since_ + request_.time : Duration::infinite();
}

Duration CopyQueue::in_flight_since() const {
  const std::lock_guard guard(lock_);
  return stage_ == Stage::in_flight ? since_ : Duration::infinite();
}

// The waiting copy of the smallest key.
void CopyQueue::take_next(Duration now) {
  stream_ = kNoStream;
  for (StreamId stream = 0; stream < waiting_.size(); ++stream) {
    if (!waiting_[stream].waits) continue;
    if (stream_ == kNoStream || waiting_[stream].request.key < waiting_[stream_].request.key) stream_ = stream;
  }
  if (stream_ == kNoStream) return;
  waiting_[stream_].waits = false;
  request_ = waiting_[stream_].request;
  since_ = now;
  has_failed_ = false;
  is_told_ = false;
  // A declared copy moves nothing.
  stage_ = request_.to == nullptr ? Stage::passes_time : Stage::ready;
}

// Takes the part off what is left.
CUresult CopyQueue::start_part() {
  const std::size_t bytes = std::min(chunk_, request_.bytes);
  const auto address = [](const std::byte* at) {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(at));
  };
  if (pairs_ != nullptr) pairs_->begin(copies_.get());
  const CUresult copied = request_.direction == CopyDirection::to_device
                              ? driver_->cuMemcpyHtoDAsync(address(request_.to), request_.from, bytes, copies_.get())
                              : driver_->cuMemcpyDtoHAsync(request_.to, address(request_.from), bytes, copies_.get());
  if (copied != CUresult::success) return copied;
  request_.to += bytes;
  request_.from += bytes;
  request_.bytes -= bytes;
  CUevent timed = pairs_ != nullptr ? pairs_->end() : nullptr;
  in_flight_ = timed != nullptr ? timed : end_.get();
  return driver_->cuEventRecord(in_flight_, copies_.get());
}

void CopyQueue::end(bool failed) {
  has_failed_ = failed;
  stage_ = Stage::ended;
}

}  // namespace rtgpu::cuda
