#include "runtime/machine/realtime.h"

#include "runtime/machine/realtime_items.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Memory stays unlocked in all tests: locking is for the whole process, and too much for a sanitizer.
RealtimeOptions asking_for(Scheduler scheduler) {
  RealtimeOptions options;
  options.scheduler = scheduler;
  options.lock_memory = false;
  return options;
}

void in_thread(const std::function<void()>& body) {
  std::thread(body).join();
}

const RealtimeItem* find(const std::vector<RealtimeItem>& items, std::string_view what) {
  const auto found = std::ranges::find(items, what, &RealtimeItem::what);
  return found == items.end() ? nullptr : &*found;
}

TEST(Scheduler, IsNamedAsInLinux) {
  EXPECT_EQ(to_string(Scheduler::fifo), "SCHED_FIFO");
  EXPECT_EQ(to_string(Scheduler::rr), "SCHED_RR");
  EXPECT_EQ(to_string(Scheduler::deadline), "SCHED_DEADLINE");
  EXPECT_EQ(to_string(Scheduler::normal), "SCHED_OTHER");
}

TEST(RealtimeReport, TellsWhatWasRefused) {
  RealtimeReport report;
  EXPECT_TRUE(report.all_granted());
  EXPECT_THAT(report.refusals(), IsEmpty());

  report.items = {{"CPU of camera", "2", "2", true, "", ""},
                  {"priority of camera", "SCHED_FIFO 80", "SCHED_OTHER", false, "not permitted", "Be root."}};
  EXPECT_FALSE(report.all_granted());
  const Errors errors = report.refusals();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, ErrorCode::environment);
  EXPECT_EQ(to_string(errors[0]),
            "found priority of camera: SCHED_OTHER (not permitted); expected SCHED_FIFO 80. Be root.");
}

TEST(HighestPriority, LeavesTwoAboveAndOneBelow) {
  EXPECT_FALSE(highest_priority_item(1));
  EXPECT_FALSE(highest_priority_item(97));
  for (const int wrong : {0, -1, 98, 1000}) {
    const auto item = highest_priority_item(wrong);
    ASSERT_TRUE(item) << wrong;
    EXPECT_FALSE(item->ok);
    EXPECT_EQ(item->asked, std::to_string(wrong));
    EXPECT_THAT(item->mend, HasSubstr("1 to 97"));
  }
}

TEST(MemoryLock, SaysWhatLimitsIt) {
  const RealtimeItem granted = memory_lock_item(0, RLIM_INFINITY, false);
  EXPECT_TRUE(granted.ok);
  EXPECT_EQ(granted.granted, "locked");
  EXPECT_THAT(granted.reason, IsEmpty());
  EXPECT_EQ(memory_lock_item(0, 1024, true).granted, "locked");

  const RealtimeItem limited = memory_lock_item(0, 64UL * 1024 * 1024, false);
  EXPECT_TRUE(limited.ok);
  EXPECT_EQ(limited.granted, "locked, up to 65536 KiB");

  const RealtimeItem refused = memory_lock_item(ENOMEM, 8192UL * 1024, false);
  EXPECT_FALSE(refused.ok);
  EXPECT_THAT(refused.reason, HasSubstr("RLIMIT_MEMLOCK is 8192 KiB"));
  EXPECT_THAT(refused.mend, HasSubstr("ulimit -l unlimited"));
  EXPECT_THAT(memory_lock_item(EPERM, 0, false).reason, HasSubstr("RLIMIT_MEMLOCK is 0 KiB"));

  const RealtimeItem full = memory_lock_item(ENOMEM, 1024, true);
  EXPECT_FALSE(full.ok);
  EXPECT_THAT(full.reason, Not(HasSubstr("RLIMIT_MEMLOCK")));
}

