// How a call that concerns the GPU ended.
#pragma once

#include <cstdint>
#include <string_view>

namespace rtgpu {

enum class GpuStatus : std::uint8_t {
  ok,
  not_inside,      // leave or submit without enter; nothing has changed
  already_inside,  // enter while inside a segment; nothing has changed
  not_own_job,     // called by another thread than the job's; nothing has changed
  aborted,         // the job was given up before its work was submitted
  failed,          // the device reported a fault, or the watchdog ended the work
  device_lost,     // the device no longer answers; the runtime is in its terminal state
  too_much_work,   // more launches in one segment than the runtime was set up for
  not_supported,   // the device cannot do that
  forked,          // this process was forked off one that used the device, which does not work in it
};

// "ok", "not inside a segment", ...
std::string_view to_string(GpuStatus status);

}  // namespace rtgpu
