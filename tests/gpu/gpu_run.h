// Short runs on the GPU of this machine.
#pragma once

#include "runtime/runtime.h"

#include <optional>
#include <string>

namespace rtgpu::gpu_test {

// The device of the tests: RTGPU_TEST_DEVICE ("cuda:1"), or cuda:0.
std::string device_name();
// Why it cannot be used; nothing if it can.
std::optional<std::string> why_no_device();

// Without privileges, on whatever cores there are.
RuntimeOptions options(const std::string& policy);

// One job of one task, 60 s at most.
RunReport run_job(const std::string& policy, const Runtime::Body& body, std::optional<int> sms = {});

}  // namespace rtgpu::gpu_test
