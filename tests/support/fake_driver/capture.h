// Captures of streams of the fake CUDA driver.
#pragma once

#include "tests/support/fake_driver/handles.h"
#include "tests/support/fake_driver/model.h"

#include <string_view>

namespace rtgpu::cuda::fake {

// Whether a capture forbids this call: it might wait for, or touch, what is not captured. A capture that does is then
// invalid. Which captures do is said by their modes.
bool disturbs_capture(Model& model, std::string_view call);

CUresult capture_operation(CUstream_st& stream, Operation operation);
CUresult capture_record(const CUstream_st& stream, CUevent_st& event);
// What cuStreamWaitEvent does where the stream or the event is captured: a stream that is not joins the capture.
CUresult capture_wait(CUstream_st& stream, const CUevent_st& event);
// The graph of what the stream, and those that joined, were told.
CUresult end_capture(Model& model, const CUstream_st& stream, CUgraph* graph);
// Of a stream that ends: the capture is invalid.
void leave_capture(const Model& model, CUstream_st& stream);

}  // namespace rtgpu::cuda::fake