TEST(SchedulingAllowed, SaysWhichPermissionIsMissing) {
  const RealtimeItem allowed = scheduling_allowed_item(Scheduler::fifo, 82, 0, 0, true);
  EXPECT_TRUE(allowed.ok);
  EXPECT_EQ(allowed.asked, "SCHED_FIFO, up to priority 82");

  const RealtimeItem limited = scheduling_allowed_item(Scheduler::rr, 82, EPERM, 81, false);
  EXPECT_FALSE(limited.ok);
  EXPECT_EQ(limited.asked, "SCHED_RR, up to priority 82");
  EXPECT_THAT(limited.reason, HasSubstr("RLIMIT_RTPRIO is 81"));
  EXPECT_THAT(limited.mend, HasSubstr("ulimit -r 82"));
  EXPECT_THAT(limited.mend, HasSubstr("rtprio 82"));

  // The limit is high enough, or does not matter: it is something else.
  for (const RealtimeItem& item : {scheduling_allowed_item(Scheduler::fifo, 82, EPERM, 82, false),
                                   scheduling_allowed_item(Scheduler::fifo, 82, EPERM, RLIM_INFINITY, false),
                                   scheduling_allowed_item(Scheduler::fifo, 82, EPERM, 0, true)}) {
    EXPECT_FALSE(item.ok);
    EXPECT_THAT(item.reason, HasSubstr("container"));
    EXPECT_THAT(item.mend, HasSubstr("--cap-add=sys_nice"));
  }

  // RLIMIT_RTPRIO does not allow SCHED_DEADLINE, however high it is.
  const RealtimeItem deadline = scheduling_allowed_item(Scheduler::deadline, 0, EPERM, RLIM_INFINITY, false);
  EXPECT_FALSE(deadline.ok);
  EXPECT_EQ(deadline.asked, "SCHED_DEADLINE");
  EXPECT_THAT(deadline.reason, HasSubstr("CAP_SYS_NICE"));

  EXPECT_FALSE(scheduling_allowed_item(Scheduler::fifo, 82, EINVAL, 99, true).ok);
}

TEST(ExecutionLimit, IsRefusedIfThereIsAny) {
  EXPECT_TRUE(execution_limit_item(RLIM_INFINITY, RLIM_INFINITY).ok);
  const RealtimeItem soft = execution_limit_item(200'000, RLIM_INFINITY);
  EXPECT_FALSE(soft.ok);
  EXPECT_EQ(soft.granted, "200000us");
  EXPECT_THAT(soft.mend, Not(HasSubstr("root")));
  const RealtimeItem hard = execution_limit_item(300'000, 300'000);
  EXPECT_FALSE(hard.ok);
  EXPECT_THAT(hard.mend, HasSubstr("root"));
}

TEST(Throttling, IsSaid) {
  const auto on = throttling_item("950000\n", "1000000\n");
  ASSERT_TRUE(on);
  EXPECT_TRUE(on->ok);
  EXPECT_EQ(on->granted, "on: 950ms of each 1s");
  EXPECT_THAT(on->mend, HasSubstr("sched_rt_runtime_us=-1"));
  for (const char* runtime : {"-1", "1000000"}) {
    const auto off = throttling_item(runtime, "1000000");
    ASSERT_TRUE(off);
    EXPECT_TRUE(off->ok);
    EXPECT_EQ(off->granted, "off");
  }
  const auto nothing_left = throttling_item("0", "1000000");
  ASSERT_TRUE(nothing_left);
  EXPECT_FALSE(nothing_left->ok);
  EXPECT_EQ(nothing_left->granted, "on: 0ns of each 1s");
}

TEST(Throttling, IsNotSaidWhereTheKernelDoesNot) {
  EXPECT_FALSE(throttling_item("", ""));
  EXPECT_FALSE(throttling_item("950000", ""));
  EXPECT_FALSE(throttling_item("950000", "0"));
  EXPECT_FALSE(throttling_item("much", "1000000"));
  EXPECT_FALSE(throttling_item("\n", "1000000"));
}

TEST(Preemption, IsSaid) {
  const auto granted = [](std::string_view realtime, std::string_view version) {
    const auto item = preemption_item(realtime, version);
    return item ? item->granted + (item->ok ? "" : " refused") : "not said";
  };
  EXPECT_EQ(granted("1", "Linux version 6.1 #1 SMP PREEMPT_RT"), "PREEMPT_RT");
  EXPECT_EQ(granted("1", ""), "PREEMPT_RT");
  EXPECT_EQ(granted("", "Linux version 6.12 #1 SMP PREEMPT_RT Mon"), "PREEMPT_RT");
  EXPECT_EQ(granted("", "Linux version 6.5 #1 SMP PREEMPT_DYNAMIC Mon"), "PREEMPT_DYNAMIC");
  EXPECT_EQ(granted("0", "Linux version 5.4 #1 SMP PREEMPT Mon"), "PREEMPT");
  EXPECT_EQ(granted("", "Linux version 5.4 #1 SMP Mon"), "none in kernel code");
  EXPECT_EQ(granted("", ""), "not said");
}

TEST(Governor, IsSaid) {
  EXPECT_FALSE(governor_item({}));
  const auto fixed = governor_item({"performance", "performance"});
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->granted, "performance");
  EXPECT_THAT(fixed->reason, IsEmpty());
  const auto mixed = governor_item({"schedutil", "performance", "schedutil"});
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->granted, "performance, schedutil");
  EXPECT_TRUE(mixed->ok);
  EXPECT_THAT(mixed->mend, HasSubstr("cpupower"));
}

