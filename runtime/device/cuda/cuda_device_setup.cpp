// What happens before the first release: the device is opened, and streams, graphs, partitions and memory are made.
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/driver_error.h"
#include "runtime/device/cuda/stream_check.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

// How long a first launch may take. A driver that compiles code for the device takes its time.
constexpr std::chrono::seconds kPatience{10};

Error out_of_range(std::string found, std::string expected) {
  return Error{ErrorCode::value, Place{}, std::move(found), std::move(expected), {}};
}

Errors check_options(const CudaOptions& options) {
  Errors errors;
  if (options.look_least <= Duration() || options.look_most < options.look_least) {
    errors.push_back(out_of_range("limits of looking at work in flight out of order", "0 < look_least <= look_most"));
  }
  if (options.copy_chunk == 0) errors.push_back(out_of_range("copies in parts of 0 bytes", "a byte at least"));
  return errors;
}

DeviceProperties properties_of(const DeviceInfo& info, const CudaOptions& options) {
  DeviceProperties properties;
  properties.name = fmt::format("{} (cuda:{})", info.name, info.ordinal);
  properties.sms = info.sms;
  properties.copy_engines = std::clamp(info.copy_engines, 1, 2);
  properties.stream_levels = info.stream_levels;
  properties.memory = info.memory;
  properties.computes = true;
  properties.virtual_time = options.clock != nullptr;
  properties.preempts = false;
  properties.has_hardware_levels = true;
  properties.emulated = false;
  properties.attended = true;
  properties.seen_within = options.clock != nullptr ? Duration() : options.look_most;
  return properties;
}

}  // namespace

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(int ordinal, const CudaOptions& options) {
  if (Errors errors = check_options(options); !errors.empty()) return errors;
  const Result<Driver> driver = Driver::load(options.library);
  if (!driver) return driver.errors();
  if (ordinal < 0 || ordinal >= driver->device_count()) {
    return Error{ErrorCode::environment, Place{}, fmt::format("device cuda:{}", ordinal),
                 driver->device_count() == 1 ? std::string("cuda:0, the only one")
                                             : fmt::format("cuda:0 to cuda:{}", driver->device_count() - 1),
                 "See which there are with nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides some."};
  }
  CUdevice device = 0;
  if (const CUresult result = (*driver)->cuDeviceGet(&device, ordinal); result != CUresult::success) {
    return Error{ErrorCode::environment, Place{}, fmt::format("{} of cuDeviceGet", describe(result)),
                 fmt::format("device cuda:{}", ordinal), "See what nvidia-smi says of it."};
  }
  // Before anything else makes the primary context: its flags are to be ours.
  Result<PrimaryContext> context = PrimaryContext::retain(*driver, device, options.context_wait);
  if (!context) return context.errors();
  DeviceInfo info = device_info(*driver, ordinal);
  if (!info.problem.empty()) {
    return Error{ErrorCode::environment, Place{}, info.problem, "a device that answers",
                 "See what nvidia-smi says of it."};
  }
  std::unique_ptr<CudaDevice> made(new CudaDevice(*driver, device, std::move(info), options, std::move(*context)));
  if (Errors errors = made->set_up(); !errors.empty()) return errors;
  return made;
}

CudaDevice::CudaDevice(const Driver& driver, CUdevice device, DeviceInfo info, const CudaOptions& options,
                       PrimaryContext context)
    : driver_(driver),
      device_(device),
      info_(std::move(info)),
      options_(options),
      properties_(properties_of(info_, options)),
      context_(std::move(context)) {}

// Streams and memory are given back in their context, and that last. With work that never ends on the device, giving
// back memory would wait for it: then all is left to the end of the process.
CudaDevice::~CudaDevice() {
  if (fork_guard_.is_in_child() || has_work()) {
    forget();
    return;
  }
  const InContext inside(context_);
  streams_.clear();
  partitions_.reset();
  copies_.clear();
  memory_.clear();
  times_.reset();
  spend_.reset();
}

void CudaDevice::forget() {
  for (const auto& state : streams_) {
    state->work.forget();
    for (CudaGraph& graph : state->graphs) graph.forget();
  }
  for (const auto& queue : copies_) queue->forget();
  for (DeviceMemory& memory : memory_) memory.forget();
  if (partitions_) partitions_->forget();
  if (times_) times_->forget();
  if (spend_) spend_->forget();
  context_.forget();
}

