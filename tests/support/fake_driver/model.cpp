#include "tests/support/fake_driver/model.h"

#include <cstdlib>
#include <sstream>

namespace rtgpu::cuda::fake {

thread_local CUcontext Model::current = nullptr;

Model& Model::instance() {
  static Model model;
  static const bool configured = (model.reset(), true);
  static_cast<void>(configured);
  return model;
}

void Model::reset() {
  settings = Settings();
  initialised = false;
  clock = 0;
  streams = {};
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
  current = nullptr;
  if (const char* text = std::getenv("RTGPU_FAKE_CUDA"); text != nullptr) {
    std::istringstream words(text);
    for (std::string word; words >> word;) change(settings, word);
  }
}

bool Model::configure(std::string_view setting) {
  if (!change(settings, setting)) return false;
  if (!settings.hold) complete_all();
  changed.notify_all();
  return true;
}

CUresult Model::refuses(std::string_view call, Needs needs) {
  if (const auto planned = settings.next_result.find(call); planned != settings.next_result.end()) {
    const CUresult result = planned->second;
    settings.next_result.erase(planned);
    return result;
  }
  if (needs == Needs::nothing) return CUresult::success;
  if (!initialised) return CUresult::not_initialized;
  if (settings.fault != CUresult::success) return settings.fault;
  if (needs == Needs::context && contexts.find(current) == nullptr) return CUresult::invalid_context;
  return CUresult::success;
}

CUgraphNode Model::find_node(CUgraphNode handle) const {
  for (const auto& graph : graphs.items()) {
    for (const auto& node : graph->nodes) {
      if (node.get() == handle) return handle;
    }
  }
  return nullptr;
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

void Model::submit(CUstream stream, const Operation& operation) {
  if (stream->capture != nullptr) {
    stream->capture->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{operation, stream->priority}));
    return;
  }
  stream->waiting.push_back(operation);
  if (!settings.hold) complete_all();
}

std::size_t Model::complete(CUstream stream, std::size_t most) {
  if (streams.find(stream) == nullptr) return 0;
  std::size_t done = 0;
  while (done < most && !stream->waiting.empty() && settings.fault == CUresult::success) {
    if (!stream->waiting.front().ready()) break;
    const Operation operation = std::move(stream->waiting.front());
    stream->waiting.pop_front();
    ++clock;
    ++done;
    operation.run(*this, stream, operation.priority.value_or(stream->priority));
  }
  changed.notify_all();
  return done;
}

void Model::complete_all() {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& stream : streams.items()) goes_on = complete(stream.get(), stream->waiting.size()) != 0 || goes_on;
  }
}

void Model::run_kernel(const FakeLaunch& launch, const std::vector<std::vector<std::byte>>& parameters) {
  if (settings.fault_at_launch != CUresult::success) {
    settings.fault = std::exchange(settings.fault_at_launch, CUresult::success);
    return;
  }
  launches.push_back(launch);
  const auto kernel = kernels.find(launch.kernel);
  if (kernel == kernels.end() || kernel->second.run == nullptr) return;
  std::vector<std::vector<std::byte>> copies = parameters;
  std::vector<void*> addresses;
  for (std::vector<std::byte>& copy : copies) addresses.push_back(copy.data());
  kernel->second.run(kernel->second.context, launch, addresses.data());
}

std::size_t Model::things_left() const {
  std::size_t left = streams.items().size() + events.items().size() + modules.items().size() + graphs.items().size() +
                     graph_execs.items().size() + green_contexts.items().size() + memory.size() + host_memory.size();
  for (const auto& [device, context] : primary) left += static_cast<std::size_t>(context->retained);
  return left;
}

}  // namespace rtgpu::cuda::fake