TEST(ThreadItems, CompareWhatWasGranted) {
  EXPECT_TRUE(cpu_item("camera", 2, 0, {2}).ok);
  const RealtimeItem ignored = cpu_item("camera", 2, 0, {1, 2});
  EXPECT_FALSE(ignored.ok);
  EXPECT_EQ(ignored.what, "CPU of camera");
  EXPECT_EQ(ignored.asked, "2");
  EXPECT_EQ(ignored.granted, "1, 2");
  EXPECT_FALSE(cpu_item("camera", 2, EINVAL, {2}).ok);

  EXPECT_TRUE(priority_item("camera", {"SCHED_FIFO 80", "SCHED_FIFO 80", 0}).ok);
  const RealtimeItem refused = priority_item("camera", {"SCHED_FIFO 80", "SCHED_OTHER", EPERM});
  EXPECT_FALSE(refused.ok);
  EXPECT_EQ(refused.what, "priority of camera");
  EXPECT_THAT(refused.reason, HasSubstr("not permitted"));
  // Granted, it is said, but it is not so.
  EXPECT_FALSE(priority_item("camera", {"SCHED_FIFO 80", "SCHED_FIFO 79", 0}).ok);
  EXPECT_THAT(priority_item("camera", {"SCHED_DEADLINE", "SCHED_OTHER", EBUSY}).reason, HasSubstr("execution time"));

  EXPECT_TRUE(stack_item("camera", 131072, 131072).ok);
  const RealtimeItem small = stack_item("camera", 131072, 65536);
  EXPECT_FALSE(small.ok);
  EXPECT_EQ(small.asked, "128 KiB present");
  EXPECT_EQ(small.granted, "64 KiB present");

  EXPECT_TRUE(timer_slack_item("camera", 1).ok);
  EXPECT_TRUE(timer_slack_item("camera", 0).ok);
  EXPECT_TRUE(timer_slack_item("camera", -1).ok);
  EXPECT_FALSE(timer_slack_item("camera", 50'000).ok);
}

TEST(UsableCpus, AreThoseOfTheAffinity) {
  const std::vector<int> cpus = usable_cpus();
  ASSERT_THAT(cpus, Not(IsEmpty()));
  EXPECT_TRUE(std::ranges::is_sorted(cpus));
  EXPECT_TRUE(std::ranges::count(cpus, sched_getcpu()) == 1);
  std::vector<int> pinned;
  in_thread([&] {
    prepare_thread(asking_for(Scheduler::normal), {"pinned", cpus.back(), 0});
    pinned = usable_cpus();
  });
  EXPECT_THAT(pinned, ElementsAre(cpus.back()));
  EXPECT_EQ(usable_cpus(), cpus) << "a thread has changed another one's";
}

TEST(PrepareProcess, AsksForNothingRealTimeUnderTheDefaultScheduler) {
  RealtimeOptions options = asking_for(Scheduler::normal);
  options.highest_priority = 1000;
  EXPECT_THAT(prepare_process(options), IsEmpty());
}

TEST(PrepareProcess, SaysWhetherTheSchedulerIsAllowed) {
  for (const Scheduler scheduler : {Scheduler::fifo, Scheduler::rr, Scheduler::deadline}) {
    const auto items = prepare_process(asking_for(scheduler));
    const RealtimeItem* allowed = find(items, "real-time scheduling");
    ASSERT_NE(allowed, nullptr);
    EXPECT_THAT(allowed->asked, testing::StartsWith(std::string(to_string(scheduler))));
    EXPECT_EQ(allowed->ok, allowed->granted == "allowed");
    EXPECT_EQ(allowed->ok, allowed->mend.empty());
    EXPECT_NE(find(items, "limit of real-time execution without a wait"), nullptr);
  }
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER) << "asking has changed the caller";
}

TEST(PrepareProcess, RefusesAPriorityOutOfRange) {
  RealtimeOptions options = asking_for(Scheduler::fifo);
  options.highest_priority = 98;
  const auto items = prepare_process(options);
  const RealtimeItem* item = find(items, "highest priority of a task");
  ASSERT_NE(item, nullptr);
  EXPECT_FALSE(item->ok);
}

TEST(PrepareThread, GivesTheThreadItsName) {
  std::array<char, 32> name{};
  in_thread([&] {
    prepare_thread(asking_for(Scheduler::normal), {"camera-of-the-left", -1, 0});
    pthread_getname_np(pthread_self(), name.data(), name.size());
  });
  EXPECT_STREQ(name.data(), "camera-of-the-l");
}

TEST(PrepareThread, RefusesACpuThatIsNotThere) {
  std::vector<RealtimeItem> items;
  std::vector<int> after;
  in_thread([&] {
    items = prepare_thread(asking_for(Scheduler::normal), {"far", 1'000'000, 0});
    after = usable_cpus();
  });
  const RealtimeItem* item = find(items, "CPU of far");
  ASSERT_NE(item, nullptr);
  EXPECT_FALSE(item->ok);
  EXPECT_EQ(item->asked, "1000000");
  EXPECT_THAT(item->mend, Not(IsEmpty()));
  EXPECT_EQ(after, usable_cpus());
}

TEST(PrepareThread, SaysWhichPriorityIsInForce) {
  for (const Scheduler scheduler : {Scheduler::fifo, Scheduler::rr}) {
    std::vector<RealtimeItem> items;
    int policy = 0;
    sched_param parameters{};
    in_thread([&] {
      items = prepare_thread(asking_for(scheduler), {"camera", -1, 7});
      policy = sched_getscheduler(0);
      sched_getparam(0, &parameters);
    });
    const RealtimeItem* item = find(items, "priority of camera");
    ASSERT_NE(item, nullptr);
    EXPECT_EQ(item->asked, std::string(to_string(scheduler)) + " 7");
    const bool in_force =
        policy == (scheduler == Scheduler::rr ? SCHED_RR : SCHED_FIFO) && parameters.sched_priority == 7;
    EXPECT_EQ(item->ok, in_force);
    EXPECT_EQ(item->granted, in_force ? item->asked : "SCHED_OTHER");
    EXPECT_EQ(item->ok, item->mend.empty());
    EXPECT_EQ(find(items, "CPU of camera"), nullptr) << "none was asked for";
  }
}

TEST(PrepareThread, GivesBestEffortTheDefaultScheduler) {
  for (const Scheduler scheduler : {Scheduler::fifo, Scheduler::rr, Scheduler::deadline, Scheduler::normal}) {
    std::vector<RealtimeItem> items;
    in_thread([&] {
      // It need not start there.
      prepare_thread(asking_for(Scheduler::fifo), {"idle", -1, 3});
      items = prepare_thread(asking_for(scheduler), {"idle", -1, 0});
      EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    });
    const RealtimeItem* item = find(items, "priority of idle");
    ASSERT_NE(item, nullptr);
    EXPECT_TRUE(item->ok);
    EXPECT_EQ(item->granted, "SCHED_OTHER");
  }
}

TEST(PrepareThread, NeedsThreeTimesForDeadlines) {
  const ThreadRequest complete{"dl", usable_cpus().front(), 5, 1ms, 8ms, 10ms};
  std::vector<ThreadRequest> requests(3, complete);
  requests[0].runtime.reset();
  requests[1].deadline.reset();
  requests[2].period.reset();
  for (const ThreadRequest& request : requests) {
    std::vector<RealtimeItem> items;
    in_thread([&] { items = prepare_thread(asking_for(Scheduler::deadline), request); });
    const RealtimeItem* item = find(items, "priority of dl");
    ASSERT_NE(item, nullptr);
    EXPECT_FALSE(item->ok);
    EXPECT_EQ(item->granted, "SCHED_OTHER");
    EXPECT_THAT(item->reason, HasSubstr("period"));
  }
}

TEST(PrepareThread, DoesNotPinWhatHasDeadlines) {
  constexpr int kDeadlinePolicy = 6;
  const std::vector<int> before = usable_cpus();
  std::vector<RealtimeItem> items;
  std::vector<int> after;
  int policy = 0;
  in_thread([&] {
    items = prepare_thread(asking_for(Scheduler::deadline), {"dl", before.front(), 5, 1ms, 8ms, 10ms});
    policy = sched_getscheduler(0);
    after = usable_cpus();
  });
  EXPECT_EQ(after, before);
  const RealtimeItem* cpu = find(items, "CPU of dl");
  ASSERT_NE(cpu, nullptr);
  EXPECT_TRUE(cpu->ok);
  EXPECT_THAT(cpu->reason, HasSubstr("pinned"));
  const RealtimeItem* item = find(items, "priority of dl");
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->asked, "SCHED_DEADLINE 1ms / 8ms / 10ms");
  EXPECT_EQ(item->ok, policy == kDeadlinePolicy);
  EXPECT_EQ(item->granted, policy == kDeadlinePolicy ? item->asked : "SCHED_OTHER");
}

