#include "runtime/device/cuda/sm_partitions.h"

#include "runtime/device/cuda/driver_error.h"
#include "runtime/device/cuda/sm_split.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

// Whether it means that this cannot be done here, rather than that it went wrong.
bool is_refusal(CUresult result) {
  return result == CUresult::invalid_value || result == CUresult::not_supported ||
         result == CUresult::invalid_resource_type || result == CUresult::invalid_resource_configuration;
}

Error cannot_divide(std::string found) {
  return Error{ErrorCode::unsupported, Place{}, std::move(found), "a device whose SMs the driver divides",
               "Run without partitions (no task with SMs of its own), or try another driver or device."};
}

// None on success.
Errors errors_of(std::string_view call, CUresult result) {
  if (result == CUresult::success) return {};
  std::string found = fmt::format("{} of {}", describe(result), call);
  if (is_refusal(result)) return {cannot_divide(std::move(found))};
  return {Error{ErrorCode::environment, Place{}, std::move(found), "a device whose driver works",
                "See what nvidia-smi says."}};
}

int sms_in(const CUdevResource& resource) {
  return resource.type == CUdevResourceType::sm ? static_cast<int>(resource.sm.smCount) : 0;
}

// The split of one device's SMs.
class SmSplitter {
 public:
  SmSplitter(const Driver& driver, const SmSplitOptions& options)
      : driver_(driver), flags_(options.ignore_coscheduling ? kSmSplitIgnoreCoscheduling : 0) {}

  // Learns the units. Their size is that of a group that is only looked at: drivers before 12.8 do not tell it, and
  // none tells it without co-scheduling.
  Result<SmUnits> look_at(CUdevice device) {
    Errors errors =
        errors_of("cuDeviceGetDevResource", driver_->cuDeviceGetDevResource(device, &all_, CUdevResourceType::sm));
    if (!errors.empty()) return errors;
    unsigned smallest = flags_ == 0 ? all_.sm.minSmPartitionSize : 0;
    if (smallest == 0) smallest = 1;
    CUdevResource group;
    unsigned count = 1;
    errors = split(&group, count, nullptr, smallest);
    if (!errors.empty()) return errors;
    units_.unit = sms_in(group);
    errors = split(nullptr, count, nullptr, static_cast<unsigned>(units_.unit));
    if (!errors.empty()) return errors;
    units_.units = static_cast<int>(count);
    units_.sms = sms_in(all_);
    if (units_.unit < 1 || units_.units < 1) return cannot_divide("a split of the SMs that gives no group");
    return units_;
  }

  // So many groups of one unit each. What is left over goes into `remaining`.
  Result<std::vector<CUdevResource>> take(int units, CUdevResource& remaining) {
    std::vector<CUdevResource> groups(static_cast<std::size_t>(units));
    auto count = static_cast<unsigned>(units);
    Errors errors = split(groups.data(), count, &remaining, static_cast<unsigned>(units_.unit));
    if (!errors.empty()) return errors;
    if (count != static_cast<unsigned>(units)) {
      return cannot_divide(fmt::format("a split into {} groups of SMs that gives {}", units, count));
    }
    return groups;
  }

 private:
  Errors split(CUdevResource* groups, unsigned& count, CUdevResource* remaining, unsigned smallest) const {
    return errors_of("cuDevSmResourceSplitByCount",
                     driver_->cuDevSmResourceSplitByCount(groups, &count, &all_, remaining, flags_, smallest));
  }

  const Driver& driver_;
  unsigned flags_;
  CUdevResource all_;
  SmUnits units_;
};

}  // namespace

Result<SmPartitions> SmPartitions::split(const Driver& driver, CUdevice device, std::span<const int> asked,
                                         const SmSplitOptions& options) {
  SmPartitions made(driver);
  Errors errors = errors_of("cuDeviceGetAttribute",
                            driver->cuDeviceGetAttribute(&made.sms_, CUdeviceAttribute::multiprocessor_count, device));
  if (!errors.empty()) return errors;
  if (asked.empty()) {
    made.rest_.sms = made.sms_;
    return Result<SmPartitions>(std::move(made));
  }
  if (driver.has_green_contexts()) {
    errors = made.divide_by_driver(device, asked, options);
  } else {
    errors = made.divide_by_count(asked, options.needs_rest);
  }
  if (!errors.empty()) return errors;
  return Result<SmPartitions>(std::move(made));
}

