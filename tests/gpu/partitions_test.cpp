// SM partitions: what is granted, and where blocks really run.
#include "examples/cuda/device_array.h"
#include "runtime/device/cuda/driver.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;

constexpr std::size_t kMostSms = 1024;

// A task that fills all SMs that it may use, and what became of it.
struct Occupant {
  std::optional<int> asked = {};
  SmShare share = {};
  GpuStatus status = GpuStatus::failed;
  std::vector<std::uint32_t> blocks_of_sm = {};

  std::size_t used() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(blocks_of_sm, [](std::uint32_t blocks) { return blocks > 0; }));
  }
  bool shares_an_sm_with(const Occupant& other) const {
    for (std::size_t sm = 0; sm < blocks_of_sm.size(); ++sm) {
      if (blocks_of_sm[sm] > 0 && other.blocks_of_sm[sm] > 0) return true;
    }
    return false;
  }
};

// Two blocks of 1024 threads fit into an SM, or one: with sixteen for each SM all are used, if each takes long enough.
void add_occupant(Runtime& runtime, int number, Occupant& occupant, const DeviceArray<std::uint32_t>& counts) {
  runtime.add_task({.name = "occupant " + std::to_string(number),
                    .period = 10s,
                    .priority = number + 1,
                    .cpu = number,
                    .watchdog = 5s,
                    .sms = occupant.asked},
                   [&occupant, &counts](Job& job) {
                     occupant.status = job.gpu("fill", [&](Stream stream) {
                       occupant.share = stream.sms();
                       gpu_kernels::occupy(stream.cuda(), occupant.share.count * 16, 1'000'000, counts.data());
                     });
                   });
}

class GpuPartitions : public testing::Test {
 protected:
  void SetUp() override {
    const Result<cuda::Driver> driver = cuda::Driver::load();
    ASSERT_TRUE(static_cast<bool>(driver));
    if (!driver->has_green_contexts()) GTEST_SKIP() << "the driver has no green contexts";
    if (sms() < 32) GTEST_SKIP() << "the device has too few SMs for three tasks in units of 8";
  }

  // Small enough for three, even in units of 8 SMs, on all but the smallest devices.
  static int sms() { return Runtime(gpu_test::options("mpcp")).device().sms; }

  // Under stream-priority, where all are on the device at once.
  static void run(std::array<Occupant, 3>& occupants) {
    const std::array<DeviceArray<std::uint32_t>, 3> counts = {DeviceArray<std::uint32_t>(kMostSms),
                                                              DeviceArray<std::uint32_t>(kMostSms),
                                                              DeviceArray<std::uint32_t>(kMostSms)};
    Runtime runtime(gpu_test::options("stream-priority"));
    for (std::size_t number = 0; number < occupants.size(); ++number) {
      add_occupant(runtime, static_cast<int>(number), occupants[number], counts[number]);
    }
    runtime.run_for(1ms);
    for (const std::string& note : runtime.report().notes) RecordProperty("note", note);
    for (std::size_t number = 0; number < occupants.size(); ++number) {
      occupants[number].blocks_of_sm = counts[number].values();
    }
  }
};

TEST_F(GpuPartitions, BlocksRunOnAsManySmsAsWereGranted) {
  std::array<Occupant, 3> occupants = {Occupant{sms() / 8}, Occupant{sms() / 4}, Occupant{}};
  run(occupants);
  for (const Occupant& occupant : occupants) {
    EXPECT_EQ(occupant.status, GpuStatus::ok);
    EXPECT_GE(occupant.share.count, static_cast<std::uint32_t>(occupant.asked.value_or(1)));
    EXPECT_EQ(occupant.used(), occupant.share.count) << "asked for " << occupant.asked.value_or(0);
  }
}

TEST_F(GpuPartitions, NoTwoShareAnSm) {
  std::array<Occupant, 3> occupants = {Occupant{sms() / 8}, Occupant{sms() / 8}, Occupant{}};
  run(occupants);
  EXPECT_FALSE(occupants[0].shares_an_sm_with(occupants[1]));
  EXPECT_FALSE(occupants[0].shares_an_sm_with(occupants[2]));
  EXPECT_FALSE(occupants[1].shares_an_sm_with(occupants[2]));
}

TEST_F(GpuPartitions, MoreSmsThanThereAreAreRefused) {
  Runtime runtime(gpu_test::options("mpcp"));
  runtime.add_task({.name = "greedy", .period = 1s, .priority = 1, .sms = runtime.device().sms + 1}, [](Job&) {});
  EXPECT_THROW(runtime.run_for(1ns), SetupError);
}

}  // namespace
}  // namespace rtgpu
