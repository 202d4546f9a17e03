#include "runtime/device/cuda/driver.h"

#include "runtime/device/cuda/driver_error.h"
#include "runtime/device/cuda/entry_points.h"

#include <algorithm>
#include <dlfcn.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

constexpr const char* kDriverLibrary = "libcuda.so.1";

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

Error driver_error(ErrorCode code, std::string found, std::string expected, std::string advice) {
  return Error{code, Place{}, std::move(found), std::move(expected), std::move(advice)};
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

template <class Function>
Function symbol(const Library& library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library.get(), name));
}

Error too_old(int version) {
  return driver_error(ErrorCode::environment, fmt::format("a driver for CUDA {}", version_text(version)),
                      fmt::format("{} or later", version_text(kOldestDriver)), "Install a newer NVIDIA driver.");
}

Error not_a_driver(const std::string& library) {
  return driver_error(ErrorCode::environment, fmt::format("{}, which is not a CUDA driver", library),
                      "the library of the NVIDIA driver", fmt::format("It is called {}.", kDriverLibrary));
}

// The driver of CUDA 11 and before: all that it is asked for is how old it is.
Error without_proc_address(const Library& library, const std::string& name) {
  const auto get_version = symbol<decltype(DriverCalls::cuDriverGetVersion)>(library, "cuDriverGetVersion");
  int version = 0;
  if (get_version == nullptr || get_version(&version) != CUresult::success || version >= kOldestDriver) {
    return not_a_driver(name);
  }
  return too_old(version);
}

void* address_of(CuGetProcAddress get_address, const EntryPoint& entry) {
  void* address = nullptr;
  auto status = CUdriverProcAddressQueryResult::symbol_not_found;
  const CUresult result = get_address(entry.name, &address, entry.version, kProcAddressDefault, &status);
  const bool found = result == CUresult::success && status == CUdriverProcAddressQueryResult::success;
  return found ? address : nullptr;
}

// The names of those that are needed and not there.
std::vector<std::string> look_up(CuGetProcAddress get_address, DriverCalls& calls) {
  std::vector<std::string> missing;
  bool has_green = true;
  for (const EntryPoint& entry : kEntryPoints) {
    void* address = address_of(get_address, entry);
    entry.set(calls, address);
    if (address != nullptr) continue;
    has_green = has_green && !entry.green;
    if (!entry.green) missing.emplace_back(entry.name);
  }
  if (has_green) return missing;
  for (const EntryPoint& entry : kEntryPoints) {
    if (entry.green) entry.set(calls, nullptr);
  }
  return missing;
}

// The version, or why there is none that will do.
Result<int> usable_version(const DriverCalls& calls) {
  int version = 0;
  if (const CUresult result = calls.cuDriverGetVersion(&version); result != CUresult::success) {
    return driver_error(ErrorCode::environment, fmt::format("{} of cuDriverGetVersion", describe(result)), "a version",
                        "The driver does not work.");
  }
  if (version < kOldestDriver) return too_old(version);
  return version;
}

Error incomplete(const std::vector<std::string>& missing) {
  return driver_error(ErrorCode::environment, fmt::format("a driver without {}", fmt::join(missing, ", ")),
                      "a complete driver", "Install the NVIDIA driver again.");
}

Error no_device() {
  return driver_error(ErrorCode::environment, "a CUDA driver without a device", "an NVIDIA GPU",
                      "See whether nvidia-smi lists one, and whether CUDA_VISIBLE_DEVICES or the container hides it.");
}

Error not_initialised(CUresult result) {
  std::string advice = "See what nvidia-smi says.";
  if (result == CUresult::no_device) return no_device();
  if (result == CUresult::stub_library) {
    advice = "Take the toolkit's folder \"stubs\" off the path of libraries; the driver's own library is needed.";
  }
  if (result == CUresult::system_driver_mismatch) {
    advice = "The driver was updated while it was in use: restart the machine, or load its kernel module again.";
  }
  if (result == CUresult::system_not_ready) {
    advice = "Start the services that this machine's GPUs need (the fabric manager, for one), and try again.";
  }
  return driver_error(ErrorCode::environment, fmt::format("{} of cuInit", describe(result)),
                      "a driver that can be initialised", std::move(advice));
}

Result<int> initialise(const DriverCalls& calls) {
  if (const CUresult result = calls.cuInit(0); result != CUresult::success) return not_initialised(result);
  int count = 0;
  if (const CUresult result = calls.cuDeviceGetCount(&count); result != CUresult::success) {
    return driver_error(ErrorCode::environment, fmt::format("{} of cuDeviceGetCount", describe(result)),
                        "a number of devices", "See what nvidia-smi says.");
  }
  if (count < 1) return no_device();
  return count;
}

}  // namespace

Result<Driver> Driver::load(const std::string& library) {
  const std::string& name = library.empty() ? kDriverLibrary : library;
  // It is not unloaded when the handle is closed.
  const Library opened(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
  if (!opened) {
    const char* reason = dlerror();
    return driver_error(
        ErrorCode::environment, fmt::format("no CUDA driver ({})", reason != nullptr ? reason : name.c_str()),
        "the library of the NVIDIA driver", "Install the NVIDIA driver; in a container, let it have the host's.");
  }
  const auto get_address = symbol<CuGetProcAddress>(opened, "cuGetProcAddress_v2");
  if (get_address == nullptr) return without_proc_address(opened, name);

  Driver driver;
  const std::vector<std::string> missing = look_up(get_address, driver.calls_);
  // An old driver lacks some for that reason.
  if (driver.calls_.cuDriverGetVersion == nullptr) return incomplete(missing);
  const Result<int> version = usable_version(driver.calls_);
  if (!version) return version.errors();
  driver.version_ = *version;
  if (!missing.empty()) return incomplete(missing);
  const Result<int> devices = initialise(driver.calls_);
  if (!devices) return devices.errors();
  driver.device_count_ = *devices;
  return driver;
}

}  // namespace rtgpu::cuda
