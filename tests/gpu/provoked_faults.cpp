#include "tests/gpu/provoked_faults.h"

#include "tests/gpu/gpu_run.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <atomic>
#include <chrono>
#include <iostream>
#include <string>

namespace rtgpu::gpu_test {
namespace {

using namespace std::chrono_literals;

// A task whose third job goes wrong, beside one that does nothing wrong. Both are to see the end of the device, long
// before the run would end.
int run_with(Duration watchdog, void (*go_wrong)(CUstream_st*)) {
  Runtime runtime(options("mpcp"));
  std::string faulty;
  std::string innocent;
  std::atomic<bool> is_over = false;
  runtime.add_task({.name = "faulty", .period = 20ms, .priority = 2, .watchdog = watchdog}, [&](Job& job) {
    const GpuStatus status = job.gpu("work", [&](Stream stream) {
      if (job.number() == 2) {
        go_wrong(stream.cuda());
      } else {
        gpu_kernels::nothing(stream.cuda());
      }
    });
    if (is_over.load()) return;
    faulty += std::string(to_string(status)) + '\n';
    if (status != GpuStatus::ok) is_over.store(true);
  });
  runtime.add_task({.name = "innocent", .period = 20ms, .priority = 1, .cpu = 1}, [&](Job& job) {
    const bool was_over = is_over.load();
    const GpuStatus status = job.gpu("work", [](Stream stream) { gpu_kernels::nothing(stream.cuda()); });
    if (was_over) {
      innocent = to_string(status);
      runtime.stop();
    }
  });
  runtime.run_for(5s);
  std::cout << "faulty:\n" << faulty << "innocent, afterwards:\n" << innocent << '\n' << runtime.report() << std::endl;
  return 0;
}

}  // namespace

int provoke(std::string_view fault) {
  if (fault == "illegal-address") return run_with(Duration::infinite(), gpu_kernels::write_astray);
  if (fault == "watchdog") {
    return run_with(100ms, [](CUstream_st* stream) { gpu_kernels::spin(stream, 1, 32, 2'000'000'000, nullptr); });
  }
  std::cerr << "no such fault: " << fault << '\n';
  return 2;
}

}  // namespace rtgpu::gpu_test
