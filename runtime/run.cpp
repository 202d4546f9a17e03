#include "runtime/run.h"

#include "runtime/machine/virtual_machine.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr Duration kCollectEvery = Duration::milliseconds(20);
// In virtual time nobody collects beside the run: it is done between two dispatches, now and then.
constexpr std::size_t kCollectDispatches = 256;

std::vector<ArbiterTask> arbiter_tasks(std::span<const std::unique_ptr<TaskRunner>> runners,
                                       std::span<const StreamId> streams) {
  std::vector<ArbiterTask> tasks;
  for (std::size_t task = 0; task < runners.size(); ++task) {
    const TaskSetup& setup = runners[task]->setup();
    tasks.push_back({streams[task], setup.lock_wait, setup.wait, setup.watchdog});
  }
  return tasks;
}

// By task: its place among all tasks, real-time ones first, then by priority.
std::vector<int> ranks_of(const Taskset& taskset) {
  std::vector<std::size_t> order(taskset.tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const Task& first = taskset.tasks[a];
    const Task& second = taskset.tasks[b];
    if (first.best_effort != second.best_effort) return second.best_effort;
    return first.priority > second.priority;
  });
  std::vector<int> ranks(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = static_cast<int>(rank);
  return ranks;
}

// What a job may need of its core, with a tenth more for what the runtime adds; nullopt: not declared.
std::optional<Duration> declared_execution(const Task& task) {
  Duration sum;
  for (const Segment& segment : task.segments) {
    const auto* gpu = std::get_if<GpuSegment>(&segment);
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) sum += cpu->time.max;
    if (gpu != nullptr) sum += gpu->misc.max;
    if (gpu != nullptr && gpu->exec && task.wait == WaitMode::busy) sum += gpu->exec->max;
  }
  if (sum == Duration()) return std::nullopt;
  return std::min(task.deadline, sum + Duration::nanoseconds(sum.count() / 10) + Duration::microseconds(100));
}

}  // namespace

// Counts a task's thread as ended, whatever ends it.
class Run::Ends {
 public:
  explicit Ends(Run& run) : run_(run) {}
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() { run_.task_ended(); }

 private:
  Run& run_;
};

Run::Run(Machine& machine, Device& device, std::span<const std::unique_ptr<TaskRunner>> runners, RunSetup setup)
    : machine_(machine),
      device_(device),
      setup_(std::move(setup)),
      arbiter_(machine, device, std::move(setup_.gpu_policy), arbiter_tasks(runners, setup_.streams),
               setup_.policy != Policy::stream_priority),
      tracer_(setup_.trace_events) {
  start_tasks(runners);
  start_services();
  if (setup_.measures && !machine.is_virtual()) start_samplers();
}

Run::~Run() {
  device_.stop();
}

void Run::start_tasks(std::span<const std::unique_ptr<TaskRunner>> runners) {
  const Gpu& gpu = setup_.taskset->platform.gpus.front();
  const bool is_update = setup_.policy == Policy::gcaps || setup_.policy == Policy::gcaps_wc;
  const RunContext context{machine_, device_, arbiter_, setup_.horizon, setup_.draws ? &*setup_.draws : nullptr,
                           // A lock takes what it takes; an update of the runlist is emulated.
                           machine_.is_virtual() || is_update,
                           device_.properties().emulated ? gpu.overheads.launch : Duration(), gpu.sms, setup_.streams};
  const std::vector<int> ranks = ranks_of(*setup_.taskset);
  tasks_left_.store(runners.size(), std::memory_order_relaxed);
  for (std::size_t task = 0; task < runners.size(); ++task) {
    TaskRunner& runner = *runners[task];
    runner.prepare(context, tracer_.add_ring());
    ThreadSetup thread;
    thread.name = runner.setup().name;
    thread.task = task;
    thread.core = runner.setup().cpu;
    thread.rank = ranks[task];
    thread.best_effort = runner.setup().best_effort;
    thread.execution = declared_execution(setup_.taskset->tasks[task]);
    thread.deadline = runner.setup().deadline;
    thread.period = runner.setup().period;
    machine_.start(std::move(thread), [this, &runner] {
      const Ends ends(*this);
      runner.run();
    });
  }
}

