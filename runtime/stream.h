// What a GPU segment submits its work to.
#pragma once

#include "rtgpu/time.h"
#include "runtime/device/device.h"
#include "runtime/device/sliced_grid.h"
#include "runtime/device/work.h"
#include "runtime/gpu_status.h"

#include <cstddef>
#include <cstdint>

struct CUstream_st;  // of the CUDA driver: CUstream and cudaStream_t are pointers to it

namespace rtgpu {

// Where the work of a segment goes, and what has become of it. Internal to the runtime.
struct StreamTarget {
  WorkBatch* batch = nullptr;
  CUstream_st* cuda = nullptr;
  SmShare share = {};
  Device* device = nullptr;
  StreamId stream = kNoStream;
  bool is_overfull = false;     // more launches than there is room for
  bool was_handed_out = false;  // the CUDA stream: what was launched into it is not known
  bool lacks_cuda = false;      // there was none to hand out
};

// Valid while the function that it was given to runs. Work is collected, and goes to the device when that function has
// returned; what goes into cuda() goes there at once. Nothing is allocated; more launches than the task was set up for
// are refused, and the segment then ends with GpuStatus::too_much_work without having run.
class Stream {
 public:
  explicit Stream(StreamTarget& target) : target_(&target) {}

  // Runs `kernel` for each block from `first_block` on, on a host device. Devices that do not compute ignore the
  // kernel; on a CUDA device the segment ends with GpuStatus::not_supported.
  void launch(std::int64_t blocks, const BlockKernel& kernel, std::int64_t first_block = 0) {
    add({kernel, first_block, blocks, {}});
  }
  // Work that takes this long. Without any, work on a device that does not compute takes its declared time.
  void run(Duration time) { add({{}, 0, 0, time}); }

  // The task's own CUDA stream (a CUstream, and a cudaStream_t): for kernel launches, graphs, and libraries that take a
  // stream. It is non-blocking and has the task's priority; the segment ends when all that was put into it has. A
  // segment must launch into no other stream, and must not wait for the device. On a device that is not CUDA: null, and
  // the segment ends with GpuStatus::not_supported without having run.
  CUstream_st* cuda() const {
    target_->was_handed_out = true;
    if (target_->cuda == nullptr) target_->lacks_cuda = true;
    return target_->cuda;
  }

  // Launches a graph of TaskSetup::graphs into cuda(). not_supported: there is no such one. A graph does not run twice
  // at once: what is launched while it runs follows it.
  GpuStatus launch_graph(std::size_t graph) const {
    if (cuda() == nullptr) return GpuStatus::not_supported;
    return target_->device->launch_graph(target_->stream, graph);
  }

  // The SMs that the task's kernels may use: its partition, or those that no task has set aside. Where the hardware
  // does not keep them there (the report says so), kernels have to, by launching that many persistent blocks.
  SmShare sms() const { return target_->share; }

 private:
  void add(const Launch& launch) {
    if (!target_->batch->add(launch)) target_->is_overfull = true;
  }

  StreamTarget* target_;
};

}  // namespace rtgpu
