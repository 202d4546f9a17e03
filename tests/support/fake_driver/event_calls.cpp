// Events of the fake CUDA driver.
#include "tests/support/fake_driver/capture.h"
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

CUresult create_event(CUevent* event, unsigned flags) {
  return in_call("cuEventCreate", Needs::context, [&](Model& model) {
    if (flags > (kEventBlockingSync | kEventDisableTiming)) return CUresult::invalid_value;
    CUevent_st made;
    made.timed = (flags & kEventDisableTiming) == 0;
    *event = model.events.add(std::move(made));
    return CUresult::success;
  });
}

CUresult record_event(CUevent event, CUstream handle) {
  return in_call("cuEventRecord", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr || model.events.find(event) == nullptr) return CUresult::invalid_handle;
    if (stream->capture != nullptr) return capture_record(*stream, *event);
    event->is_captured = false;
    event->record = model.enqueue(stream, {CUgraphNodeType::event_record}, {});
    model.proceed();
    return CUresult::success;
  });
}

CUresult query_event(CUevent event) {
  return in_call("cuEventQuery", Needs::context, [&](Model& model) {
    if (model.events.find(event) == nullptr) return CUresult::invalid_handle;
    if (event->is_captured) return CUresult::captured_event;
    return model.is_complete(*event) ? CUresult::success : CUresult::not_ready;
  });
}

CUresult synchronize_event(CUevent handle) {
  std::shared_ptr<CUevent_st> event;
  const auto find = [&](const Model& model) {
    event = model.events.find(handle);
    if (event == nullptr) return CUresult::invalid_handle;
    return event->is_captured ? CUresult::captured_event : CUresult::success;
  };
  return in_wait("cuEventSynchronize", find, [&](const Model& model) { return model.is_complete(*event); });
}

CUresult elapsed_time(float* milliseconds, CUevent start, CUevent end) {
  return in_call("cuEventElapsedTime", Needs::context, [&](Model& model) {
    if (model.events.find(start) == nullptr || model.events.find(end) == nullptr) return CUresult::invalid_handle;
    if (!start->timed || !end->timed) return CUresult::invalid_handle;
    if (start->record == nullptr || end->record == nullptr) return CUresult::invalid_handle;
    if (!model.is_complete(*start) || !model.is_complete(*end)) return CUresult::not_ready;
    const auto elapsed = static_cast<std::int64_t>(end->record->done_at - start->record->done_at);
    const double speed = 1 + static_cast<double>(model.settings.clock_ppm) / 1e6;
    *milliseconds = static_cast<float>(static_cast<double>(elapsed) * speed / 1e6);
    return CUresult::success;
  });
}

CUresult destroy_event(CUevent event) {
  return in_call("cuEventDestroy", Needs::context, [&](Model& model) {
    return model.events.remove(event) ? CUresult::success : CUresult::invalid_handle;
  });
}

}  // namespace

void add_event_calls(DriverCalls& calls) {
  calls.cuEventCreate = create_event;
  calls.cuEventRecord = record_event;
  calls.cuEventQuery = query_event;
  calls.cuEventSynchronize = synchronize_event;
  calls.cuEventElapsedTime = elapsed_time;
  calls.cuEventDestroy = destroy_event;
}

}  // namespace rtgpu::cuda::fake
