// Rings and the tracer that gathers them.
#include "runtime/trace/trace_ring.h"

#include "runtime/trace/trace.h"

#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TraceEvent event(std::int64_t time, std::uint64_t order = 0, std::int64_t value = 0) {
  TraceEvent made;
  made.time_ns = time;
  made.order = order;
  made.value = value;
  return made;
}

std::vector<std::int64_t> values(const std::vector<TraceEvent>& events) {
  std::vector<std::int64_t> all;
  for (const TraceEvent& each : events) all.push_back(each.value);
  return all;
}

TEST(TraceRing, HandsOutWhatWasWrittenOnceAndInOrder) {
  TraceRing ring(4);
  ring.write(event(1, 0, 10));
  ring.write(event(2, 0, 20));
  std::vector<TraceEvent> read;
  ring.drain(read);
  EXPECT_THAT(values(read), ElementsAre(10, 20));
  ring.write(event(3, 0, 30));
  ring.drain(read);
  EXPECT_THAT(values(read), ElementsAre(10, 20, 30));
  EXPECT_EQ(ring.dropped(), 0U);
}

TEST(TraceRing, DropsAndCountsTheNewestWhenItIsFull) {
  TraceRing ring(4);
  for (std::int64_t value = 0; value < 7; ++value) ring.write(event(value, 0, value));
  EXPECT_EQ(ring.dropped(), 3U);
  std::vector<TraceEvent> read;
  ring.drain(read);
  EXPECT_THAT(values(read), ElementsAre(0, 1, 2, 3));
  // There is room again, also across the end of the storage.
  for (std::int64_t value = 7; value < 11; ++value) ring.write(event(value, 0, value));
  read.clear();
  ring.drain(read);
  EXPECT_THAT(values(read), ElementsAre(7, 8, 9, 10));
  EXPECT_EQ(ring.dropped(), 3U);
}

TEST(TraceRing, RoundsItsCapacityUp) {
  TraceRing ring(5);
  for (std::int64_t value = 0; value < 8; ++value) ring.write(event(value));
  EXPECT_EQ(ring.dropped(), 0U);
  ring.write(event(8));
  EXPECT_EQ(ring.dropped(), 1U);
}

TEST(TraceRing, WithoutCapacityIgnoresAll) {
  TraceRing ring(0);
  ring.write(event(1));
  std::vector<TraceEvent> read;
  ring.drain(read);
  EXPECT_THAT(read, IsEmpty());
  EXPECT_EQ(ring.dropped(), 0U);
}

// Each field of an event tells its number, so that a torn one shows.
TraceEvent numbered(std::int64_t number) {
  return {number,
          static_cast<std::uint64_t>(number) + 1,
          number + 2,
          -number,
          static_cast<std::uint32_t>(number),
          static_cast<std::uint16_t>(number % 1000),
          static_cast<TraceKind>(number % static_cast<std::int64_t>(kTraceKindCount))};
}

bool is_whole(const TraceEvent& each) {
  const TraceEvent made = numbered(each.time_ns);
  return each.order == made.order && each.job == made.job && each.value == made.value && each.task == made.task &&
         each.segment == made.segment && each.kind == made.kind;
}

TEST(TraceRing, ReadsWhileAnotherThreadWrites) {
  constexpr std::int64_t kEvents = 100'000;
  TraceRing ring(64);
  std::thread writer([&ring] {
    for (std::int64_t number = 0; number < kEvents; ++number) {
      ring.write(numbered(number));
      if (number % 32 == 0) std::this_thread::yield();  // else nearly all are dropped
    }
  });
  // Every event is read or counted, so this ends when the writer has.
  std::vector<TraceEvent> read;
  while (read.size() + ring.dropped() < static_cast<std::size_t>(kEvents)) {
    ring.drain(read);
    std::this_thread::yield();
  }
  writer.join();
  ring.drain(read);
  EXPECT_EQ(read.size() + ring.dropped(), static_cast<std::size_t>(kEvents));
  std::int64_t last = -1;
  for (const TraceEvent& each : read) {
    ASSERT_GT(each.time_ns, last);
    ASSERT_TRUE(is_whole(each)) << each.time_ns;
    last = each.time_ns;
  }
}

TEST(Tracer, SortsByTimeThenOrderThenRing) {
  Tracer tracer(16);
  TraceRing& first = tracer.add_ring();
  TraceRing& second = tracer.add_ring();
  second.write(event(5, 2, 1));
  second.write(event(7, 0, 2));
  second.write(event(7, 0, 3));
  tracer.collect();
  first.write(event(5, 3, 4));
  first.write(event(7, 0, 5));
  first.write(event(6, 9, 6));  // not in order of time
  const Trace trace = tracer.take(Duration::nanoseconds(9));
  EXPECT_THAT(values(trace.events), ElementsAre(1, 4, 6, 5, 2, 3));
  EXPECT_EQ(trace.dropped, 0U);
  EXPECT_EQ(trace.end, Duration::nanoseconds(9));
}

TEST(Tracer, CountsWhatAllRingsDropped) {
  Tracer tracer(2);
  TraceRing& first = tracer.add_ring();
  TraceRing& second = tracer.add_ring();
  for (int i = 0; i < 5; ++i) first.write(event(i));
  for (int i = 0; i < 3; ++i) second.write(event(i));
  EXPECT_EQ(tracer.dropped(), 4U);
  EXPECT_EQ(tracer.take({}).dropped, 4U);
  // The next run starts anew, on the same rings.
  first.write(event(8));
  const Trace next = tracer.take({});
  EXPECT_EQ(next.events.size(), 1U);
  EXPECT_EQ(next.dropped, 0U);
}

TEST(Tracer, KeepsItsRingsInPlace) {
  Tracer tracer(2);
  TraceRing& first = tracer.add_ring();
  for (int i = 0; i < 100; ++i) tracer.add_ring();
  first.write(event(1, 0, 42));
  EXPECT_THAT(values(tracer.take({}).events), ElementsAre(42));
}

TEST(TraceKind, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t kind = 0; kind < kTraceKindCount; ++kind) names.emplace(to_string(static_cast<TraceKind>(kind)));
  EXPECT_EQ(names.size(), kTraceKindCount);
  EXPECT_EQ(to_string(TraceKind::release), "release");
  EXPECT_EQ(to_string(TraceKind::copy_end), "copy end");
  EXPECT_EQ(to_string(TraceKind::miss), "miss");
  EXPECT_EQ(to_string(TraceKind::dispatch), "dispatch");
  EXPECT_EQ(to_string(static_cast<TraceKind>(kTraceKindCount)), "?");
}

}  // namespace
}  // namespace rtgpu
