#include "runtime/device/cuda/stream_work.h"

#include "runtime/device/cuda/driver_error.h"

#include <algorithm>
#include <span>
#include <utility>

namespace rtgpu::cuda {

StreamWork::StreamWork(const Driver& driver, const SpendKernel& spend, HandleOf<CUstream> stream, HandleOf<CUevent> end,
                       int sms)
    : driver_(driver), spend_(&spend), stream_(std::move(stream)), end_(std::move(end)), sms_(sms) {}

GpuStatus StreamWork::begin(const WorkBatch& batch) {
  if (std::ranges::any_of(batch.launches(), [](const Launch& launch) { return bool(launch.kernel); })) {
    return GpuStatus::not_supported;
  }
  batch_ = &batch;
  slice_ = 0;
  slices_ = count_slices();
  has_failed_ = false;
  return launch_next() ? GpuStatus::ok : GpuStatus::device_lost;
}

bool StreamWork::launch_next() {
  const bool has_begun = slice_ == 0 && batch_->has_begun() && !batch_->sliced();
  if (!has_begun) begin_timing();
  if (!launch_slice()) give_up();
  ++slice_;
  CUevent timed = pairs_ != nullptr ? pairs_->end() : nullptr;
  in_flight_ = timed != nullptr ? timed : end_.get();
  // What was launched before something went wrong runs: its end has to be awaited all the same.
  note(driver_->cuEventRecord(in_flight_, stream_.get()));
  return problem_ == CUresult::success;
}

void StreamWork::give_up() {
  has_failed_ = true;
  slices_ = std::min(slices_, slice_);
}

CUresult StreamWork::query(CUevent in_flight) const {
  const CUresult result = driver_->cuEventQuery(in_flight);
  const bool is_known = result == CUresult::success || result == CUresult::not_ready;
  // An event that cannot be asked for tells of no end: nothing else than the loss of the device can be made of that.
  return is_known || severity_of(result) == Severity::device_lost ? result : CUresult::unknown;
}

// Whether all went well.
bool StreamWork::launch_slice() {
  const bool failed_before = std::exchange(has_failed_, false);
  if (batch_->sliced()) {
    call_for_slice();
  } else if (batch_->slices() > 1) {
    for (const Launch& launch : batch_->slice(static_cast<std::size_t>(slice_))) spend(launch.time);
  } else if (slices_ > 1) {
    spend(time_of_slice());
  } else {
    for (const Launch& launch : batch_->launches()) spend(launch.time);
  }
  const bool went_well = !has_failed_;
  has_failed_ = has_failed_ || failed_before;
  return went_well;
}

// The function is the application's: whatever it throws, its work has failed and the device has not.
void StreamWork::call_for_slice() {
  of_slice_.clear();
  target_.batch = &of_slice_;
  target_.is_overfull = false;
  try {
    batch_->sliced()->launch(Stream(target_), batch_->sliced()->grid.slice(static_cast<int>(slice_)));
  } catch (...) {
    has_failed_ = true;
    return;
  }
  if (target_.is_overfull) has_failed_ = true;
  for (const Launch& launch : of_slice_.launches()) {
    if (launch.kernel) has_failed_ = true;  // of the host
    if (!launch.kernel) spend(launch.time);
  }
}

void StreamWork::spend(Duration time) {
  note(spend_->launch(stream_.get(), time, batch_->timed().block, sms_));
}

void StreamWork::note(CUresult result) {
  if (result == CUresult::success) return;
  has_failed_ = true;
  if (severity_of(result) == Severity::device_lost) problem_ = result;
}

std::int64_t StreamWork::count_slices() const {
  if (batch_->sliced()) return batch_->sliced()->grid.count();
  if (batch_->slices() > 1) return static_cast<std::int64_t>(batch_->slices());
  const TimedWork& timed = batch_->timed();
  if (timed.slice_length == Duration() || timed.time.is_infinite()) return 1;
  return std::max<std::int64_t>(ceil_div(timed.time, timed.slice_length), 1);
}

Duration StreamWork::time_of_slice() const {
  const TimedWork& timed = batch_->timed();
  return std::min(timed.slice_length, timed.time - slice_ * timed.slice_length);
}

}  // namespace rtgpu::cuda