Errors SmPartitions::divide_by_driver(CUdevice device, std::span<const int> asked, const SmSplitOptions& options) {
  kind_ = PartitionKind::green_contexts;
  SmSplitter splitter(driver_, options);
  const Result<SmUnits> units = splitter.look_at(device);
  if (!units) return units.errors();
  sms_ = units->sms;
  unit_ = units->unit;
  const Result<std::vector<int>> plan = plan_sm_split(asked, *units, options.needs_rest);
  if (!plan) return plan.errors();
  CUdevResource remaining;
  Result<std::vector<CUdevResource>> groups = splitter.take(std::accumulate(plan->begin(), plan->end(), 0), remaining);
  if (!groups) return groups.errors();
  std::span<CUdevResource> left(*groups);
  for (std::size_t index = 0; index < asked.size(); ++index) {
    const auto count = static_cast<std::size_t>((*plan)[index]);
    Errors errors = add_part(device, left.first(count), asked[index]);
    if (!errors.empty()) return errors;
    left = left.subspan(count);
  }
  return add_rest(device, remaining, options.needs_rest);
}

Errors SmPartitions::divide_by_count(std::span<const int> asked, bool needs_rest) {
  kind_ = PartitionKind::persistent_blocks;
  const Result<std::vector<int>> plan = plan_sm_split(asked, {1, sms_, sms_}, needs_rest);
  if (!plan) return plan.errors();
  for (const int sms : *plan) parts_.push_back({nullptr, sms, sms});
  rest_.sms = std::accumulate(plan->begin(), plan->end(), sms_, std::minus<>());
  return {};
}

Errors SmPartitions::add_part(CUdevice device, std::span<CUdevResource> groups, int asked) {
  Part& part = parts_.emplace_back();
  part.asked = asked;
  Errors errors = make_context(device, groups, part);
  if (errors.empty() && part.sms < asked) {
    return {cannot_divide(fmt::format("{} SMs in a partition that was to have {}", part.sms, asked))};
  }
  return errors;
}

// A driver may refuse a context of the remainder alone. That matters only if somebody needs it.
Errors SmPartitions::add_rest(CUdevice device, CUdevResource remaining, bool is_needed) {
  if (sms_in(remaining) == 0) {
    if (!is_needed) return {};
    return {cannot_divide("a split that leaves no SM to work in no partition")};
  }
  Errors errors = make_context(device, std::span(&remaining, 1), rest_);
  const bool is_refused = !errors.empty() && errors.front().code == ErrorCode::unsupported;
  return is_refused && !is_needed ? Errors() : errors;
}

Errors SmPartitions::make_context(CUdevice device, std::span<CUdevResource> resources, Part& part) {
  CUdevResourceDesc description = nullptr;
  const auto count = static_cast<unsigned>(resources.size());
  Errors errors =
      errors_of("cuDevResourceGenerateDesc", driver_->cuDevResourceGenerateDesc(&description, resources.data(), count));
  if (!errors.empty()) return errors;
  CUgreenCtx context = nullptr;
  errors =
      errors_of("cuGreenCtxCreate", driver_->cuGreenCtxCreate(&context, description, device, kGreenCtxDefaultStream));
  if (!errors.empty()) return errors;
  contexts_.push_back(context);
  CUdevResource granted;
  errors = errors_of("cuGreenCtxGetDevResource",
                     driver_->cuGreenCtxGetDevResource(context, &granted, CUdevResourceType::sm));
  if (!errors.empty()) return errors;
  part.context = context;
  part.sms = sms_in(granted);
  return {};
}

