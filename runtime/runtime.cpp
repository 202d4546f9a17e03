#include "runtime/runtime.h"

#include "analysis/simulation/simulator.h"
#include "runtime/device/host/timed_device.h"
#include "runtime/device/make_device.h"
#include "runtime/machine/real_machine.h"
#include "runtime/machine/virtual_machine.h"
#include "runtime/measured.h"
#include "runtime/model.h"
#include "runtime/run.h"
#include "runtime/runnable_policies.h"
#include "runtime/task_runner.h"
#include "runtime/trace/nvtx.h"
#include "runtime/trace/run_chrome_trace.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::string text_of(const Errors& errors) {
  std::vector<std::string> lines;
  for (const Error& error : errors) lines.push_back(to_string(error));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

Error refused(std::string found, std::string expected, std::string advice = {}) {
  return Error{ErrorCode::conflict, Place{}, std::move(found), std::move(expected), std::move(advice)};
}

Policy policy_named(const std::string& name) {
  const std::optional<Policy> policy = parse_policy(name);
  if (policy) return *policy;
  std::vector<std::string_view> names;
  for (const Policy each : all_policies()) names.push_back(to_string(each));
  const std::string_view near = nearest(name, names);
  throw SetupError({Error{ErrorCode::value, Place{}, fmt::format("policy '{}'", name),
                          fmt::format("one of {}", fmt::join(names, ", ")),
                          near.empty() ? std::string() : fmt::format("Did you mean '{}'?", near)}});
}

std::unique_ptr<Device> device_named(const RuntimeOptions& options) {
  Result<std::unique_ptr<Device>> made =
      make_device(options.device, TimedDevice::properties_of(options.gpu), options.cuda);
  if (!made) throw SetupError(made.errors());
  return std::move(*made);
}

Error not_usable(GpuStatus status) {
  const bool forked = status == GpuStatus::forked;
  return Error{ErrorCode::environment, Place{}, std::string(to_string(status)), "a device that can be used",
               forked ? "Make the runtime in the process that uses it." : "Start the process again."};
}

// A policy that takes the GPU away from running work needs a device that lets it be taken away.
void check_policy(Policy policy, const DeviceProperties& device) {
  if (auto missing = missing_for(policy)) throw SetupError({std::move(*missing)});
  const bool preempts = policy == Policy::gcaps || policy == Policy::gcaps_wc || policy == Policy::tsg_rr;
  if (!preempts || device.preempts) return;
  throw SetupError(
      {Error{ErrorCode::unsupported, Place{}, fmt::format("policy {} on {}", to_string(policy), device.name),
             "mpcp, fmlp+ or stream-priority",
             "From user space, work that runs there can be interrupted at the ends of slices alone."}});
}

// What is known of a real device, in place of what is not said or cannot be.
Gpu described(Gpu gpu, const DeviceProperties& device) {
  gpu.server_cpu = Gpu{}.server_cpu;  // there is no server, on whatever core
  if (device.emulated) return gpu;
  if (gpu.name.empty()) gpu.name = device.name;
  if (!gpu.sms) gpu.sms = device.sms;
  if (!gpu.memory) gpu.memory = device.memory;
  gpu.copy_engines = device.copy_engines;
  gpu.stream_priorities = std::min(gpu.stream_priorities.value_or(device.stream_levels), device.stream_levels);
  return gpu;
}

// Leaves out what is not of the first `count` tasks.
void forget_tasks_from(Admission& admission, std::size_t count) {
  admission.schedulable = admission.errors.empty() && admission.analysis;
  if (!admission.analysis) return;
  AnalysisResult& analysis = *admission.analysis;
  std::erase_if(analysis.tasks, [count](const TaskResult& task) { return task.task >= count; });
  std::erase_if(analysis.gpu_priority_order, [count](TaskIndex task) { return task >= count; });
  if (analysis.stream_levels.size() > count) analysis.stream_levels.resize(count);
  analysis.schedulable = std::ranges::all_of(analysis.tasks, [](const TaskResult& task) { return task.schedulable(); });
  admission.schedulable = admission.schedulable && analysis.schedulable;
}

}  // namespace

