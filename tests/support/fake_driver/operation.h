// A step of a stream of the fake CUDA driver: a kernel, a copy, an event, a wait.
#pragma once

#include "runtime/device/cuda/driver_api.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace rtgpu::cuda::fake {

class Model;

// What an operation has to itself while it goes on, if it takes time.
enum class Uses : std::uint8_t { nothing, sms, engine_to_device, engine_to_host };

struct Operation {
  // What it is.
  CUgraphNodeType type = CUgraphNodeType::empty;
  Uses uses = Uses::nothing;
  std::optional<int> priority{};  // its own; otherwise that of its stream
  std::uint64_t parts = 1;        // blocks of a kernel
  std::uint64_t bytes = 0;        // of a copy
  // Called once each, where they are set: when it begins, and when it has ended.
  std::function<void(Model&, Operation&)> begin = nullptr;
  std::function<void(Model&, const Operation&)> end = nullptr;

  // Where it is, from its submission on.
  CUstream stream = nullptr;
  std::uint64_t sequence = 0;  // of submission
  std::vector<std::shared_ptr<Operation>> after{};

  // How far it is.
  bool has_begun = false;
  bool is_served = false;  // the SMs or the engine have it now
  bool hangs = false;
  bool is_done = false;
  std::uint64_t part_ns = 0;
  std::uint64_t parts_in_wave = 0;
  std::uint64_t begun_at = 0;
  std::uint64_t done_at = 0;

  bool is_ready() const {
    return std::all_of(after.begin(), after.end(), [](const auto& other) { return other->is_done; });
  }
};

using OperationPtr = std::shared_ptr<Operation>;

}  // namespace rtgpu::cuda::fake
