// Green contexts of the fake CUDA driver: SMs are counted, not used.
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

CUdevResource sms_of(const Model& model, unsigned count) {
  CUdevResource resource;
  resource.type = CUdevResourceType::sm;
  resource.sm = {count, model.settings.sm_alignment, model.settings.sm_alignment};
  return resource;
}

CUresult get_device_resource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return in_call("cuDeviceGetDevResource", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    if (type != CUdevResourceType::sm) return CUresult::invalid_resource_type;
    *resource = sms_of(model, model.settings.sms);
    return CUresult::success;
  });
}

// As many groups as there is room for, at most as many as asked for. Without `groups`, their greatest number.
CUresult split_sms(CUdevResource* groups, unsigned* group_count, const CUdevResource* input, CUdevResource* remaining,
                   unsigned flags, unsigned minimum) {
  return in_call("cuDevSmResourceSplitByCount", Needs::init, [&](Model& model) {
    if (input->type != CUdevResourceType::sm) return CUresult::invalid_resource_type;
    const unsigned unit = flags == kSmSplitIgnoreCoscheduling ? 1 : model.settings.sm_alignment;
    const unsigned size = std::max(1U, (minimum + unit - 1) / unit) * unit;
    const unsigned room = input->sm.smCount / size;
    if (room == 0) return CUresult::invalid_resource_configuration;
    *group_count = groups != nullptr ? std::min(*group_count, room) : room;
    if (groups == nullptr) return CUresult::success;
    std::fill_n(groups, *group_count, sms_of(model, size));
    if (remaining != nullptr) *remaining = sms_of(model, input->sm.smCount - *group_count * size);
    return CUresult::success;
  });
}

CUresult describe_resources(CUdevResourceDesc* description, CUdevResource* resources, unsigned count) {
  return in_call("cuDevResourceGenerateDesc", Needs::init, [&](Model& model) {
    if (count == 0) return CUresult::invalid_value;
    unsigned sms = 0;
    for (unsigned at = 0; at < count; ++at) {
      if (resources[at].type != CUdevResourceType::sm) return CUresult::invalid_resource_type;
      sms += resources[at].sm.smCount;
    }
    if (sms == 0) return CUresult::invalid_resource_configuration;
    *description = model.descriptions.add({sms_of(model, sms)});
    return CUresult::success;
  });
}

CUresult create_green(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device, unsigned flags) {
  return in_call("cuGreenCtxCreate", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    if (model.descriptions.find(description) == nullptr || flags != kGreenCtxDefaultStream) {
      return CUresult::invalid_value;
    }
    *context = model.green_contexts.add({description->sms, model.contexts.add({device, 0})});
    return CUresult::success;
  });
}

CUresult destroy_green(CUgreenCtx context) {
  return in_call("cuGreenCtxDestroy", Needs::init, [&](Model& model) {
    if (model.green_contexts.find(context) == nullptr) return CUresult::invalid_context;
    model.contexts.remove(context->context);
    model.green_contexts.remove(context);
    return CUresult::success;
  });
}

CUresult context_of_green(CUcontext* context, CUgreenCtx green) {
  return in_call("cuCtxFromGreenCtx", Needs::init, [&](Model& model) {
    if (model.green_contexts.find(green) == nullptr) return CUresult::invalid_context;
    *context = green->context;
    return CUresult::success;
  });
}

CUresult get_green_resource(CUgreenCtx context, CUdevResource* resource, CUdevResourceType type) {
  return in_call("cuGreenCtxGetDevResource", Needs::init, [&](Model& model) {
    if (model.green_contexts.find(context) == nullptr) return CUresult::invalid_context;
    if (type != CUdevResourceType::sm) return CUresult::invalid_resource_type;
    *resource = context->sms;
    return CUresult::success;
  });
}

CUresult create_green_stream(CUstream* stream, CUgreenCtx context, unsigned flags, int priority) {
  return in_call("cuGreenCtxStreamCreate", Needs::init, [&](Model& model) {
    if (model.green_contexts.find(context) == nullptr) return CUresult::invalid_context;
    if (flags != kStreamNonBlocking) return CUresult::invalid_value;
    CUstream_st made;
    made.flags = flags;
    made.priority = model.clamp_priority(priority);
    *stream = model.streams.add(std::move(made));
    return CUresult::success;
  });
}

}  // namespace

void add_green_calls(DriverCalls& calls) {
  calls.cuDeviceGetDevResource = get_device_resource;
  calls.cuDevSmResourceSplitByCount = split_sms;
  calls.cuDevResourceGenerateDesc = describe_resources;
  calls.cuGreenCtxCreate = create_green;
  calls.cuGreenCtxDestroy = destroy_green;
  calls.cuCtxFromGreenCtx = context_of_green;
  calls.cuGreenCtxGetDevResource = get_green_resource;
  calls.cuGreenCtxStreamCreate = create_green_stream;
}

}  // namespace rtgpu::cuda::fake
