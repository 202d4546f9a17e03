#include "runtime/gpu_status.h"

namespace rtgpu {

std::string_view to_string(GpuStatus status) {
  switch (status) {
    case GpuStatus::ok:
      return "ok";
    case GpuStatus::not_inside:
      return "not inside a GPU segment";
    case GpuStatus::already_inside:
      return "inside a GPU segment already";
    case GpuStatus::not_own_job:
      return "called by another thread than the job's own";
    case GpuStatus::aborted:
      return "aborted before its work was submitted";
    case GpuStatus::failed:
      return "the GPU work failed, or ran longer than its watchdog allows";
    case GpuStatus::device_lost:
      return "the device no longer answers";
    case GpuStatus::too_much_work:
      return "more launches in one segment than the runtime was set up for";
    case GpuStatus::not_supported:
      return "the device cannot do that";
    case GpuStatus::forked:
      return "in a forked process, where the device does not work";
  }
  return "unknown";
}

}  // namespace rtgpu
