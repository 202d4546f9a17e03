#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace rtgpu::testing {

std::int64_t uniform(std::mt19937_64& engine, std::int64_t low, std::int64_t high) {
  const auto span = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<std::int64_t>(engine() % span);
}

bool chance(std::mt19937_64& engine, int percent) {
  return uniform(engine, 0, 99) < percent;
}

namespace {

// Makes the parts of one taskset.
class Maker {
 public:
  Maker(std::mt19937_64& engine, const RandomOptions& options) : engine_(engine), options_(options) {}

  Taskset taskset();

 private:
  std::int64_t grain() const { return options_.grain.count(); }
  bool maybe(int percent) { return chance(engine_, percent); }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return uniform(engine_, low, high); }
  int pick_int(int low, int high) { return static_cast<int>(pick(low, high)); }

  // Between low and high, on the grain; at least one grain.
  Duration time(Duration low, Duration high);
  ExecutionTime execution(std::int64_t grains);
  std::vector<std::int64_t> split(std::int64_t total, std::size_t parts);

  Platform platform();
  Overheads overheads();
  void add_gpu_features(Platform& platform);
  Task task(int index, std::int64_t utilisation_ppm);
  void add_segments(Task& task, std::int64_t grains);
  GpuSegment gpu_segment(std::int64_t grains);
  void set_waits(Task& task);
  void set_priorities(std::vector<Task>& tasks);
  std::vector<std::size_t> shuffled(std::size_t count);

  void add_features(Taskset& taskset);
  void add_features(Task& task);
  void add_features(GpuSegment& segment);
  void give_by_sms(GpuSegment& segment);
  void give_parallel(GpuSegment& segment);
  ExecutionTime scaled(ExecutionTime time, std::int64_t parts, std::int64_t of) const;

  std::mt19937_64& engine_;
  const RandomOptions& options_;
};

Duration Maker::time(Duration low, Duration high) {
  const std::int64_t first = std::max<std::int64_t>(1, low.count() / grain());
  const std::int64_t last = std::max(first, high.count() / grain());
  return options_.grain * pick(first, last);
}

ExecutionTime Maker::execution(std::int64_t grains) {
  const std::int64_t least = options_.best_case_below_worst ? pick(0, grains) : grains;
  return {options_.grain * least, options_.grain * grains};
}

// A uniform point of the simplex, as UUniFast gives, in whole numbers: the gaps between sorted cuts. Each at least 1.
std::vector<std::int64_t> Maker::split(std::int64_t total, std::size_t parts) {
  std::vector<std::int64_t> cuts = {0, total};
  while (cuts.size() < parts + 1) cuts.push_back(pick(0, total));
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 0; i < parts; ++i) gaps.push_back(std::max<std::int64_t>(1, cuts[i + 1] - cuts[i]));
  return gaps;
}

Overheads Maker::overheads() {
  return {.runlist_update = time(Duration::microseconds(100), Duration::milliseconds(1)),
          .context_switch = time(Duration::microseconds(50), Duration::microseconds(300)),
          .time_slice = time(Duration::microseconds(500), Duration::milliseconds(2)),
          .launch = time(Duration::microseconds(1), Duration::microseconds(20)),
          .lock = time(Duration::microseconds(1), Duration::microseconds(50))};
}

Platform Maker::platform() {
  Platform platform;
  platform.cpus = options_.cpus;
  if (options_.overheads) platform.gpus.front().overheads = overheads();
  if (options_.every_feature) add_gpu_features(platform);
  return platform;
}

void Maker::add_gpu_features(Platform& platform) {
  if (maybe(30)) platform.gpus.emplace_back().name = maybe(50) ? "gpu1" : "second/~ \"gpu\"";
  for (Gpu& gpu : platform.gpus) {
    if (maybe(50)) gpu.sms = pick_int(1, 128);
    if (maybe(50)) gpu.copy_engines = pick_int(1, 4);
    if (maybe(50)) gpu.memory = pick(0, 1'000'000'000'000);
    if (maybe(50)) gpu.stream_priorities = pick_int(1, 6);
    if (maybe(50)) gpu.server_cpu = pick_int(0, platform.cpus - 1);
    if (maybe(50)) gpu.overheads.lock = time({}, Duration::milliseconds(1));
  }
}

