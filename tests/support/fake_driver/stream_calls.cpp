// Streams of the fake CUDA driver.
#include "tests/support/fake_driver/capture.h"
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

CUresult create_stream(CUstream* stream, unsigned flags, int priority) {
  return in_call("cuStreamCreateWithPriority", Needs::context, [&](Model& model) {
    if (flags > kStreamNonBlocking) return CUresult::invalid_value;
    const CUgreenCtx_st* green = model.current_green();
    CUstream_st made;
    made.device = Model::current->device;
    made.partition = green != nullptr ? green->number : 0;
    made.flags = flags;
    made.priority = model.clamp_priority(priority);
    *stream = model.streams.add(std::move(made));
    return CUresult::success;
  });
}

CUresult get_priority(CUstream handle, int* priority) {
  return in_call("cuStreamGetPriority", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr) return CUresult::invalid_handle;
    *priority = stream->priority;
    return CUresult::success;
  });
}

CUresult get_flags(CUstream handle, unsigned* flags) {
  return in_call("cuStreamGetFlags", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr) return CUresult::invalid_handle;
    *flags = stream->flags;
    return CUresult::success;
  });
}

CUresult destroy_stream(CUstream stream) {
  return in_call("cuStreamDestroy", Needs::context, [&](Model& model) {
    if (model.streams.find(stream) != nullptr && stream->is_orphan) return CUresult::context_is_destroyed;
    return model.destroy_stream(stream) ? CUresult::success : CUresult::invalid_handle;
  });
}

CUresult query_stream(CUstream handle) {
  return in_call("cuStreamQuery", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr) return CUresult::invalid_handle;
    if (stream->capture != nullptr) return CUresult::stream_capture_unsupported;
    return stream->waiting.empty() ? CUresult::success : CUresult::not_ready;
  });
}

CUresult synchronize_stream(CUstream handle) {
  std::shared_ptr<CUstream_st> kept;
  const auto find = [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr) return CUresult::invalid_handle;
    if (stream->capture != nullptr) return CUresult::stream_capture_unsupported;
    for (const auto& one : model.all_streams()) {
      if (one.get() == stream) kept = one;
    }
    return CUresult::success;
  };
  return in_wait("cuStreamSynchronize", find, [&](const Model&) { return kept->waiting.empty(); });
}

CUresult wait_for_event(CUstream handle, CUevent event, unsigned flags) {
  return in_call("cuStreamWaitEvent", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr || model.events.find(event) == nullptr) return CUresult::invalid_handle;
    if (flags != 0) return CUresult::invalid_value;
    if (stream->capture != nullptr || event->is_captured) return capture_wait(*stream, *event);
    if (event->record == nullptr) return CUresult::success;
    std::vector<OperationPtr> after = {event->record};
    if (stream->last != nullptr) after.push_back(stream->last);
    model.enqueue(stream, {CUgraphNodeType::wait_event}, std::move(after));
    model.proceed();
    return CUresult::success;
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
}

}  // namespace rtgpu::cuda::fake
