// How the fake CUDA driver behaves.
#pragma once

#include "runtime/device/cuda/driver_api.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu::cuda::fake {

// What tells the time of the hardware.
enum class Clock : std::uint8_t { none, manual, monotonic };

// What the `calls_to_come`th call of it from now on answers.
struct PlannedResult {
  std::string call;
  CUresult result = CUresult::success;
  std::uint64_t calls_to_come = 1;
};

struct Settings {
  int version = 12080;
  CUresult init = CUresult::success;
  int devices = 1;
  int levels = 6;
  int granted_levels = 0;  // 0: all
  bool green = true;
  unsigned sms = 16;
  unsigned sm_alignment = 2;
  unsigned sm_minimum = 0;
  bool sm_tells_units = true;
  bool sm_remainder = true;
  bool sm_remainder_lost = false;
  unsigned sm_kept = 0;
  unsigned green_contexts = static_cast<unsigned>(-1);
  CUresult split = CUresult::success;
  int copy_engines = 2;
  std::size_t memory = std::size_t{1} << 30U;
  std::set<std::string, std::less<>> missing;
  bool default_stream = false;
  bool hold = false;
  Clock clock = Clock::none;
  std::uint64_t copy_ns_per_kib = 0;
  std::uint64_t late_ns = 0;
  std::int64_t clock_ppm = 0;
  std::vector<PlannedResult> planned;
  CUresult fault = CUresult::success;
  CUresult fault_at_launch = CUresult::success;
  bool hang_at_launch = false;
};

// "key=value" as in fake_cuda.h. False: there is no such setting.
bool change(Settings& settings, std::string_view setting);

}  // namespace rtgpu::cuda::fake