GpuSegment Maker::gpu_segment(std::int64_t grains) {
  const std::int64_t misc = grains * pick(10, 30) / 100;
  GpuSegment segment;
  segment.misc = execution(misc);
  segment.exec = execution(std::max<std::int64_t>(1, grains - misc));
  return segment;
}

// CPU segments around and between the GPU segments. G/C is uniform in [0.2, 2].
void Maker::add_segments(Task& task, std::int64_t grains) {
  if (!maybe(options_.gpu_percent)) {
    task.segments.emplace_back(CpuSegment{execution(grains)});
    return;
  }
  const std::int64_t ratio = pick(20, 200);
  const std::int64_t gpu = grains * ratio / (100 + ratio);
  const auto count = static_cast<std::size_t>(pick(1, options_.max_gpu_segments));
  const std::vector<std::int64_t> gpu_parts = split(gpu, count);
  const std::vector<std::int64_t> cpu_parts = split(grains - gpu, count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    task.segments.emplace_back(CpuSegment{execution(cpu_parts[i])});
    task.segments.emplace_back(gpu_segment(gpu_parts[i]));
  }
  task.segments.emplace_back(CpuSegment{execution(cpu_parts[count])});
}

void Maker::set_waits(Task& task) {
  using Waits = RandomOptions::Waits;
  const bool busy = options_.waits == Waits::busy || (options_.waits == Waits::mixed && maybe(50));
  task.wait = busy ? WaitMode::busy : WaitMode::suspend;
  if (options_.waits == Waits::mixed && maybe(50)) task.lock_wait = LockWait::spin;
}

Task Maker::task(int index, std::int64_t utilisation_ppm) {
  Task task;
  task.name = "task" + std::to_string(index);
  task.cpu = index % options_.cpus;
  task.period = time(Duration::milliseconds(options_.min_period_ms), Duration::milliseconds(options_.max_period_ms));
  task.best_effort = maybe(options_.best_effort_percent);
  const std::int64_t periods = task.period.count() / grain();
  const bool shorter = options_.constrained_deadlines && !task.best_effort;
  task.deadline = shorter ? options_.grain * pick((periods + 1) / 2, periods) : task.period;
  if (options_.jitter) task.jitter = options_.grain * pick(0, task.deadline.count() / grain() / 10);
  set_waits(task);
  add_segments(task, std::max<std::int64_t>(1, periods * utilisation_ppm / 1'000'000));
  return task;
}

// Fisher and Yates.
std::vector<std::size_t> Maker::shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(i) - 1))]);
  }
  return order;
}

void Maker::set_priorities(std::vector<Task>& tasks) {
  std::vector<std::size_t> order = shuffled(tasks.size());
  if (options_.order == RandomOptions::Order::deadline_monotonic) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(tasks[a].deadline, tasks[a].period) < std::tie(tasks[b].deadline, tasks[b].period);
    });
  }
  int priority = static_cast<int>(tasks.size());
  for (const std::size_t i : order) tasks[i].priority = tasks[i].gpu_priority = priority--;
  if (!options_.separate_gpu_priorities) return;
  priority = static_cast<int>(tasks.size());
  for (const std::size_t i : shuffled(tasks.size())) tasks[i].gpu_priority = priority--;
}

Taskset Maker::taskset() {
  Taskset taskset;
  taskset.platform = platform();
  const int cpus = options_.cpus;
  std::vector<std::vector<std::int64_t>> shares;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const int count = (options_.tasks - cpu + cpus - 1) / cpus;
    shares.push_back(count > 0
                         ? split(std::int64_t{options_.utilisation_percent} * 10'000, static_cast<std::size_t>(count))
                         : std::vector<std::int64_t>{});
  }
  for (int i = 0; i < options_.tasks; ++i) {
    const auto cpu = static_cast<std::size_t>(i % cpus);
    taskset.tasks.push_back(task(i, shares[cpu][static_cast<std::size_t>(i / cpus)]));
  }
  set_priorities(taskset.tasks);
  if (options_.every_feature) add_features(taskset);
  return taskset;
}