Errors CudaDevice::set_up() {
  const InContext inside(context_);
  if (!inside.ok()) return {failed("cuCtxSetCurrent", CUresult::invalid_context)};
  Result<SpendKernel> spend = SpendKernel::load(driver_);
  if (!spend) return spend.errors();
  spend_ = std::move(*spend);
  for (int engine = 0; engine < properties_.copy_engines; ++engine) {
    Result<HandleOf<CUstream>> stream = make_stream(info_.greatest_priority);
    if (!stream) return stream.errors();
    Result<HandleOf<CUevent>> end = make_event();
    if (!end) return end.errors();
    copies_.push_back(std::make_unique<CopyQueue>(driver_, std::move(*stream), std::move(*end), options_.copy_chunk));
  }
  if (!context_.note().empty()) notes_.push_back(context_.note());
  return launch_once();
}

// The first launch of a kernel may load it. A device on which work of others hangs is found out, too.
Errors CudaDevice::launch_once() {
  using namespace std::chrono_literals;
  Result<HandleOf<CUstream>> stream = make_stream(info_.greatest_priority);
  if (!stream) return stream.errors();
  CUresult result = spend_->launch(stream->get(), Duration(), Duration(), 1);
  const auto begin = std::chrono::steady_clock::now();
  if (result == CUresult::success) result = driver_->cuStreamQuery(stream->get());
  while (result == CUresult::not_ready && std::chrono::steady_clock::now() - begin < kPatience) {
    std::this_thread::sleep_for(1ms);
    result = driver_->cuStreamQuery(stream->get());
  }
  if (result == CUresult::success) return {};
  if (result != CUresult::not_ready) return {failed("a first launch", result)};
  static_cast<void>(stream->release());
  forget();
  return {Error{ErrorCode::environment, Place{}, "an empty kernel that does not end",
                fmt::format("{} ready for use", properties_.name), "See with nvidia-smi what occupies the device."}};
}

Result<HandleOf<CUstream>> CudaDevice::make_stream(int priority) {
  CUstream stream = nullptr;
  const CUresult result = driver_->cuStreamCreateWithPriority(&stream, kStreamNonBlocking, priority);
  if (result != CUresult::success) return failed("cuStreamCreateWithPriority", result);
  return HandleOf<CUstream>(stream, GivesBack<CUstream>(driver_->cuStreamDestroy));
}

Result<HandleOf<CUevent>> CudaDevice::make_event() {
  CUevent event = nullptr;
  const CUresult result = driver_->cuEventCreate(&event, kEventDisableTiming);
  if (result != CUresult::success) return failed("cuEventCreate", result);
  return HandleOf<CUevent>(event, GivesBack<CUevent>(driver_->cuEventDestroy));
}

Error CudaDevice::failed(const char* call, CUresult result) const {
  return Error{ErrorCode::environment, Place{}, fmt::format("{} of {}", describe(result), call),
               fmt::format("{} ready for use", properties_.name), "See what nvidia-smi says of it."};
}

Result<StreamId> CudaDevice::add_stream(const StreamSetup& setup) {
  const InContext inside(context_);
  if (!inside.ok()) return failed("cuCtxSetCurrent", CUresult::invalid_context);
  if (setup.level < 0 || setup.level >= properties_.stream_levels) {
    return Error{ErrorCode::limit, Place{}, fmt::format("stream level {}", setup.level),
                 fmt::format("0 to {}: {} has {} levels", properties_.stream_levels - 1, properties_.name,
                             properties_.stream_levels),
                 "Let tasks share levels: stream_priorities of the platform's GPU."};
  }
  const int priority = info_.greatest_priority + setup.level;
  const bool is_adopted = setup.cuda != nullptr;
  Result<HandleOf<CUstream>> stream =
      is_adopted ? adopt_stream(setup, priority) : make_stream_on(setup.partition, priority);
  if (!stream) return stream.errors();
  Result<HandleOf<CUevent>> end = make_event();
  if (!end) return end.errors();
  if (!is_adopted) note_priority(stream->get(), priority);
  const auto sms = static_cast<std::uint32_t>(properties_.sms);
  const SmShare share = partitions_ ? partitions_->share_of(setup.partition) : SmShare{0, sms, sms};
  StreamWork work(driver_, *spend_, std::move(*stream), std::move(*end), static_cast<int>(share.count));
  const auto id = static_cast<StreamId>(streams_.size());
  StreamTarget target;
  target.cuda = reinterpret_cast<::CUstream_st*>(work.stream());
  target.share = share;
  target.device = this;
  target.stream = id;
  work.set_target(target);
  streams_.push_back(std::make_unique<StreamState>(std::move(work), share));
  return id;
}

