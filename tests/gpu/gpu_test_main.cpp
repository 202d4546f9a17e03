#include "tests/gpu/gpu_run.h"
#include "tests/gpu/provoked_faults.h"

#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  if (const std::optional<std::string> why = rtgpu::gpu_test::why_no_device()) {
    std::cout << "skipped: " << rtgpu::gpu_test::device_name() << " cannot be used: " << *why << std::endl;
    return kSkipped;
  }
  if (argc == 3 && std::string_view(argv[1]) == "--provoke") return rtgpu::gpu_test::provoke(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
