#include "runtime/device/make_device.h"

#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/host/compute_device.h"
#include "runtime/device/host/timed_device.h"

#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::string_view kTimed = "host";
constexpr std::string_view kComputing = "host:compute";
constexpr std::string_view kCuda = "cuda";

// The N of "cuda:N", 0 of "cuda"; nullopt: it is another name.
std::optional<int> cuda_ordinal(std::string_view name) {
  if (!name.starts_with(kCuda)) return std::nullopt;
  std::string_view rest = name.substr(kCuda.size());
  if (rest.empty()) return 0;
  if (rest.front() != ':') return std::nullopt;
  rest.remove_prefix(1);
  int ordinal = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), ordinal);
  const bool is_number = !rest.empty() && rest.front() != '-' && end == rest.data() + rest.size();
  return is_number && error == std::errc() ? std::optional(ordinal) : std::nullopt;
}

Error unknown(std::string_view name) {
  const std::string_view near = nearest(name, {kTimed, kComputing, kCuda});
  return Error{ErrorCode::value, Place{}, fmt::format("device \"{}\"", name),
               fmt::format("{}, {}, {} or {}:N", kTimed, kComputing, kCuda, kCuda),
               near.empty() ? std::string() : fmt::format("Did you mean {}?", near)};
}

}  // namespace

Result<std::unique_ptr<Device>> make_device(std::string_view name, DeviceProperties properties,
                                            const CudaOptions& cuda) {
  using Made = std::unique_ptr<Device>;
  if (const std::optional<int> ordinal = cuda_ordinal(name)) {
    Result<std::unique_ptr<cuda::CudaDevice>> opened = cuda::CudaDevice::open(*ordinal, cuda);
    if (!opened) return opened.errors();
    return Made(std::move(*opened));
  }
  if (name != kTimed && name != kComputing) return unknown(name);
  if (properties.name.empty()) properties.name = name;
  if (name == kComputing) return Made(std::make_unique<ComputeDevice>(std::move(properties)));
  return Made(std::make_unique<TimedDevice>(std::move(properties)));
}

}  // namespace rtgpu
