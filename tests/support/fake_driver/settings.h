// How the fake CUDA driver behaves.
#pragma once

#include "runtime/device/cuda/driver_api.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace rtgpu::cuda::fake {

struct Settings {
  int version = 12080;
  CUresult init = CUresult::success;
  int devices = 1;
  int levels = 6;
  bool green = true;
  unsigned sms = 16;
  unsigned sm_alignment = 2;
  unsigned sm_minimum = 0;
  bool sm_tells_units = true;
  bool sm_remainder = true;
  unsigned sm_kept = 0;
  unsigned green_contexts = static_cast<unsigned>(-1);
  int copy_engines = 2;
  std::size_t memory = std::size_t{1} << 30U;
  std::set<std::string, std::less<>> missing;
  bool hold = false;
  std::map<std::string, CUresult, std::less<>> next_result;  // by entry point
  CUresult fault = CUresult::success;
  CUresult fault_at_launch = CUresult::success;
};

// "key=value" as in fake_cuda.h. False: there is no such setting.
bool change(Settings& settings, std::string_view setting);

}  // namespace rtgpu::cuda::fake