// It stays the application's.
Result<HandleOf<CUstream>> CudaDevice::adopt_stream(const StreamSetup& setup, int priority) {
  if (setup.partition) {
    return Error{ErrorCode::conflict, Place{}, "a task with SMs of its own and a stream of the application's",
                 "one of the two", "Streams belong to a partition from the start: let the runtime make it."};
  }
  auto* const stream = reinterpret_cast<CUstream>(setup.cuda);
  const Result<StreamPriority> checked = check_stream(driver_, stream, priority);
  if (!checked) return checked.errors();
  if (!checked->is_expected()) notes_.push_back(fmt::format("stream {}: {}", streams_.size(), to_string(*checked)));
  return HandleOf<CUstream>(stream, GivesBack<CUstream>());
}

Result<int> CudaDevice::add_graph(StreamId stream, const std::function<void(::CUstream_st*)>& launches,
                                  ::CUgraph_st* made) {
  const InContext inside(context_);
  if (!inside.ok()) return failed("cuCtxSetCurrent", CUresult::invalid_context);
  StreamState& state = *streams_[stream];
  const auto capture = [&](CUstream into) { launches(reinterpret_cast<::CUstream_st*>(into)); };
  Result<CudaGraph> graph = launches ? CudaGraph::capture(driver_, state.work.stream(), capture)
                                     : CudaGraph::adopt(driver_, reinterpret_cast<CUgraph>(made), state.work.stream());
  if (!graph) return graph.errors();
  const GraphPriorities& priorities = graph->priorities();
  if (priorities.has_foreign() || priorities.unseen != 0) {
    notes_.push_back(fmt::format("stream {}: {}", stream, to_string(priorities)));
  }
  state.graphs.push_back(std::move(*graph));
  return static_cast<int>(state.graphs.size()) - 1;
}

void CudaDevice::note_priority(CUstream stream, int asked) {
  int granted = asked;
  const CUresult result = driver_->cuStreamGetPriority(stream, &granted);
  if (result == CUresult::success && granted == asked) return;
  notes_.push_back(result != CUresult::success
                       ? fmt::format("stream {}: its priority cannot be read back", streams_.size())
                       : fmt::format("stream {}: asked for priority {}, got {}", streams_.size(), asked, granted));
}

Result<HandleOf<CUstream>> CudaDevice::make_stream_on(std::optional<PartitionId> partition, int priority) {
  if (!partitions_) return make_stream(priority);
  Result<CUstream> stream = partitions_->create_stream(partition, priority);
  if (!stream) return stream.errors();
  return HandleOf<CUstream>(*stream, GivesBack<CUstream>());  // it ends with the partitions
}

Result<std::vector<Partition>> CudaDevice::add_partitions(std::span<const int> sms) {
  const InContext inside(context_);
  if (!inside.ok()) return failed("cuCtxSetCurrent", CUresult::invalid_context);
  if (partitions_ || !streams_.empty()) {
    return Error{ErrorCode::conflict, Place{}, "further SM partitions", "all at once, before the first stream", {}};
  }
  SmSplitOptions options;
  options.ignore_coscheduling = !options_.keep_coscheduled_sms;
  Result<SmPartitions> made = SmPartitions::split(driver_, device_, sms, options);
  if (!made) return made.errors();
  partitions_ = std::move(*made);
  notes_.push_back(partitions_->summary());
  return partitions_->partitions();
}

// An address of the device, not to be used by the host.
Result<std::span<std::byte>> CudaDevice::reserve(std::int64_t bytes) {
  if (bytes == 0) return std::span<std::byte>();
  const InContext inside(context_);
  if (!inside.ok()) return failed("cuCtxSetCurrent", CUresult::invalid_context);
  CUdeviceptr address = 0;
  const CUresult result = driver_->cuMemAlloc(&address, static_cast<std::size_t>(bytes));
  if (result != CUresult::success) {
    std::size_t free = 0;
    std::size_t total = 0;
    driver_->cuMemGetInfo(&free, &total);
    return Error{ErrorCode::limit, Place{}, fmt::format("{} bytes of device memory ({})", bytes, describe(result)),
                 fmt::format("at most what is free: {} of {} bytes", free, total),
                 "See with nvidia-smi who else uses the device."};
  }
  memory_.emplace_back(address, driver_->cuMemFree);
  auto* start = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  return std::span(start, static_cast<std::size_t>(bytes));
}

}  // namespace rtgpu::cuda
