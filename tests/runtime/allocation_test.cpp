// Jobs and what the runtime does for them allocate nothing. A program of its own, since it replaces operator new.
#include "runtime/runtime.h"
#include "tests/support/build.h"
#include "tests/support/fake_driver/fake_cuda.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace {

// Of this thread, while it counts.
thread_local bool counts = false;
thread_local std::size_t allocations = 0;

// Whether the thread is in the fake CUDA driver, whose allocations are not the runtime's.
std::atomic<bool (*)()> is_elsewhere = nullptr;

void* allocate(std::size_t size) noexcept {
  const auto asks = is_elsewhere.load(std::memory_order_relaxed);
  if (counts && (asks == nullptr || !asks())) ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

// Not inlined: GCC takes the two for a mismatch where it sees only one of them.
[[gnu::noinline]] void release(void* memory) noexcept {
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace rtgpu {
namespace {

constexpr std::int64_t kFirst = 5;   // job in which counting begins
constexpr std::int64_t kLast = 105;  // and ends

// Counts on the thread that calls it, from one job to another one, with what lies between them.
class Counter {
 public:
  void begin(const Job& job) {
    if (job.number() != kFirst) return;
    allocations = 0;
    counts = true;
  }
  void end(const Job& job) {
    if (job.number() != kLast) return;
    counts = false;
    seen_ = static_cast<std::ptrdiff_t>(allocations);
  }
  std::ptrdiff_t seen() const { return seen_; }  // negative: it has not come to its end

 private:
  std::ptrdiff_t seen_ = -1;
};

RuntimeOptions options_of(const std::string& policy) {
  RuntimeOptions options;
  options.policy = policy;
  options.gpu.stream_priorities = 2;
  options.gpu.overheads.time_slice = Duration::microseconds(100);
  options.gpu.overheads.runlist_update = Duration::microseconds(10);
  options.realtime.scheduler = Scheduler::normal;
  options.realtime.allow_degraded = true;
  options.realtime.share_cores = true;
  options.realtime.lock_memory = false;
  options.keep_trace = true;
  options.trace_events = 1U << 10U;
  return options;
}

TaskSetup setup(const std::string& name, int priority, int core) {
  TaskSetup made;
  made.name = name;
  made.period = Duration::microseconds(700);
  made.priority = priority;
  made.cpu = core;
  made.watchdog = Duration::seconds(10);
  return made;
}

void work(Job& job) {
  const auto kernel = [](const Block&) {};
  job.gpu("work", [&](Stream stream) {
    stream.launch(8, kernel);
    stream.run(Duration::microseconds(20));
  });
  job.gpu("slices", sliced(8, 2), [&](Stream stream, const Slice& slice) {
    stream.launch(slice.blocks, kernel, slice.first_block);
    stream.run(Duration::microseconds(10));
  });
  CopyRequest request;
  request.time = Duration::microseconds(10);
  job.copy("in", request);
  if (job.enter("explicit") == GpuStatus::ok) {
    job.stream().run(Duration::microseconds(10));
    job.leave();
  }
  job.leave();  // refused
}

void run_until_counted(Runtime& runtime) {
  runtime.run_for(Duration::infinite());
}

TEST(RuntimeAllocation, NoneOnTheWayOfAJob) {
  for (const char* policy : {"gcaps", "gcaps-wc", "tsg-rr", "mpcp", "fmlp+", "stream-priority"}) {
    Runtime runtime(options_of(policy));
    std::array<Counter, 3> counters;
    std::atomic<int> done = 0;
    const auto body = [&](std::size_t task) {
      return [&, task](Job& job) {
        counters[task].begin(job);
        work(job);
        counters[task].end(job);
        if (job.number() == kLast && ++done == 3) runtime.stop();
      };
    };
    runtime.add_task(setup("high", 3, 0), body(0));
    TaskSetup late = setup("low", 2, 1);
    late.overrun = Overrun::skip;
    late.cpu_budget = Duration::microseconds(1);  // exceeded by every job
    runtime.add_task(late, body(1));
    TaskSetup triggered = setup("triggered", 1, 0);
    triggered.released_by = ReleasedBy::trigger;
    TaskHandle* handle = nullptr;
    handle = &runtime.add_task(triggered, [&, inner = body(2)](Job& job) {
      handle->trigger();
      inner(job);
    });
    runtime.add_task(setup("source", 0, 1), [&](Job& job) {
      if (job.number() == 0) handle->trigger();
    });
    run_until_counted(runtime);
    for (const Counter& counter : counters) EXPECT_EQ(counter.seen(), 0) << policy;
    EXPECT_GT(runtime.trace().events.size(), 1000U);
  }
}

// On the fake CUDA driver: neither the task's thread, waiting either way, nor the one that launches further slices.
TEST(RuntimeAllocation, NoneOnTheWayOfAJobOnACudaDevice) {
  cuda::FakeCuda fake;
  is_elsewhere = cuda::FakeCuda::is_in_driver();
  for (const char* policy : {"mpcp", "stream-priority"}) {
    RuntimeOptions options = options_of(policy);
    options.device = "cuda";
    options.cuda.library = cuda::FakeCuda::path();
    fake.set("clock=monotonic");
    Runtime runtime(options);
    Counter of_task;
    Counter of_device;
    TaskSetup task = setup("task", 1, 0);
    task.wait = policy[0] == 'm' ? WaitMode::busy : WaitMode::suspend;
    task.memory = 64;
    std::array<std::byte, 64> host{};
    runtime.add_task(task, [&](Job& job) {
      of_task.begin(job);
      job.gpu("work", [](Stream stream) { stream.run(Duration::microseconds(20)); });
      job.gpu("slices", sliced(3, 1), [&](Stream stream, const Slice& slice) {
        if (slice.index == 1) of_device.begin(job);
        stream.run(Duration::microseconds(10));
        if (slice.index == 2) of_device.end(job);
      });
      job.copy("in", {job.memory().data(), host.data(), host.size()});
      of_task.end(job);
      if (job.number() == kLast) runtime.stop();
    });
    run_until_counted(runtime);
    EXPECT_EQ(of_task.seen(), 0) << policy;
    EXPECT_EQ(of_device.seen(), 0) << policy;
    EXPECT_EQ(runtime.report().tasks.front().seen.gpu_failures, 0) << policy;
  }
  is_elsewhere = nullptr;
}

// The counter sees what a job allocates.
TEST(RuntimeAllocation, IsSeen) {
  Runtime runtime(options_of("mpcp"));
  Counter counter;
  runtime.add_task(setup("task", 1, 0), [&](Job& job) {
    counter.begin(job);
    work(job);
    if (job.number() == kFirst + 7) {
      const auto kept = std::make_unique<std::string>(100, 'x');
      EXPECT_EQ(kept->size(), 100U);
    }
    counter.end(job);
    if (job.number() == kLast) runtime.stop();
  });
  run_until_counted(runtime);
  EXPECT_EQ(counter.seen(), 2);
}

}  // namespace
}  // namespace rtgpu
