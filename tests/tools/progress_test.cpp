#include "tools/progress.h"

#include <chrono>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

constexpr Progress::Clock::time_point kStart{};
constexpr const char* kErase = "\r\033[K";

TEST(Progress, NothingInTheFirstSecond) {
  std::ostringstream out;
  {
    Progress progress(out, true, kStart);
    progress.update(500, kStart + 999ms);
  }
  EXPECT_EQ(out.str(), "");
}

TEST(Progress, CountAndRateAtMostTenTimesASecond) {
  std::ostringstream out;
  Progress progress(out, true, kStart);
  progress.update(500, kStart + 1000ms);
  progress.update(550, kStart + 1099ms);
  const std::string first = std::string(kErase) + "500 documents, 500 per second";
  EXPECT_EQ(out.str(), first);
  progress.update(2200, kStart + 1100ms);
  EXPECT_EQ(out.str(), first + kErase + "2200 documents, 2000 per second");
}

TEST(Progress, IsRemovedAtTheEnd) {
  std::ostringstream out;
  {
    Progress progress(out, true, kStart);
    progress.update(2, kStart + 2s);
    progress.clear();
    progress.clear();
    progress.update(3, kStart + 3s);
  }
  EXPECT_EQ(out.str(),
            std::string(kErase) + "2 documents, 1 per second" + kErase + kErase + "3 documents, 1 per second" + kErase);
}

TEST(Progress, ShowsABarAndTheTimeLeftWhereTheTotalIsKnown) {
  std::ostringstream out;
  Progress progress(out, true, kStart, "tasksets");
  progress.expect(1000, 100);
  progress.update(300, kStart + 2s);
  EXPECT_EQ(out.str(), std::string(kErase) + "[######--------------] 300 of 1000 tasksets, 100 per second, 7 s left");
  out.str("");
  progress.update(400, kStart + 60s);
  EXPECT_EQ(out.str(),
            std::string(kErase) + "[########------------] 400 of 1000 tasksets, 5 per second, 2 min 0 s left");
  out.str("");
  progress.update(1000, kStart + 90s);
  EXPECT_EQ(out.str(), std::string(kErase) + "[####################] 1000 of 1000 tasksets, 10 per second, 0 s left");
}

TEST(Progress, InvisibleIsSilent) {
  std::ostringstream out;
  Progress progress(out, false, kStart);
  progress.update(1, kStart + 1h);
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace rtgpu