TEST(PrepareThread, MakesTheStackPresent) {
  constexpr std::size_t kStack = 512UL * 1024;
  RealtimeOptions options = asking_for(Scheduler::normal);
  options.prefault_stack = kStack;
  std::vector<RealtimeItem> items;
  std::size_t missing = 0;
  in_thread([&] {
    items = prepare_thread(options, {"deep", -1, 0});
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / page * page;
    for (std::uintptr_t address = here - kStack + page; address <= here; address += page) {
      unsigned char present = 0;
      mincore(reinterpret_cast<void*>(address), page, &present);
      if ((present & 1U) == 0) ++missing;
    }
  });
  EXPECT_EQ(missing, 0U);
  const RealtimeItem* item = find(items, "stack of deep");
  ASSERT_NE(item, nullptr);
  EXPECT_TRUE(item->ok);
  EXPECT_EQ(item->granted, "512 KiB present");
}

TEST(PrepareThread, TouchesNoMoreStackThanThereIs) {
  RealtimeOptions options = asking_for(Scheduler::normal);
  options.prefault_stack = std::size_t{1} << 40U;
  std::vector<RealtimeItem> items;
  in_thread([&] { items = prepare_thread(options, {"deep", -1, 0}); });
  const RealtimeItem* item = find(items, "stack of deep");
  ASSERT_NE(item, nullptr);
  EXPECT_FALSE(item->ok);
  EXPECT_THAT(item->mend, HasSubstr("prefault_stack"));
}

TEST(PrepareThread, LeavesTheStackAloneIfNotAsked) {
  RealtimeOptions options = asking_for(Scheduler::normal);
  options.prefault_stack = 0;
  std::vector<RealtimeItem> items;
  in_thread([&] { items = prepare_thread(options, {"flat", -1, 0}); });
  EXPECT_EQ(find(items, "stack of flat"), nullptr);
  const RealtimeItem* slack = find(items, "timer slack of flat");
  ASSERT_NE(slack, nullptr);
  EXPECT_TRUE(slack->ok);
}

}  // namespace
}  // namespace rtgpu
