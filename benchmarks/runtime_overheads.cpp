// What the runtime adds, against what the machine can do at best, measured in one run: entering and leaving a segment,
// handing the GPU over, releasing a job, recording an event. Yardsticks run alternately with what they measure.
//
//   rtgpu_runtime_overheads [ROUNDS]
#include "benchmarks/arguments.h"
#include "runtime/histogram.h"
#include "runtime/machine/real_machine.h"
#include "runtime/runtime.h"
#include "runtime/trace/trace_ring.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using rtgpu::Duration;
using rtgpu::Histogram;
using rtgpu::Job;
using rtgpu::Runtime;

rtgpu::RealtimeOptions realtime() {
  rtgpu::RealtimeOptions options;
  options.allow_degraded = true;
  return options;
}

std::int64_t nanoseconds_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::string line(const std::string& what, const Histogram& seen) {
  return fmt::format("  {:<44} {:>9} {:>9} {:>9} {:>9}", what, seen.percentile(500).count(),
                     seen.percentile(990).count(), seen.percentile(999).count(), seen.max().count());
}

void print(const std::string& what, const Histogram& seen) {
  fmt::print("{}\n", line(what, seen));
}

void print_ratio(const std::string& what, const Histogram& seen, const Histogram& yardstick, int per_mille) {
  const double ratio = static_cast<double>(seen.percentile(per_mille).count()) /
                       static_cast<double>(std::max<std::int64_t>(1, yardstick.percentile(per_mille).count()));
  fmt::print("    {}: {:.2f}\n", what, ratio);
}

// Entering and leaving without contention, with nothing submitted, tracing on. Each value is the mean of a batch that
// fits into the ring.
Histogram enter_and_leave(const std::string& policy, std::int64_t rounds) {
  constexpr int kBatch = 500;
  rtgpu::RuntimeOptions options;
  options.policy = policy;
  options.realtime = realtime();
  options.keep_trace = true;
  options.gpu.stream_priorities = 2;
  options.gpu.overheads.time_slice = Duration::milliseconds(1);
  Runtime runtime(options);
  Histogram seen;
  runtime.add_task({.name = "alone", .period = Duration::milliseconds(25), .priority = 1}, [&](Job& job) {
    for (int batch = 0; batch < 4; ++batch) {
      const std::int64_t begin = nanoseconds_now();
      for (int count = 0; count < kBatch; ++count) {
        job.enter("empty");
        job.leave();
      }
      seen.add(Duration::nanoseconds((nanoseconds_now() - begin) / kBatch));
    }
  });
  runtime.run_for(Duration::milliseconds(25) * rounds);
  return seen;
}

// From one task's leave to the other one's return from enter, on two cores: the other one waits already.
Histogram hand_over(std::int64_t rounds) {
  rtgpu::RuntimeOptions options;
  options.policy = "fmlp+";
  options.realtime = realtime();
  Runtime runtime(options);
  Histogram seen;
  std::atomic<std::int64_t> left_at = 0;
  std::atomic<int> inside = -1;
  for (int task = 0; task < 2; ++task) {
    runtime.add_task(
        {.name = fmt::format("side {}", task), .period = Duration::seconds(1), .priority = task, .cpu = task},
        [&, task, rounds](Job& job) {
          for (std::int64_t round = 0; round < rounds; ++round) {
            job.enter("turn");
            const std::int64_t now = nanoseconds_now();
            const std::int64_t since = left_at.load();
            if (inside.load() == 1 - task && since != 0) seen.add(Duration::nanoseconds(now - since));
            inside.store(task);
            // Long enough for the other one to have fallen asleep.
            job.spend(Duration::microseconds(50));
            left_at.store(nanoseconds_now());
            job.leave();
          }
        });
  }
  runtime.run_for(Duration());
  return seen;
}

// The same with nothing but a futex: two threads that wake each other.
Histogram ping_pong(std::int64_t rounds) {
  rtgpu::RealMachine machine(realtime());
  std::array<rtgpu::Signal, 2> turn;
  std::atomic<std::int64_t> at = 0;
  Histogram seen;
  for (std::size_t side = 0; side < 2; ++side) {
    rtgpu::ThreadSetup setup;
    setup.name = fmt::format("side {}", side);
    setup.task = side;
    setup.core = static_cast<int>(side);
    setup.rank = static_cast<int>(side);
    machine.start(setup, [&, side, rounds] {
      for (std::int64_t round = 0; round < rounds; ++round) {
        if (side == 1 || round > 0) {
          machine.wait(turn[side], rtgpu::Waiting::suspended, Duration::infinite());
          seen.add(Duration::nanoseconds(nanoseconds_now() - at.load()));
        }
        machine.spend(Duration::microseconds(50));
        at.store(nanoseconds_now());
        machine.notify(turn[1 - side]);
      }
    });
  }
  machine.run();
  return seen;
}