void Run::start_services() {
  device_trace_ = &tracer_.add_ring();
  arbiter_.trace_device_events_into(*device_trace_);
  const GpuPolicy& policy = arbiter_.policy();
  device_.time_work(setup_.trace_events != 0);
  device_.start(machine_, arbiter_, {policy.boundary_kind(), policy.time_slice()});
  ThreadSetup device;
  device.name = "gpu";
  machine_.start(std::move(device), [this] { arbiter_.serve(*device_trace_); });
  if (setup_.trace_events == 0) return;
  core_trace_ = &tracer_.add_ring();
  if (auto* virtual_machine = dynamic_cast<VirtualMachine*>(&machine_)) {
    virtual_machine->on_dispatch([this](int core, std::size_t task) { on_dispatch(core, task); });
    return;
  }
  ThreadSetup collector;
  collector.name = "trace";
  collector.real_time = false;
  machine_.start(std::move(collector), [this] { collect_now_and_then(); });
}

void Run::start_samplers() {
  std::set<int> cores;
  for (const Task& task : setup_.taskset->tasks) cores.insert(task.cpu);
  for (const int core : cores) {
    LatencySampler& sampler = *samplers_.emplace_back(std::make_unique<LatencySampler>(core));
    ThreadSetup thread;
    thread.name = fmt::format("sampler {}", core);
    thread.beside = core;
    machine_.start(std::move(thread), [this, &sampler] { sampler.run(machine_); });
  }
}

MeasuredOverheads Run::measured(std::span<const std::unique_ptr<TaskRunner>> runners) const {
  const auto without_lost = [](Duration latency) { return std::min(latency, LatencySampler::kNoted); };
  MeasuredOverheads measured;
  measured.wake_up.resize(static_cast<std::size_t>(setup_.taskset->platform.cpus));
  measured.lost.resize(measured.wake_up.size());
  const std::vector<int> ranks = ranks_of(*setup_.taskset);
  for (const auto& sampler : samplers_) {
    const std::span<const Lateness> late = sampler->late().seen();
    measured.lost[static_cast<std::size_t>(sampler->core())].assign(late.begin(), late.end());
    measured.complete = measured.complete && !sampler->late().is_full();
  }
  std::vector<std::size_t> highest(measured.wake_up.size(), runners.size());
  for (std::size_t task = 0; task < runners.size(); ++task) {
    const TaskRunner& runner = *runners[task];
    measured.overshoot.push_back(runner.overshoot());
    std::size_t& top = highest.at(static_cast<std::size_t>(runner.setup().cpu));
    if (top == runners.size() || ranks[task] < ranks[top]) top = task;
  }
  for (std::size_t core = 0; core < highest.size(); ++core) {
    if (highest[core] == runners.size()) continue;
    const TaskStatistics& seen = runners[highest[core]]->statistics();
    measured.wake_up[core] =
        without_lost(std::max({seen.release_latency.max(), seen.grant_latency.max(), seen.completion_latency.max()}));
  }
  // A device that is looked at now and then is late by that much as well.
  measured.device_latency = without_lost(arbiter_.device_latency().max()) + device_.properties().seen_within;
  measured.device_handling = without_lost(arbiter_.device_handling().max());
  measured.device_execution = arbiter_.device_execution();
  measured.complete = measured.complete && !measured.device_execution.is_full();
  const std::span<const Lateness> late = arbiter_.device_late().seen();
  measured.device_lost.assign(late.begin(), late.end());
  measured.complete = measured.complete && !arbiter_.device_late().is_full();
  return measured;
}

Errors Run::execute() {
  Errors errors = machine_.run();
  device_.stop();
  end_ = machine_.now();
  tracer_.collect();
  return errors;
}

Trace Run::take_trace() {
  Trace trace = tracer_.take(end_);
  if (setup_.trace_events == 0) return trace;
  DeviceTimes times = device_.take_times();
  trace.dropped += times.missed;
  trace.device_times = std::move(times.intervals);
  trace.device_clock = std::move(times.statement);
  return trace;
}

// The threads of the runtime end with the last task's.
void Run::task_ended() {
  if (tasks_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  device_.stop();
  arbiter_.stop_serving();
  machine_.notify(collector_signal_);
  for (const auto& sampler : samplers_) sampler->stop(machine_);
}

void Run::collect_now_and_then() {
  device_.enter_thread();
  while (tasks_left_.load(std::memory_order_acquire) > 0) {
    machine_.wait(collector_signal_, Waiting::suspended, machine_.now() + kCollectEvery);
    tracer_.collect();
    device_.follow_clock();
  }
}

void Run::on_dispatch(int core, std::size_t task) {
  const TaskId id = task == Machine::kNoTask ? kNobody : static_cast<TaskId>(task);
  core_trace_->write(
      {machine_.now().count(), machine_.order(), 0, 0, id, static_cast<std::uint16_t>(core), TraceKind::dispatch});
  if (++dispatches_ % kCollectDispatches != 0) return;
  tracer_.collect();
  device_.follow_clock();
}

}  // namespace rtgpu
