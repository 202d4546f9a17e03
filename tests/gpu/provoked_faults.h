// Faults of the device, after which the process cannot use it any more: to be provoked in processes of their own.
#pragma once

#include <string_view>

namespace rtgpu::gpu_test {

// Provokes "illegal-address" or "watchdog" and prints what the user sees: the status of each segment, and the report.
// 0, or 2 for another name.
int provoke(std::string_view fault);

}  // namespace rtgpu::gpu_test
