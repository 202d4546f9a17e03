#include "runtime/device/make_device.h"

#include "runtime/device/host/compute_device.h"
#include "runtime/device/host/timed_device.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::string_view kTimed = "host";
constexpr std::string_view kComputing = "host:compute";
constexpr std::string_view kCuda = "cuda";

// "cuda" or "cuda:N".
bool is_cuda(std::string_view name) {
  if (!name.starts_with(kCuda)) return false;
  const std::string_view rest = name.substr(kCuda.size());
  if (rest.empty()) return true;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return rest.size() > 1 && rest.front() == ':' && std::all_of(rest.begin() + 1, rest.end(), is_digit);
}

Error unknown(std::string_view name) {
  const std::string_view near = nearest(name, {kTimed, kComputing, kCuda});
  return Error{ErrorCode::value, Place{}, fmt::format("device \"{}\"", name),
               fmt::format("{}, {}, {} or {}:N", kTimed, kComputing, kCuda, kCuda),
               near.empty() ? std::string() : fmt::format("Did you mean {}?", near)};
}

}  // namespace

Result<std::unique_ptr<Device>> make_device(std::string_view name, DeviceProperties properties) {
  using Made = std::unique_ptr<Device>;
  if (is_cuda(name)) {
    return Error{ErrorCode::unsupported, Place{}, fmt::format("device {}", name),
                 fmt::format("{} or {}", kTimed, kComputing), "The CUDA backend is not there yet."};
  }
  if (name != kTimed && name != kComputing) return unknown(name);
  if (properties.name.empty()) properties.name = name;
  if (name == kComputing) return Made(std::make_unique<ComputeDevice>(std::move(properties)));
  return Made(std::make_unique<TimedDevice>(std::move(properties)));
}

}  // namespace rtgpu
