// Streams and events of the fake CUDA driver.
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

CUresult create_stream(CUstream* stream, unsigned flags, int priority) {
  return in_call("cuStreamCreateWithPriority", Needs::context, [&](Model& model) {
    if (flags > kStreamNonBlocking) return CUresult::invalid_value;
    CUstream_st made;
    made.flags = flags;
    made.priority = model.clamp_priority(priority);
    *stream = model.streams.add(std::move(made));
    return CUresult::success;
  });
}

CUresult get_priority(CUstream stream, int* priority) {
  return in_call("cuStreamGetPriority", Needs::context, [&](Model& model) {
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    *priority = stream->priority;
    return CUresult::success;
  });
}

CUresult get_flags(CUstream stream, unsigned* flags) {
  return in_call("cuStreamGetFlags", Needs::context, [&](Model& model) {
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    *flags = stream->flags;
    return CUresult::success;
  });
}

// Work that is held is dropped, unlike on a device.
CUresult destroy_stream(CUstream stream) {
  return in_call("cuStreamDestroy", Needs::context, [&](Model& model) {
    if (model.streams.find(stream) != nullptr && stream->is_orphan) return CUresult::context_is_destroyed;
    return model.streams.remove(stream) ? CUresult::success : CUresult::invalid_handle;
  });
}

CUresult query_stream(CUstream stream) {
  return in_call("cuStreamQuery", Needs::context, [&](Model& model) {
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    return stream->waiting.empty() ? CUresult::success : CUresult::not_ready;
  });
}

CUresult synchronize_stream(CUstream stream) {
  return in_wait("cuStreamSynchronize",
                 [&](const Model& model) { return model.streams.find(stream) == nullptr || stream->waiting.empty(); });
}

CUresult wait_for_event(CUstream stream, CUevent handle, unsigned flags) {
  return in_call("cuStreamWaitEvent", Needs::context, [&](Model& model) {
    const std::shared_ptr<CUevent_st> event = model.events.find(handle);
    if (event == nullptr || model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    if (flags != 0) return CUresult::invalid_value;
    if (stream->capture != nullptr) return CUresult::stream_capture_unsupported;
    Operation wait;
    wait.ready = [event, record = event->recorded] { return event->reached >= record; };
    model.submit(stream, wait);
    return CUresult::success;
  });
}

CUresult create_event(CUevent* event, unsigned flags) {
  return in_call("cuEventCreate", Needs::context, [&](Model& model) {
    if (flags > (kEventBlockingSync | kEventDisableTiming)) return CUresult::invalid_value;
    *event = model.events.add({(flags & kEventDisableTiming) == 0});
    return CUresult::success;
  });
}

CUresult record_event(CUevent handle, CUstream stream) {
  return in_call("cuEventRecord", Needs::context, [&](Model& model) {
    const std::shared_ptr<CUevent_st> event = model.events.find(handle);
    if (event == nullptr || model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    if (stream->capture != nullptr) return CUresult::stream_capture_unsupported;
    Operation record;
    record.run = [event, number = ++event->recorded](const Model& at, CUstream /*stream*/, int /*priority*/) {
      event->reached = std::max(event->reached, number);
      event->at = at.clock;
    };
    model.submit(stream, record);
    return CUresult::success;
  });
}

CUresult query_event(CUevent event) {
  return in_call("cuEventQuery", Needs::context, [&](Model& model) {
    if (model.events.find(event) == nullptr) return CUresult::invalid_handle;
    return event->is_complete() ? CUresult::success : CUresult::not_ready;
  });
}

CUresult synchronize_event(CUevent event) {
  return in_wait("cuEventSynchronize",
                 [&](const Model& model) { return model.events.find(event) == nullptr || event->is_complete(); });
}

// An operation takes a millisecond.
CUresult elapsed_time(float* milliseconds, CUevent start, CUevent end) {
  return in_call("cuEventElapsedTime", Needs::context, [&](Model& model) {
    if (model.events.find(start) == nullptr || model.events.find(end) == nullptr) return CUresult::invalid_handle;
    if (!start->timed || !end->timed) return CUresult::invalid_handle;
    if (start->recorded == 0 || end->recorded == 0) return CUresult::invalid_handle;
    if (!start->is_complete() || !end->is_complete()) return CUresult::not_ready;
    *milliseconds = static_cast<float>(end->at) - static_cast<float>(start->at);
    return CUresult::success;
  });
}

CUresult destroy_event(CUevent event) {
  return in_call("cuEventDestroy", Needs::context, [&](Model& model) {
    return model.events.remove(event) ? CUresult::success : CUresult::invalid_handle;
  });
}

}  // namespace

void add_stream_calls(DriverCalls& calls) {
  calls.cuStreamCreateWithPriority = create_stream;
  calls.cuStreamGetPriority = get_priority;
  calls.cuStreamGetFlags = get_flags;
  calls.cuStreamDestroy = destroy_stream;
  calls.cuStreamQuery = query_stream;
  calls.cuStreamSynchronize = synchronize_stream;
  calls.cuStreamWaitEvent = wait_for_event;
  calls.cuEventCreate = create_event;
  calls.cuEventRecord = record_event;
  calls.cuEventQuery = query_event;
  calls.cuEventSynchronize = synchronize_event;
  calls.cuEventElapsedTime = elapsed_time;
  calls.cuEventDestroy = destroy_event;
}

}  // namespace rtgpu::cuda::fake
