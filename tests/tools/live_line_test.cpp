#include "tools/live_line.h"

#include "tools/format/live_text.h"

#include <chrono>
#include <semaphore>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

TEST(LiveLine, IsRenewedAndRemovedAtTheEnd) {
  std::ostringstream out;
  std::counting_semaphore<> asked(0);
  int number = 0;
  {
    const LiveLine line(out, true, {0ms, 1ms}, [&] {
      asked.release();
      return "line " + std::to_string(++number);
    });
    for (int times = 0; times < 3; ++times) asked.acquire();
  }
  const std::string erase = "\r\033[K";
  EXPECT_THAT(out.str(), testing::StartsWith(erase + "line 1" + erase + "line 2" + erase + "line 3"));
  EXPECT_THAT(out.str(), testing::EndsWith("line " + std::to_string(number) + erase));
}

TEST(LiveLine, NothingBeforeItsTimeAndTheEndIsNotWaitedFor) {
  std::ostringstream out;
  const auto start = std::chrono::steady_clock::now();
  {
    const LiveLine line(out, true, {1h, 1h}, [] { return std::string("line"); });
  }
  EXPECT_EQ(out.str(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1h);
}

TEST(LiveLine, NothingWhereNobodyLooks) {
  std::ostringstream out;
  {
    const LiveLine line(out, false, {0ms, 0ms}, [] {
      ADD_FAILURE() << "asked for a line";
      return std::string("line");
    });
  }
  EXPECT_EQ(out.str(), "");
}

TEST(LiveText, NamesTheTaskNearestToItsBound) {
  const std::vector<LiveTask> tasks = {{"camera", 1200, 0, Duration::milliseconds(53), Duration::milliseconds(100)},
                                       {"con\ntrol", 34, 1, Duration::milliseconds(6), Duration::milliseconds(10)},
                                       {"log", 1, 0, Duration::seconds(9)},
                                       {"late", 0, 0, {}, Duration::milliseconds(1)}};
  EXPECT_EQ(live_text(tasks, Duration::milliseconds(12'390), Duration::seconds(60)),
            "12.3s of 60s  1235 jobs  1 missed  largest max/bound 0.600 (con\\ntrol)");
}

TEST(LiveText, WithoutBoundsAndTime) {
  const std::vector<LiveTask> tasks = {{"camera", 1, 0, Duration::milliseconds(53)}};
  EXPECT_EQ(live_text(tasks, {}, Duration::seconds(60)), "1 job  0 missed");
  EXPECT_EQ(live_text({}, Duration(), Duration::milliseconds(500)), "0.0s of 500ms  0 jobs  0 missed");
}

}  // namespace
}  // namespace rtgpu
