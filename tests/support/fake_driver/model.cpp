#include "tests/support/fake_driver/model.h"

#include "tests/support/fake_driver/capture.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace rtgpu::cuda::fake {
namespace {

constexpr std::uint64_t kWithoutClockNs = 1'000'000;  // what an operation takes
constexpr std::uintptr_t kDefaultStreams = 2;         // the greatest handle of one

std::uint64_t monotonic_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

// A kernel that spins for as long as its parameter says.
FakeKernel spend_kernel() {
  FakeKernel kernel{"rtgpu_spend", {sizeof(std::uint64_t)}};
  kernel.block_ns = [](void* /*context*/, const FakeLaunch& /*launch*/, void* const* parameters) {
    std::uint64_t nanoseconds = 0;
    std::memcpy(&nanoseconds, parameters[0], sizeof nanoseconds);
    return nanoseconds;
  };
  return kernel;
}

}  // namespace

thread_local CUcontext Model::current = nullptr;
thread_local int InDriver::depth_ = 0;

Model& Model::instance() {
  static Model model;
  static const bool configured = (model.reset(), true);
  static_cast<void>(configured);
  return model;
}

void Model::reset() {
  settings = Settings();
  timeline.restart(0);
  initialised = false;
  submitted = 0;
  partitions = 0;
  streams = {};
  hidden_streams.clear();
  events = {};
  functions = {};
  modules = {};
  graphs = {};
  graph_execs = {};
  descriptions = {};
  green_contexts = {};
  splits = 0;
  contexts = {};
  primary.clear();
  primary_flags.clear();
  memory.clear();
  host_memory.clear();
  kernels.clear();
  launches.clear();
  calls.clear();
  current = nullptr;
  const FakeKernel spend = spend_kernel();
  kernels[spend.name] = spend;
  if (const char* text = std::getenv("RTGPU_FAKE_CUDA"); text != nullptr) {
    std::istringstream words(text);
    for (std::string word; words >> word;) configure(word);
  }
}

bool Model::configure(std::string_view setting) {
  catch_up();
  const Clock before = settings.clock;
  if (!change(settings, setting)) return false;
  if (settings.clock != before && !change_clock(before)) return false;
  proceed();
  changed.notify_all();
  return true;
}

// It cannot be changed while there is work.
bool Model::change_clock(Clock before) {
  for (const auto& stream : all_streams()) {
    if (stream->waiting.empty()) continue;
    settings.clock = before;
    return false;
  }
  timeline.restart(settings.clock == Clock::monotonic ? monotonic_now() : 0);
  return true;
}

CUresult Model::planned_result(std::string_view call) {
  CUresult result = CUresult::success;
  for (PlannedResult& planned : settings.planned) {
    if (planned.call == call && --planned.calls_to_come == 0) result = planned.result;
  }
  std::erase_if(settings.planned, [](const PlannedResult& planned) { return planned.calls_to_come == 0; });
  return result;
}

CUresult Model::refuses(std::string_view call, Needs needs) {
  ++calls[std::string(call)];
  if (const CUresult planned = planned_result(call); planned != CUresult::success) return planned;
  if (needs == Needs::nothing) return CUresult::success;
  if (!initialised) return CUresult::not_initialized;
  if (is_lost()) return settings.fault;
  if (needs == Needs::context && contexts.find(current) == nullptr) return CUresult::invalid_context;
  return disturbs_capture(*this, call) ? CUresult::stream_capture_unsupported : CUresult::success;
}

int Model::clamp_priority(int priority) const {
  const int granted = settings.granted_levels > 0 ? std::min(settings.granted_levels, settings.levels)  //
                                                  : settings.levels;
  return std::clamp(priority, 1 - granted, 0);
}

CUstream Model::find_stream(CUstream handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) > kDefaultStreams) return streams.find(handle).get();
  if (!settings.default_stream) return nullptr;
  for (const auto& stream : hidden_streams) {
    if (stream->is_legacy && stream->device == current->device) return stream.get();
  }
  auto& made = hidden_streams.emplace_back(std::make_shared<CUstream_st>());
  made->device = current->device;
  made->is_legacy = true;
  return made.get();
}

std::vector<std::shared_ptr<CUstream_st>> Model::all_streams() const {
  std::vector<std::shared_ptr<CUstream_st>> all = streams.items();
  all.insert(all.end(), hidden_streams.begin(), hidden_streams.end());
  return all;
}

// Its work is completed all the same.
bool Model::destroy_stream(CUstream stream) {
  const std::shared_ptr<CUstream_st> found = streams.find(stream);
  if (found == nullptr) return false;
  leave_capture(*this, *found);
  streams.remove(stream);
  if (!found->waiting.empty()) hidden_streams.push_back(found);
  return true;
}

CUgraphNode Model::find_node(CUgraphNode handle) const {
  for (const auto& graph : graphs.items()) {
    for (const auto& node : graph->nodes) {
      if (node.get() == handle) return handle;
    }
  }
  return nullptr;
}

const CUgreenCtx_st* Model::current_green() const {
  for (const auto& green : green_contexts.items()) {
    if (green->context == current) return green.get();
  }
  return nullptr;
}