SetupError::SetupError(Errors errors) : std::runtime_error(text_of(errors)), errors_(std::move(errors)) {}

const std::string& TaskHandle::name() const {
  return runner_->setup().name;
}
void TaskHandle::trigger() {
  runner_->trigger();
}
std::int64_t TaskHandle::jobs() const {
  return runner_->live().jobs;
}
std::int64_t TaskHandle::misses() const {
  return runner_->live().misses;
}
Duration TaskHandle::max_response() const {
  return runner_->live().max_response;
}

struct Runtime::State {
  RuntimeOptions options;
  Policy policy;
  std::unique_ptr<Device> device;
  Taskset taskset;
  std::vector<std::unique_ptr<TaskRunner>> runners;
  std::deque<TaskHandle> handles;
  std::vector<std::string> undeclared;  // tasks without segments
  std::optional<Scenario> scenario;
  std::vector<StreamId> streams;
  bool has_run = false;

  // What the last run and the last admission left.
  mutable std::vector<std::optional<Duration>> bounds;
  std::vector<int> levels;
  std::vector<std::string> notes;
  RealtimeReport realtime;
  Trace trace;
  Duration length;
  bool device_lost = false;
  std::optional<MeasuredOverheads> measured;

  std::atomic<bool> stop_requested = false;
  std::atomic<bool> running = false;
  std::atomic<int> stopping = 0;  // calls of stop() that look at a run

  State(RuntimeOptions options_of, std::unique_ptr<Device> device_of)
      : options(std::move(options_of)), policy(policy_named(options.policy)), device(std::move(device_of)) {
    check_policy(policy, device->properties());
    taskset.platform.gpus = {described(options.gpu, device->properties())};
    taskset.ties = Ties::by_order;
    attach_nvtx();
  }

  class Running;
  bool records() const { return options.keep_trace || !options.trace.empty(); }
  void add(TaskSetup setup, Body body);
  void check_setup(const TaskSetup& setup) const;
  std::unique_ptr<GpuPolicy> make_gpu_policy() const;
  std::vector<std::optional<PartitionId>> add_partitions();
  void prepare_device(const GpuPolicy& gpu_policy);
  void add_graphs(const TaskSetup& setup, StreamId stream) const;
  bool may_use_gpu(std::size_t task) const;
  void note_levels();
  void note_equal_priorities();
  Errors execute(Duration time);
  void write_trace() const;
};

// While a run goes on, stop() and trigger() reach its machine, whatever ends it.
class Runtime::State::Running {
 public:
  explicit Running(State& state) : state_(state) { state_.running.store(true); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    state_.running.store(false);
    while (state_.stopping.load() > 0) std::this_thread::yield();
    state_.stop_requested.store(false);
    for (const auto& runner : state_.runners) runner->retire();
  }

 private:
  State& state_;
};

Runtime::Runtime(RuntimeOptions options) {
  std::unique_ptr<Device> device = device_named(options);
  state_ = std::make_unique<State>(std::move(options), std::move(device));
}

Runtime::Runtime(RuntimeOptions options, std::unique_ptr<Device> device)
    : state_(std::make_unique<State>(std::move(options), std::move(device))) {}

Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;
Runtime::~Runtime() = default;

TaskHandle& Runtime::add_task(TaskSetup setup, Body body) {
  if (!body) throw SetupError({refused("no function for the jobs of '" + setup.name + "'", "one")});
  state_->add(std::move(setup), std::move(body));
  return state_->handles.back();
}

void Runtime::add_taskset(const Taskset& taskset, std::optional<Scenario> scenario) {
  if (scenario && !state_->runners.empty()) {
    throw SetupError({refused("a scenario for a part of the tasks", "one for all of them")});
  }
  state_->taskset.platform.cpus = std::max(state_->taskset.platform.cpus, taskset.platform.cpus);
  for (std::size_t task = 0; task < taskset.tasks.size(); ++task) {
    TaskSetup setup = setup_of(taskset.tasks[task]);
    if (scenario) setup.offset = scenario->tasks.at(task).offset;
    state_->add(std::move(setup), {});
  }
  state_->scenario = std::move(scenario);
}

std::size_t Runtime::task_count() const {
  return state_->handles.size();
}