template <class Tell>
void SmPartitions::destroy(const Tell& tell) {
  for (CUstream stream : streams_) tell("cuStreamDestroy", driver_->cuStreamDestroy(stream));
  streams_.clear();
  for (CUgreenCtx context : contexts_) tell("cuGreenCtxDestroy", driver_->cuGreenCtxDestroy(context));
  contexts_.clear();
  parts_.clear();
  rest_ = {};
}

SmPartitions& SmPartitions::operator=(SmPartitions&& other) noexcept {
  if (this == &other) return *this;
  destroy([](const char*, CUresult) {});
  driver_ = other.driver_;
  kind_ = other.kind_;
  sms_ = other.sms_;
  unit_ = other.unit_;
  parts_ = std::move(other.parts_);
  rest_ = other.rest_;
  contexts_ = std::exchange(other.contexts_, {});
  streams_ = std::exchange(other.streams_, {});
  return *this;
}

SmPartitions::~SmPartitions() {
  destroy([](const char*, CUresult) {});
}

void SmPartitions::forget() {
  streams_.clear();
  contexts_.clear();
}

Errors SmPartitions::close() {
  Errors errors;
  destroy([&errors](const char* call, CUresult result) {
    for (Error& error : errors_of(call, result)) errors.push_back(std::move(error));
  });
  return errors;
}

std::vector<Partition> SmPartitions::partitions() const {
  std::vector<Partition> partitions;
  for (const Part& part : parts_) partitions.push_back({static_cast<PartitionId>(partitions.size()), part.sms});
  return partitions;
}

SmShare SmPartitions::share_of(std::optional<PartitionId> partition) const {
  const std::size_t before = partition ? *partition : parts_.size();
  SmShare share{0, static_cast<std::uint32_t>(partition ? parts_[before].sms : rest_.sms),
                static_cast<std::uint32_t>(sms_)};
  for (const Part& part : std::span(parts_).first(before)) share.first += static_cast<std::uint32_t>(part.sms);
  return share;
}

Result<CUstream> SmPartitions::create_stream(std::optional<PartitionId> partition, int priority) {
  if (partition && *partition >= parts_.size()) {
    return Error{ErrorCode::value, Place{}, fmt::format("partition {}", *partition),
                 fmt::format("one of {} partitions", parts_.size()), "Add the partition before its streams."};
  }
  const Part& part = partition ? parts_[*partition] : rest_;
  if (part.sms == 0) {
    return Error{ErrorCode::limit, Place{}, "a stream in no partition", "an SM outside the partitions",
                 "Make the partitions smaller, or put the stream into one."};
  }
  CUstream stream = nullptr;
  Errors errors;
  if (part.context != nullptr) {
    errors = errors_of("cuGreenCtxStreamCreate",
                       driver_->cuGreenCtxStreamCreate(&stream, part.context, kStreamNonBlocking, priority));
  } else {
    errors = errors_of("cuStreamCreateWithPriority",
                       driver_->cuStreamCreateWithPriority(&stream, kStreamNonBlocking, priority));
  }
  if (!errors.empty()) return errors;
  streams_.push_back(stream);
  return stream;
}

std::string SmPartitions::summary() const {
  if (parts_.empty()) return "no partitions of SMs";
  std::vector<std::string> sizes;
  int left = sms_ - rest_.sms;
  for (const Part& part : parts_) {
    sizes.push_back(fmt::format("{} ({} asked for)", part.sms, part.asked));
    left -= part.sms;
  }
  const std::string count = fmt::format("{} partition{}", parts_.size(), parts_.size() == 1 ? "" : "s");
  const std::string how = kind_ == PartitionKind::green_contexts
                              ? fmt::format("green contexts in units of {} SMs", unit_)
                              : "persistent blocks, which kernels have to keep to, for want of green contexts";
  const std::string unused = left > 0 ? fmt::format(", {} to nobody", left) : "";
  return fmt::format("{} by {}: {}; {} left to the others{}", count, how, fmt::join(sizes, ", "), rest_.sms, unused);
}

}  // namespace rtgpu::cuda
