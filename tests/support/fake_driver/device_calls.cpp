// Devices and contexts of the fake CUDA driver.
#include "tests/support/fake_driver/model.h"

#include <cstdio>

namespace rtgpu::cuda::fake {
namespace {

int attribute_of(const Model& model, CUdeviceAttribute attribute) {
  switch (attribute) {
    case CUdeviceAttribute::multiprocessor_count:
      return static_cast<int>(model.settings.sms);
    case CUdeviceAttribute::async_engine_count:
      return model.settings.copy_engines;
    case CUdeviceAttribute::compute_capability_major:
      return 9;
    case CUdeviceAttribute::concurrent_kernels:
    case CUdeviceAttribute::compute_preemption_supported:
    case CUdeviceAttribute::stream_priorities_supported:
      return 1;
    default:
      return 0;
  }
}

CUresult get_version(int* version) {
  return in_call("cuDriverGetVersion", Needs::nothing, [&](Model& model) {
    *version = model.settings.version;
    return CUresult::success;
  });
}

CUresult init(unsigned flags) {
  return in_call("cuInit", Needs::nothing, [&](Model& model) {
    if (flags != 0) return CUresult::invalid_value;
    if (model.settings.init != CUresult::success) return model.settings.init;
    if (model.settings.devices == 0) return CUresult::no_device;
    model.initialised = true;
    return CUresult::success;
  });
}

CUresult get_count(int* count) {
  return in_call("cuDeviceGetCount", Needs::init, [&](Model& model) {
    *count = model.settings.devices;
    return CUresult::success;
  });
}

CUresult get_device(CUdevice* device, int ordinal) {
  return in_call("cuDeviceGet", Needs::init, [&](Model& model) {
    if (!model.is_device(ordinal)) return CUresult::invalid_device;
    *device = ordinal;
    return CUresult::success;
  });
}

CUresult get_name(char* name, int length, CUdevice device) {
  return in_call("cuDeviceGetName", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    if (length < 1) return CUresult::invalid_value;
    std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU %d", device);
    return CUresult::success;
  });
}

CUresult get_attribute(int* value, CUdeviceAttribute attribute, CUdevice device) {
  return in_call("cuDeviceGetAttribute", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    *value = attribute_of(model, attribute);
    return CUresult::success;
  });
}

CUresult total_memory(std::size_t* bytes, CUdevice device) {
  return in_call("cuDeviceTotalMem", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    *bytes = model.settings.memory;
    return CUresult::success;
  });
}

CUresult retain_primary(CUcontext* context, CUdevice device) {
  return in_call("cuDevicePrimaryCtxRetain", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    CUcontext& primary = model.primary[device];
    if (primary == nullptr) primary = model.contexts.add({device, 0});
    ++primary->retained;
    *context = primary;
    return CUresult::success;
  });
}

// The last release ends the context.
CUresult release_primary(CUdevice device) {
  return in_call("cuDevicePrimaryCtxRelease", Needs::init, [&](Model& model) {
    const auto primary = model.primary.find(device);
    if (primary == model.primary.end()) return CUresult::invalid_context;
    if (--primary->second->retained > 0) return CUresult::success;
    model.contexts.remove(primary->second);
    model.primary.erase(primary);
    return CUresult::success;
  });
}

CUresult set_primary_flags(CUdevice device, unsigned flags) {
  return in_call("cuDevicePrimaryCtxSetFlags", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    const bool is_known = flags <= kContextSchedYield || flags == kContextSchedBlockingSync;
    if (!is_known) return CUresult::invalid_value;
    model.primary_flags[device] = flags;
    return CUresult::success;
  });
}

CUresult get_primary_state(CUdevice device, unsigned* flags, int* active) {
  return in_call("cuDevicePrimaryCtxGetState", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    *flags = model.primary_flags[device];
    *active = model.primary.count(device) != 0 ? 1 : 0;
    return CUresult::success;
  });
}

CUresult set_current(CUcontext context) {
  return in_call("cuCtxSetCurrent", Needs::init, [&](Model& model) {
    if (context != nullptr && model.contexts.find(context) == nullptr) return CUresult::invalid_context;
    Model::current = context;
    return CUresult::success;
  });
}

CUresult get_current(CUcontext* context) {
  return in_call("cuCtxGetCurrent", Needs::init, [&](Model& /*model*/) {
    *context = Model::current;
    return CUresult::success;
  });
}

CUresult get_priority_range(int* least, int* greatest) {
  return in_call("cuCtxGetStreamPriorityRange", Needs::context, [&](Model& model) {
    *least = 0;
    *greatest = 1 - model.settings.levels;
    return CUresult::success;
  });
}

CUresult synchronize_context() {
  const auto check = [](const Model&) { return CUresult::success; };
  return in_wait("cuCtxSynchronize", check, [device = Model::current](const Model& model) {
    const auto streams = model.all_streams();
    return std::all_of(streams.begin(), streams.end(), [&](const auto& stream) {
      return stream->waiting.empty() || device == nullptr || stream->device != device->device;
    });
  });
}

}  // namespace

void add_device_calls(DriverCalls& calls) {
  calls.cuDriverGetVersion = get_version;
  calls.cuInit = init;
  calls.cuDeviceGetCount = get_count;
  calls.cuDeviceGet = get_device;
  calls.cuDeviceGetName = get_name;
  calls.cuDeviceGetAttribute = get_attribute;
  calls.cuDeviceTotalMem = total_memory;
  calls.cuDevicePrimaryCtxRetain = retain_primary;
  calls.cuDevicePrimaryCtxRelease = release_primary;
  calls.cuDevicePrimaryCtxSetFlags = set_primary_flags;
  calls.cuDevicePrimaryCtxGetState = get_primary_state;
  calls.cuCtxSetCurrent = set_current;
  calls.cuCtxGetCurrent = get_current;
  calls.cuCtxGetStreamPriorityRange = get_priority_range;
  calls.cuCtxSynchronize = synchronize_context;
}

}  // namespace rtgpu::cuda::fake