const TaskHandle& Runtime::task(std::size_t index) const {
  return state_->handles.at(index);
}

const Taskset& Runtime::taskset() const {
  return state_->taskset;
}

const DeviceProperties& Runtime::device() const {
  return state_->device->properties();
}

Admission Runtime::admit(WaitChoice wait) const {
  Admission admission =
      rtgpu::admit(state_->taskset, state_->policy, wait, state_->device->properties().memory, state_->undeclared);
  state_->bounds.clear();
  for (TaskIndex task = 0; task < state_->runners.size(); ++task) state_->bounds.push_back(admission.bound(task));
  return admission;
}

const std::optional<MeasuredOverheads>& Runtime::measured() const {
  return state_->measured;
}

Admission Runtime::admit_as_measured(WaitChoice wait) const {
  if (!state_->measured) {
    Admission admission;
    admission.taskset = state_->taskset;
    admission.errors = {refused("no measurements", "a run on a real machine, with `measure`")};
    return admission;
  }
  Admission admission = rtgpu::admit(with_overheads(state_->taskset, *state_->measured), state_->policy, wait,
                                     state_->device->properties().memory, state_->undeclared);
  if (!state_->measured->complete) {
    admission.errors.push_back(refused("more lost time than could be noted", "a machine that is late less often"));
  }
  forget_tasks_from(admission, state_->runners.size());
  state_->bounds.clear();
  for (TaskIndex task = 0; task < state_->runners.size(); ++task) state_->bounds.push_back(admission.bound(task));
  return admission;
}

void Runtime::run_for(Duration time) {
  if (state_->running.load()) throw SetupError({refused("a second run at once", "one at a time")});
  const Errors errors = state_->execute(time);
  if (!errors.empty()) throw SetupError(errors);
}

// Only atomics and the system calls of notify(): safe in a signal handler. The count keeps the run from ending, and its
// machine from going, while a call looks at it.
void Runtime::stop() {
  State& state = *state_;
  state.stop_requested.store(true);
  state.stopping.fetch_add(1);
  if (state.running.load()) {
    for (const auto& runner : state.runners) runner->stop();
  }
  state.stopping.fetch_sub(1);
}

RunReport Runtime::report() const {
  const State& state = *state_;
  RunReport report;
  report.policy = state.policy;
  report.device = state.device->properties().name;
  report.virtual_time = state.options.virtual_time;
  report.length = state.length;
  report.device_lost = state.device_lost;
  report.trace_events_dropped = state.trace.dropped;
  report.realtime = state.realtime;
  report.notes = state.notes;
  for (std::string& note : state.device->notes()) report.notes.push_back(std::move(note));
  for (std::size_t task = 0; task < state.runners.size(); ++task) {
    const TaskRunner& runner = *state.runners[task];
    TaskReport each;
    each.name = runner.setup().name;
    each.best_effort = runner.setup().best_effort;
    each.deadline = runner.setup().deadline;
    if (task < state.bounds.size()) each.bound = state.bounds[task];
    if (task < state.levels.size()) each.stream_level = state.levels[task];
    each.seen = runner.statistics();
    report.tasks.push_back(std::move(each));
  }
  return report;
}

const Trace& Runtime::trace() const {
  return state_->trace;
}

void Runtime::State::check_setup(const TaskSetup& setup) const {
  if (running.load()) throw SetupError({refused("a task added while running", "all tasks before the run")});
  if (has_run) {
    throw SetupError({refused("a task added after a run", "all tasks before the first run", "Make another runtime.")});
  }
  if (setup.released_by == ReleasedBy::file && (setup.release_file < 0 || options.virtual_time)) {
    throw SetupError({refused(options.virtual_time ? "a release file in virtual time" : "no release file",
                              "a file descriptor, and real time")});
  }
  if (setup.offset < Duration() || setup.cpu_budget <= Duration() || setup.watchdog <= Duration()) {
    throw SetupError({refused("an offset below 0, or a budget or watchdog of 0 or less, of '" + setup.name + "'",
                              "an offset of at least 0, a budget and a watchdog above 0")});
  }
  if (setup.launches == 0) {
    throw SetupError({refused("no launches in a GPU segment of '" + setup.name + "'", "room for one at least")});
  }
}