unsigned Model::sms_of(const CUstream_st& stream) const {
  unsigned taken = 0;
  for (const auto& green : green_contexts.items()) {
    if (green->number == stream.partition) return green->sms.sm.smCount;
    if (green->context->device == stream.device) taken += green->sms.sm.smCount;
  }
  return settings.sms > taken ? settings.sms - taken : 1;
}

bool Model::is_complete(const CUevent_st& event) const {
  if (event.record == nullptr) return true;
  const std::uint64_t late_ns = settings.clock != Clock::none ? settings.late_ns : 0;
  return event.record->is_done && timeline.now() >= event.record->done_at + late_ns;
}

std::byte* Model::memory_at(CUdeviceptr address, std::size_t bytes) {
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return nullptr;
  auto& [start, allocation] = *std::prev(after);
  const std::size_t offset = address - start;
  const std::size_t size = allocation.bytes.size();
  return offset <= size && bytes <= size - offset ? allocation.bytes.data() + offset : nullptr;
}

std::size_t Model::used_memory(CUdevice device) const {
  std::size_t used = 0;
  for (const auto& [address, allocation] : memory) {
    if (allocation.device == device) used += allocation.bytes.size();
  }
  return used;
}

CUresult Model::submit(CUstream stream, Operation operation) {
  if (stream->capture != nullptr) return capture_operation(*stream, std::move(operation));
  enqueue(stream, std::move(operation), {});
  proceed();
  return CUresult::success;
}

// After the last operation of the stream, unless `after` says otherwise. It is the stream's last one now.
OperationPtr Model::enqueue(CUstream stream, Operation operation, std::vector<OperationPtr> after) {
  if (after.empty() && stream->last != nullptr) after.push_back(stream->last);
  auto added = std::make_shared<Operation>(std::move(operation));
  added->stream = stream;
  added->sequence = ++submitted;
  added->after = std::move(after);
  stream->waiting.push_back(added);
  stream->last = added;
  return added;
}

void Model::proceed() {
  if (is_lost()) return;
  if (settings.clock != Clock::none)
    timeline.settle(*this);
  else if (!settings.hold)
    complete_all();
}

void Model::begin(Operation& operation) {
  if (operation.has_begun) return;
  operation.has_begun = true;
  operation.begun_at = timeline.now();
  if (operation.begin != nullptr) operation.begin(*this, operation);
}

void Model::finish(const OperationPtr& operation) {
  operation->is_done = true;
  operation->done_at = timeline.now();
  operation->after.clear();
  std::erase(operation->stream->waiting, operation);
  if (operation->end != nullptr) operation->end(*this, *operation);
  changed.notify_all();
}

std::size_t Model::complete(CUstream stream, std::size_t most) {
  const auto all = all_streams();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.get() == stream; });
  if (found == all.end() || settings.clock != Clock::none) return 0;
  std::size_t done = 0;
  while (done < most && !stream->waiting.empty() && !is_lost()) {
    const OperationPtr operation = stream->waiting.front();
    if (!operation->is_ready()) break;
    begin(*operation);
    if (operation->hangs) break;
    timeline.pass(kWithoutClockNs);
    ++done;
    if (!is_lost()) finish(operation);
  }
  changed.notify_all();
  return done;
}

void Model::complete_all() {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& stream : all_streams()) {
      goes_on = complete(stream.get(), stream->waiting.size()) != 0 || goes_on;
    }
  }
}

std::size_t Model::things_left() const {
  std::size_t left = streams.items().size() + events.items().size() + modules.items().size() + graphs.items().size() +
                     graph_execs.items().size() + green_contexts.items().size() + memory.size() + host_memory.size();
  for (const auto& [device, context] : primary) left += static_cast<std::size_t>(context->retained);
  return left;
}

void Model::catch_up() {
  if (settings.clock == Clock::monotonic) timeline.advance(*this, monotonic_now());
  std::erase_if(hidden_streams, [](const auto& stream) { return !stream->is_legacy && stream->waiting.empty(); });
}

bool Model::advance_to(std::uint64_t time) {
  if (settings.clock != Clock::manual) return false;
  timeline.advance(*this, time);
  changed.notify_all();
  return true;
}

std::optional<std::uint64_t> Model::next_event() const {
  if (settings.clock == Clock::none || is_lost()) return std::nullopt;
  std::optional<std::uint64_t> next = timeline.next_end();
  for (const auto& event : events.items()) {
    if (event->record == nullptr || !event->record->is_done || is_complete(*event)) continue;
    const std::uint64_t seen = event->record->done_at + settings.late_ns;
    next = next ? std::min(*next, seen) : seen;
  }
  return next;
}

void Model::wait(std::unique_lock<std::mutex>& lock) {
  const std::optional<std::uint64_t> next = next_event();
  if (!next) {
    changed.wait(lock);
  } else if (settings.clock == Clock::manual) {
    advance_to(*next);
  } else {
    const std::chrono::nanoseconds at(*next);
    changed.wait_until(lock, std::chrono::steady_clock::time_point(at));
  }
  catch_up();
}

}  // namespace rtgpu::cuda::fake
