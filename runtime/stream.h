// What a GPU segment submits its work to.
#pragma once

#include "rtgpu/time.h"
#include "runtime/device/work.h"

#include <cstdint>

namespace rtgpu {

// Valid while the function that it was given to runs. Work is collected, and goes to the device when that function has
// returned. Nothing is allocated; more launches than the task was set up for are refused, and the segment then ends
// with GpuStatus::too_much_work without having run.
class Stream {
 public:
  Stream(WorkBatch& batch, bool& overflow) : batch_(&batch), overflow_(&overflow) {}

  // Runs `kernel` for each block from `first_block` on. Devices that do not compute ignore the kernel.
  void launch(std::int64_t blocks, const BlockKernel& kernel, std::int64_t first_block = 0) {
    add({kernel, first_block, blocks, {}});
  }
  // Work that takes this long. Without any, work on a device that does not compute takes its declared time.
  void run(Duration time) { add({{}, 0, 0, time}); }

 private:
  void add(const Launch& launch) {
    if (!batch_->add(launch)) *overflow_ = true;
  }

  WorkBatch* batch_;
  bool* overflow_;
};

}  // namespace rtgpu
