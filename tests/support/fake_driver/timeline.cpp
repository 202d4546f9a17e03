#include "tests/support/fake_driver/timeline.h"

#include "tests/support/fake_driver/model.h"

#include <vector>

namespace rtgpu::cuda::fake {

void Timeline::restart(std::uint64_t now) {
  now_ = now;
  occupied_.clear();
}

void Timeline::settle(Model& model) {
  do {
    end_what_takes_no_time(model);
    begin_what_can(model);
  } while (end_what_is_due(model));
}

void Timeline::advance(Model& model, std::uint64_t time) {
  for (auto end = next_end(); end && *end <= time && !model.is_lost(); end = next_end()) {
    now_ = std::max(now_, *end);
    if (end_what_is_due(model)) settle(model);
  }
  now_ = std::max(now_, time);
}

std::optional<std::uint64_t> Timeline::next_end() const {
  std::uint64_t next = kNever;
  for (const auto& [unit, occupancy] : occupied_) next = std::min(next, occupancy.until);
  return next != kNever ? std::optional(next) : std::nullopt;
}

// Device-to-device copies go with those to the device. With one engine, all do.
Timeline::HardwareUnit Timeline::unit_of(const Model& model, const Operation& operation) {
  const CUstream_st& stream = *operation.stream;
  if (operation.uses == Uses::sms) return {stream.device, Uses::sms, stream.partition};
  return {stream.device, model.settings.copy_engines >= 2 ? operation.uses : Uses::engine_to_device, 0};
}

bool Timeline::goes_before(const Operation& operation, const Operation& other) {
  if (operation.uses == Uses::sms) {
    const int priority = operation.priority.value_or(operation.stream->priority);
    const int others = other.priority.value_or(other.stream->priority);
    if (priority != others) return priority < others;
  }
  return operation.sequence < other.sequence;
}

// Everything that ends now does, before anything else begins.
bool Timeline::end_what_is_due(Model& model) {
  bool any = false;
  for (auto at = occupied_.begin(); at != occupied_.end() && !model.is_lost();) {
    if (at->second.until > now_) {
      ++at;
      continue;
    }
    any = true;
    const OperationPtr operation = std::move(at->second.operation);
    at = occupied_.erase(at);
    operation->is_served = false;
    operation->parts -= operation->parts_in_wave;
    if (operation->parts == 0) model.finish(operation);
  }
  return any && !model.is_lost();
}

void Timeline::end_what_takes_no_time(Model& model) const {
  const auto next = [&]() -> OperationPtr {
    for (const auto& stream : model.all_streams()) {
      for (const OperationPtr& operation : stream->waiting) {
        if (operation->uses == Uses::nothing && operation->is_ready()) return operation;
      }
    }
    return nullptr;
  };
  for (OperationPtr operation = next(); operation != nullptr && !model.is_lost(); operation = next()) {
    model.begin(*operation);
    model.finish(operation);
  }
}

void Timeline::begin_what_can(Model& model) {
  std::map<HardwareUnit, OperationPtr> first;
  for (const auto& stream : model.all_streams()) {
    for (const OperationPtr& operation : stream->waiting) {
      if (operation->uses == Uses::nothing || operation->is_served || !operation->is_ready()) continue;
      const HardwareUnit unit = unit_of(model, *operation);
      if (occupied_.count(unit) != 0) continue;
      OperationPtr& best = first[unit];
      if (best == nullptr || goes_before(*operation, *best)) best = operation;
    }
  }
  for (const auto& [unit, operation] : first) {
    if (!model.is_lost()) serve(model, occupied_[unit], operation);
  }
}

void Timeline::serve(Model& model, Occupancy& occupancy, const OperationPtr& operation) const {
  model.begin(*operation);
  occupancy.operation = operation;
  operation->is_served = true;
  operation->parts_in_wave = operation->parts;
  std::uint64_t duration = operation->part_ns;
  if (operation->hangs || model.is_lost()) {
    duration = kNever;
  } else if (operation->uses != Uses::sms) {
    duration = operation->bytes * model.settings.copy_ns_per_kib / 1024;
  } else if (duration > 0) {
    const std::uint64_t wave = model.sms_of(*operation->stream) * kBlocksPerSm;
    operation->parts_in_wave = std::min(operation->parts, wave);
  }
  // A kernel may be told to spin for ever.
  occupancy.until = duration < kNever - now_ ? now_ + duration : kNever;
}

}  // namespace rtgpu::cuda::fake