void Maker::add_features(Taskset& taskset) {
  const int shift = pick_int(-1'000'000, 1'000'000);
  if (shift % 2 == 0) {
    const std::int64_t size = std::abs(shift);
    taskset.origin = Origin{.generator = "random \"\u00e9\"", .seed = ~static_cast<std::uint64_t>(size)};
    if (shift % 4 == 0) taskset.origin->index = size;
    if (shift % 8 == 0) taskset.origin->parameters = {"cpus=2", "\n"};
    if (shift > 0) taskset.origin->requested = taskset.origin->achieved = {0, size, 1'000'000'000'000};
  }
  for (Task& task : taskset.tasks) {
    task.priority += shift;
    task.gpu_priority += shift;
    add_features(task);
  }
  if (!maybe(30)) return;
  taskset.ties = Ties::by_order;
  for (Task& task : taskset.tasks) {
    if (maybe(50)) task.priority = task.gpu_priority = shift;
  }
}

void Maker::add_features(Task& task) {
  constexpr std::array<const char*, 6> kSuffixes = {"",    " \"quoted\"", "/~\\", "\n\t\x01", "\u00e9\u4e2d\U0001f600",
                                                    "\x7f"};
  task.name += kSuffixes[static_cast<std::size_t>(pick(0, 5))];
  if (maybe(30)) task.memory = maybe(50) ? pick(0, 1'000'000'000) : pick(0, 64) << 28;
  if (maybe(30)) task.lock_wait = LockWait::spin;
  for (Segment& segment : task.segments) {
    if (auto* gpu = std::get_if<GpuSegment>(&segment)) add_features(*gpu);
  }
  if (!maybe(30)) return;
  const auto direction = maybe(50) ? CopyDirection::to_device : CopyDirection::to_host;
  const CopySegment copy{execution(pick(0, 1'000'000'000 / grain())), direction};
  task.segments.insert(task.segments.begin() + pick(0, static_cast<std::int64_t>(task.segments.size())), copy);
}

void Maker::add_features(GpuSegment& segment) {
  if (maybe(30)) segment.block = time({}, Duration::milliseconds(1));
  if (maybe(30)) segment.slices = pick_int(1, 20);
  if (maybe(30)) give_parallel(segment);
  if (maybe(30)) give_by_sms(segment);
  if (segment.parallel && maybe(30)) {
    segment.exec.reset();
    segment.exec_by_sms.clear();
  }
}

ExecutionTime Maker::scaled(ExecutionTime time, std::int64_t parts, std::int64_t of) const {
  const auto scale = [&](Duration value) { return options_.grain * (value.count() / grain() * parts / of); };
  return {scale(time.min), scale(time.max)};
}

// Replaces exec, which the format cannot hold beside by_sms.
void Maker::give_by_sms(GpuSegment& segment) {
  const ExecutionTime whole = *segment.exec;
  segment.exec.reset();
  int sms = 0;
  for (int parts = 4; parts > 0; parts -= pick_int(1, 2)) {
    sms += pick_int(1, 4);
    segment.exec_by_sms.push_back({sms, scaled(whole, parts, 4)});
  }
}

void Maker::give_parallel(GpuSegment& segment) {
  ParallelWork parallel{.work = *segment.exec, .span = scaled(*segment.exec, pick(0, 10), 10)};
  if (maybe(50)) parallel.interleave_millionths = pick(1'000'000, 3'000'000);
  segment.parallel = parallel;
}

}  // namespace

Taskset random_taskset(std::mt19937_64& engine, const RandomOptions& options) {
  return Maker(engine, options).taskset();
}

}  // namespace rtgpu::testing
