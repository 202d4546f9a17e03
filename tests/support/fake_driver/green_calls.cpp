// Green contexts of the fake CUDA driver: it is said how many SMs each has, not which.
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

// What a resource's internal bytes say: the number of the split that it comes from, and whether it was left over there.
constexpr std::size_t kSplit = 0;
constexpr std::size_t kRemainder = 1;

unsigned minimum_of(const Settings& settings) {
  return std::max(settings.sm_minimum, settings.sm_alignment);
}

CUdevResource some_sms(const Model& model, unsigned count) {
  CUdevResource resource;
  resource.type = CUdevResourceType::sm;
  resource.sm.smCount = count;
  if (!model.settings.sm_tells_units) return resource;
  resource.sm.minSmPartitionSize = minimum_of(model.settings);
  resource.sm.smCoscheduledAlignment = model.settings.sm_alignment;
  return resource;
}

// Whether a green context can have these, of which there is one at least.
bool go_together(const Model& model, const CUdevResource* resources, unsigned count) {
  return std::all_of(resources, resources + count, [&](const CUdevResource& each) {
    if (each.internal[kRemainder] != 0 && !model.settings.sm_remainder) return false;
    return count == 1 || (each.internal[kSplit] != 0 && each.internal[kSplit] == resources->internal[kSplit]);
  });
}

CUresult get_device_resource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return in_call("cuDeviceGetDevResource", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    if (type != CUdevResourceType::sm) return CUresult::invalid_resource_type;
    *resource = some_sms(model, model.settings.sms);
    return CUresult::success;
  });
}

// As many groups as there is room for, at most as many as asked for. Without `groups`, their greatest number.
CUresult split_sms(CUdevResource* groups, unsigned* group_count, const CUdevResource* input, CUdevResource* remaining,
                   unsigned flags, unsigned minimum) {
  return in_call("cuDevSmResourceSplitByCount", Needs::init, [&](Model& model) {
    if (input->type != CUdevResourceType::sm) return CUresult::invalid_resource_type;
    if (model.settings.split != CUresult::success) return model.settings.split;
    if (input->internal[kSplit] != 0) return CUresult::invalid_resource_configuration;
    const bool is_free = flags == kSmSplitIgnoreCoscheduling;
    const unsigned unit = is_free ? std::min(2U, model.settings.sm_alignment) : model.settings.sm_alignment;
    const unsigned least = std::max(minimum, is_free ? 1 : minimum_of(model.settings));
    const unsigned size = (least + unit - 1) / unit * unit;
    const unsigned room = input->sm.smCount / size;
    if (room == 0) return CUresult::invalid_resource_configuration;
    *group_count = groups != nullptr ? std::min(*group_count, room) : room;
    if (groups == nullptr) return CUresult::success;
    CUdevResource group = some_sms(model, size);
    group.internal[kSplit] = ++model.splits;
    std::fill_n(groups, *group_count, group);
    if (remaining == nullptr) return CUresult::success;
    const unsigned rest = input->sm.smCount - *group_count * size;
    const unsigned lost = model.settings.sm_remainder_lost ? std::min(rest, model.settings.sm_alignment) : 0;
    *remaining = some_sms(model, rest - lost);
    remaining->internal[kSplit] = group.internal[kSplit];
    remaining->internal[kRemainder] = 1;
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
    if (sms == 0 || !go_together(model, resources, count)) return CUresult::invalid_resource_configuration;
    *description = model.descriptions.add({some_sms(model, sms)});
    return CUresult::success;
  });
}

CUresult create_green(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device, unsigned flags) {
  return in_call("cuGreenCtxCreate", Needs::init, [&](Model& model) {
    if (!model.is_device(device)) return CUresult::invalid_device;
    if (model.descriptions.find(description) == nullptr || flags != kGreenCtxDefaultStream) {
      return CUresult::invalid_value;
    }
    if (model.green_contexts.items().size() >= model.settings.green_contexts) return CUresult::out_of_memory;
    CUdevResource sms = description->sms;
    sms.sm.smCount -= std::min(sms.sm.smCount, model.settings.sm_kept);
    *context = model.green_contexts.add({sms, model.contexts.add({device, 0}), ++model.partitions});
    return CUresult::success;
  });
}

CUresult destroy_green(CUgreenCtx context) {
  return in_call("cuGreenCtxDestroy", Needs::init, [&](Model& model) {
    if (model.green_contexts.find(context) == nullptr) return CUresult::invalid_context;
    for (const auto& stream : model.streams.items()) stream->is_orphan |= stream->green == context;
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
    made.device = context->context->device;
    made.partition = context->number;
    made.flags = flags;
    made.priority = model.clamp_priority(priority);
    made.green = context;
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