void Runtime::State::add(TaskSetup setup, Body body) {
  check_setup(setup);
  Taskset grown = taskset;
  grown.tasks.push_back(task_of(setup));
  grown.platform.cpus = std::max(grown.platform.cpus, setup.cpu + 1);
  const Errors errors = validate(grown);
  if (!errors.empty()) throw SetupError(errors);
  setup.deadline = grown.tasks.back().deadline;
  setup.gpu_priority = grown.tasks.back().gpu_priority;
  if (setup.segments.empty()) undeclared.push_back(setup.name);
  const auto id = static_cast<TaskId>(runners.size());
  runners.push_back(std::make_unique<TaskRunner>(id, std::move(setup), std::move(body)));
  handles.emplace_back(*runners.back());
  taskset = std::move(grown);
}

std::unique_ptr<GpuPolicy> Runtime::State::make_gpu_policy() const {
  PolicySetup setup = policy_setup(taskset);
  for (std::size_t task = 0; task < setup.tasks.size(); ++task) setup.tasks[task].uses_gpu = may_use_gpu(task);
  Result<std::unique_ptr<GpuPolicy>> made = make_policy(policy, std::move(setup));
  if (!made) throw SetupError(made.errors());
  return std::move(*made);
}

// The partition of each task, if it asks for one.
std::vector<std::optional<PartitionId>> Runtime::State::add_partitions() {
  std::vector<int> sms;
  for (const auto& runner : runners) {
    if (runner->setup().sms) sms.push_back(*runner->setup().sms);
  }
  std::vector<std::optional<PartitionId>> of_tasks(runners.size());
  if (sms.empty()) return of_tasks;
  const Result<std::vector<Partition>> made = device->add_partitions(sms);
  if (!made) throw SetupError(made.errors());
  auto partition = made->begin();
  for (std::size_t task = 0; task < runners.size(); ++task) {
    const TaskSetup& setup = runners[task]->setup();
    if (!setup.sms) continue;
    if (partition->sms != *setup.sms) {
      notes.push_back(fmt::format("{}: asked for {} SMs, got {}", setup.name, *setup.sms, partition->sms));
    }
    of_tasks[task] = (partition++)->id;
  }
  return of_tasks;
}

// Streams, partitions and memory are set aside once, before the first release.
void Runtime::State::prepare_device(const GpuPolicy& gpu_policy) {
  if (has_run) return;
  const Errors errors = memory_errors(taskset, device->properties().memory);
  if (!errors.empty()) throw SetupError(errors);
  const std::vector<std::optional<PartitionId>> partitions = add_partitions();
  for (std::size_t task = 0; task < runners.size(); ++task) {
    const TaskSetup& setup = runners[task]->setup();
    StreamSetup stream;
    levels.push_back(gpu_policy.level(static_cast<TaskId>(task)));
    stream.level = levels.back();
    stream.partition = partitions[task];
    stream.cuda = setup.cuda_stream;
    streams.push_back(kNoStream);
    // A real device has only so many SMs, and none may be left for whoever does not use them.
    if (may_use_gpu(task) || device->properties().emulated) {
      Result<StreamId> made = device->add_stream(stream);
      if (!made) throw SetupError(made.errors());
      streams.back() = *made;
    }
    add_graphs(setup, streams.back());
    if (!setup.memory) continue;
    Result<std::span<std::byte>> memory = device->reserve(*setup.memory);
    if (!memory) throw SetupError(memory.errors());
    runners[task]->set_memory(*memory);
  }
  note_levels();
  note_equal_priorities();
  if (options.realtime.scheduler == Scheduler::deadline && !options.virtual_time) {
    notes.emplace_back("SCHED_DEADLINE: tasks are neither pinned nor boosted, so that no bound of the analysis holds");
  }
}

void Runtime::State::add_graphs(const TaskSetup& setup, StreamId stream) const {
  for (const TaskGraph& graph : setup.graphs) {
    if (!graph.launches && graph.made == nullptr) {
      throw SetupError({refused("a graph of '" + setup.name + "' that is neither captured nor made", "one of both")});
    }
    if (stream == kNoStream) {
      throw SetupError({refused("a graph of '" + setup.name + "', which declares no GPU segment", "a GPU segment")});
    }
    const Result<int> made = device->add_graph(stream, graph.launches, graph.made);
    if (!made) throw SetupError(made.errors());
  }
}