constexpr int kIntervalUs = 1000;

Histogram release(std::int64_t releases) {
  rtgpu::RuntimeOptions options;
  options.realtime = realtime();
  Runtime runtime(options);
  Histogram seen;
  runtime.add_task({.name = "periodic", .period = Duration::microseconds(kIntervalUs), .priority = 1},
                   [&](Job& job) { seen.add(job.now() - job.release()); });
  runtime.run_for(Duration::microseconds(kIntervalUs) * releases);
  return seen;
}

struct CloseProcess {
  void operator()(FILE* process) const { pclose(process); }
};

// cyclictest's histogram, in microseconds; empty where there is no cyclictest.
Histogram cyclictest(std::int64_t releases, int priority) {
  Histogram seen;
  const std::string command = fmt::format(
      "cyclictest --mlockall --policy=fifo --priority={} --threads=1 --affinity=0 --interval={} --loops={} --quiet "
      "--histogram=20000 2>/dev/null",
      priority, kIntervalUs, releases);
  const std::unique_ptr<FILE, CloseProcess> process(popen(command.c_str(), "r"));
  std::array<char, 256> text{};
  while (process && fgets(text.data(), text.size(), process.get()) != nullptr) {
    if (text[0] == '#') continue;
    char* rest = nullptr;
    const long microseconds = std::strtol(text.data(), &rest, 10);
    const long count = std::strtol(rest, nullptr, 10);
    for (long each = 0; each < count; ++each) seen.add(Duration::microseconds(microseconds));
  }
  return seen;
}

// Reading the clock and recording, as the runtime does it.
Histogram trace_event(std::int64_t rounds) {
  constexpr std::size_t kBatch = 1000;
  rtgpu::TraceRing ring(2 * kBatch);
  const rtgpu::RealMachine machine(realtime());
  std::vector<rtgpu::TraceEvent> drained;
  drained.reserve(2 * kBatch);
  Histogram seen;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::int64_t begin = nanoseconds_now();
    for (std::size_t count = 0; count < kBatch; ++count) {
      ring.write({machine.now().count(), 0, round, 0, 1, 0, rtgpu::TraceKind::enter});
    }
    seen.add(Duration::nanoseconds((nanoseconds_now() - begin) / static_cast<std::int64_t>(kBatch)));
    drained.clear();
    ring.drain(drained);
  }
  return seen;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rounds = argc > 1 ? rtgpu::benchmarks::number(argv[1]) : 5;
  fmt::print("  {:<44} {:>9} {:>9} {:>9} {:>9}\n", "nanoseconds", "median", "99 %", "99.9 %", "max");
  print("trace event (clock and ring)", trace_event(200 * rounds));
  for (const char* policy : {"mpcp", "fmlp+", "stream-priority", "tsg-rr", "gcaps", "gcaps-wc"}) {
    print(fmt::format("enter + leave, {}", policy), enter_and_leave(policy, 8 * rounds));
  }
  Histogram handed_over;
  Histogram futex;
  Histogram released;
  Histogram slept;
  for (std::int64_t round = 0; round < rounds; ++round) {
    handed_over.add(hand_over(2000));
    futex.add(ping_pong(2000));
    released.add(release(1000));
    slept.add(cyclictest(1000, realtime().highest_priority));
  }
  print("hand-over from leave to enter", handed_over);
  print("bare futex", futex);
  print_ratio("ratio of medians (at most 1.5)", handed_over, futex, 500);
  print("release latency, every millisecond", released);
  if (slept.count() == 0) {
    fmt::print("  cyclictest is not installed: no yardstick for releases\n");
    return 0;
  }
  print("cyclictest", slept);
  print_ratio("ratio of medians (at most 1.2)", released, slept, 500);
  print_ratio("ratio of 99th percentiles (at most 1.2)", released, slept, 990);
  return 0;
}