// Whoever declares nothing may do anything.
bool Runtime::State::may_use_gpu(std::size_t task) const {
  return runners[task]->setup().segments.empty() || uses_gpu(taskset.tasks[task]);
}

void Runtime::State::note_levels() {
  if (policy != Policy::stream_priority) return;
  std::set<int> used;
  std::size_t users = 0;
  for (std::size_t task = 0; task < levels.size(); ++task) {
    if (!may_use_gpu(task)) continue;
    used.insert(levels[task]);
    ++users;
  }
  if (used.size() == users) return;
  notes.push_back(fmt::format("{} tasks share {} stream levels: those of one level are served in order of submission",
                              users, used.size()));
}

void Runtime::State::note_equal_priorities() {
  std::set<std::pair<bool, int>> seen;
  std::set<std::pair<bool, int>> seen_on_gpu;
  for (std::size_t index = 0; index < taskset.tasks.size(); ++index) {
    const Task& task = taskset.tasks[index];
    const bool is_new_on_gpu = !may_use_gpu(index) || seen_on_gpu.emplace(task.best_effort, task.gpu_priority).second;
    if (!seen.emplace(task.best_effort, task.priority).second) {
      notes.push_back(
          fmt::format("{}: has the priority of an earlier task, {}, and ranks below it", task.name, task.priority));
    } else if (!is_new_on_gpu) {
      notes.push_back(fmt::format("{}: has the GPU priority of an earlier task, {}, and ranks below it", task.name,
                                  task.gpu_priority));
    }
  }
}

Errors Runtime::State::execute(Duration time) {
  if (runners.empty()) return {refused("no task", "one at least before the run")};
  if (options.virtual_time && (time.is_infinite() || !device->properties().virtual_time)) {
    return {refused(time.is_infinite() ? "an endless run in virtual time" : "virtual time on a device that computes",
                    "a length, and a device whose work takes its declared time")};
  }
  std::unique_ptr<GpuPolicy> gpu_policy = make_gpu_policy();
  prepare_device(*gpu_policy);
  if (const GpuStatus usable = device->usable(); usable != GpuStatus::ok) return {not_usable(usable)};
  has_run = true;
  std::unique_ptr<Machine> machine;
  if (options.virtual_time) {
    machine = std::make_unique<VirtualMachine>(taskset.platform.cpus);
  } else {
    machine = std::make_unique<RealMachine>(options.realtime);
  }
  RunSetup setup;
  setup.taskset = &taskset;
  setup.policy = policy;
  setup.gpu_policy = std::move(gpu_policy);
  setup.streams = streams;
  setup.horizon = time;
  if (scenario) setup.draws.emplace(*scenario);
  setup.trace_events = records() ? options.trace_events : 0;
  setup.measures = options.measure;
  Errors errors;
  {
    Run run(*machine, *device, runners, std::move(setup));
    {
      const Running goes_on(*this);
      if (stop_requested.exchange(false)) {
        for (const auto& runner : runners) runner->stop();
      }
      errors = run.execute();
    }
    length = machine->now();
    device_lost = run.device_lost();
    trace = run.take_trace();
    measured.reset();
    if (options.measure && !options.virtual_time && errors.empty()) measured = run.measured(runners);
  }
  if (const auto* real = dynamic_cast<const RealMachine*>(machine.get())) realtime = real->realtime();
  if (errors.empty() && !options.trace.empty()) write_trace();
  return errors;
}

void Runtime::State::write_trace() const {
  std::ofstream file(options.trace);
  RunTraceInfo info;
  info.title = fmt::format("{} on {}", to_string(policy), device->properties().name);
  info.clock = options.virtual_time ? RunClock::virtual_time : RunClock::monotonic;
  write_run_chrome_trace(file, trace, taskset, info);
  file.flush();
  if (file) return;
  throw SetupError(
      {Error{ErrorCode::io, Place{options.trace, {}, 0, 0}, std::strerror(errno), "a file to write to", {}}});
}

}  // namespace rtgpu
