#include "runtime/device/cuda/sm_partitions.h"
#include "runtime/device/cuda/sm_split.h"
#include "tests/support/fake_driver/fake_cuda.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Sizes = std::vector<int>;

// A GPU of compute capability 9: 132 SMs, given away eight by eight.
constexpr SmUnits kLarge{8, 16, 132};

std::string refusal_of(const Sizes& asked, const SmUnits& device, bool needs_rest) {
  const Result<std::vector<int>> plan = plan_sm_split(asked, device, needs_rest);
  if (plan) return "none";
  EXPECT_EQ(plan.errors().front().code, ErrorCode::limit);
  return to_string(plan.errors().front());
}

TEST(SmSplit, RoundsUpToWholeUnits) {
  EXPECT_THAT(plan_sm_split(Sizes{1, 7, 8, 9, 16, 17}, kLarge, false).value(), ElementsAre(1, 1, 1, 2, 2, 3));
  EXPECT_THAT(plan_sm_split(Sizes{1, 5, 3}, {1, 9, 9}, false).value(), ElementsAre(1, 5, 3));
  EXPECT_THAT(plan_sm_split(Sizes{}, kLarge, true).value(), IsEmpty());
  EXPECT_THAT(plan_sm_split(Sizes{128}, kLarge, true).value(), ElementsAre(16));  // 4 are in no unit
}

TEST(SmSplit, SaysWhatWouldFit) {
  EXPECT_EQ(refusal_of({60, 70, 8}, kLarge, false),
            "found partitions of 60 + 70 + 8 SMs, which are 64 + 72 + 8 in whole units of 8; expected at most 128 of "
            "the device's 132 SMs in all. These would fit: 56 + 64 + 8 SMs.");
  EXPECT_EQ(refusal_of({1000}, {1, 9, 9}, false),
            "found partitions of 1000 SMs; expected at most 9 of the device's 9 SMs in all. These would fit: 9 SMs.");
  EXPECT_THAT(refusal_of({132}, kLarge, false), HasSubstr("These would fit: 128 SMs"));
  constexpr int kHuge = 2'147'483'647;
  EXPECT_THAT(refusal_of({kHuge, 1, kHuge}, kLarge, false), HasSubstr("These would fit: 64 + 8 + 56 SMs"));
  EXPECT_THAT(refusal_of({9, 13}, {4, 4, 16}, false), HasSubstr("These would fit: 8 + 8 SMs"));
  EXPECT_THAT(refusal_of({5, 9}, {4, 3, 12}, false), HasSubstr("These would fit: 4 + 8 SMs"));
  EXPECT_THAT(refusal_of({4, 4, 4}, {4, 2, 8}, false), HasSubstr("Ask for at most 2 partitions."));
}

TEST(SmSplit, LeavesWhatIsNeeded) {
  EXPECT_THAT(plan_sm_split(Sizes{4, 4}, {4, 2, 8}, false).value(), ElementsAre(1, 1));
  EXPECT_EQ(
      refusal_of({9, 7}, {4, 4, 16}, true),
      "found partitions of 9 + 7 SMs, which are 12 + 8 in whole units of 4; expected at most 12 of the device's 16 "
      "SMs in all, with one at least left to work in no partition. These would fit: 8 + 4 SMs.");
  EXPECT_THAT(refusal_of({1}, {4, 1, 4}, true), HasSubstr("Ask for no partition."));
}

TEST(SmSplit, RefusesPartitionsOfNothing) {
  for (const int sms : {0, -1, -2'147'483'647 - 1}) {
    EXPECT_EQ(refusal_of({3, sms}, kLarge, false),
              "found partitions of 3 + " + std::to_string(sms) + " SMs; expected at least 1 SM in each");
  }
}

// A loaded driver whose device 0 is current: 132 SMs, given away eight by eight.
class CudaSmPartitions : public testing::Test {
 protected:
  void SetUp() override {
    fake.set("sms=132");
    fake.set("sm_alignment=8");
    load();
  }
  void load() {
    const Result<Driver> loaded = Driver::load(FakeCuda::path());
    ASSERT_TRUE(loaded);
    driver.emplace(*loaded);
    CUcontext context = nullptr;
    ASSERT_EQ((*driver)->cuDevicePrimaryCtxRetain(&context, 0), CUresult::success);
    ASSERT_EQ((*driver)->cuCtxSetCurrent(context), CUresult::success);
    before = fake.things_left();
  }
  void load_without_green_contexts() {
    fake.set("version=12040");
    load();
  }

  Result<SmPartitions> split(std::initializer_list<int> asked, const SmSplitOptions& options = {}) const {
    return SmPartitions::split(*driver, 0, Sizes(asked), options);
  }
  // The SMs of each, and of the rest.
  static Sizes sizes_of(const SmPartitions& partitions) {
    Sizes sizes;
    for (const Partition& partition : partitions.partitions()) {
      EXPECT_EQ(partition.id, sizes.size());
      sizes.push_back(partition.sms);
    }
    sizes.push_back(partitions.rest_sms());
    return sizes;
  }
  // Of a split that fails, which leaves nothing behind.
  Error error_of(std::initializer_list<int> asked, const SmSplitOptions& options = {}) const {
    const Result<SmPartitions> partitions = split(asked, options);
    EXPECT_FALSE(partitions);
    EXPECT_EQ(fake.things_left(), before);
    return partitions ? Error() : partitions.errors().front();
  }
  int priority_of(CUstream stream) const {
    int priority = 99;
    EXPECT_EQ((*driver)->cuStreamGetPriority(stream, &priority), CUresult::success);
    return priority;
  }

  FakeCuda fake;
  std::optional<Driver> driver;
  std::size_t before = 0;
};

TEST_F(CudaSmPartitions, HaveWholeUnitsAndLeaveTheRest) {
  const Result<SmPartitions> partitions = split({8, 12, 1});
  ASSERT_TRUE(partitions);
  EXPECT_EQ(partitions->kind(), PartitionKind::green_contexts);
  EXPECT_THAT(sizes_of(*partitions), ElementsAre(8, 16, 8, 100));
  EXPECT_EQ(
      partitions->summary(),
      "3 partitions by green contexts in units of 8 SMs: 8 (8 asked for), 16 (12 asked for), 8 (1 asked for); 100 "
      "left to the others");
  const SmShare share = partitions->share_of(1);
  EXPECT_EQ(share.first, 8U);
  EXPECT_EQ(share.count, 16U);
  EXPECT_EQ(share.total, 132U);
  const SmShare rest = partitions->share_of({});
  EXPECT_EQ(rest.first, 32U);
  EXPECT_EQ(rest.count, 100U);
}

TEST_F(CudaSmPartitions, FindTheUnitOfADriverThatDoesNotTellIt) {
  fake.set("sm_tells_units=0");
  fake.set("sm_alignment=2");
  fake.set("sm_minimum=4");
  const Result<SmPartitions> partitions = split({1, 5, 8});
  ASSERT_TRUE(partitions);
  EXPECT_THAT(sizes_of(*partitions), ElementsAre(4, 8, 8, 112));
}

TEST_F(CudaSmPartitions, HaveSmallerUnitsWithoutCoscheduling) {
  SmSplitOptions options;
  options.ignore_coscheduling = true;
  const Result<SmPartitions> partitions = split({1, 5, 8}, options);
  ASSERT_TRUE(partitions);
  EXPECT_THAT(sizes_of(*partitions), ElementsAre(2, 6, 8, 116));
  EXPECT_THAT(partitions->summary(), HasSubstr("units of 2 SMs: 2 (1 asked for), 6 (5 asked for), 8 (8 asked for)"));
}

TEST_F(CudaSmPartitions, ThatDoNotFitAreRefusedWithWhatWould) {
  const Error error = error_of({100, 30});
  EXPECT_EQ(error.code, ErrorCode::limit);
  EXPECT_THAT(error.found, HasSubstr("104 + 32 in whole units of 8"));
  EXPECT_THAT(error.advice, HasSubstr("96 + 32 SMs"));
  EXPECT_TRUE(split({96, 32}));
  EXPECT_EQ(error_of({8, 0}).code, ErrorCode::limit);
  EXPECT_EQ(error_of({-8}).code, ErrorCode::limit);
}

TEST_F(CudaSmPartitions, MayTakeAllUnlessSomethingHasToBeLeft) {
  fake.set("sms=24");
  Result<SmPartitions> all = split({8, 16});
  ASSERT_TRUE(all);
  EXPECT_THAT(sizes_of(*all), ElementsAre(8, 16, 0));
  EXPECT_EQ(all->share_of({}).count, 0U);
  const Result<CUstream> stream = all->create_stream({}, 0);
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.errors().front().code, ErrorCode::limit);
  EXPECT_THAT(to_string(stream.errors().front()), StartsWith("found a stream in no partition; expected an SM outside"));
  all->close();
  SmSplitOptions options;
  options.needs_rest = true;
  EXPECT_THAT(error_of({8, 16}, options).advice, HasSubstr("8 + 8 SMs"));
  fake.set("sms=26");
  const Result<SmPartitions> two_left = split({8, 16}, options);
  ASSERT_TRUE(two_left);
  EXPECT_EQ(two_left->rest_sms(), 2);
}

TEST_F(CudaSmPartitions, SayThatARemainderIsLost) {
  fake.set("sm_remainder=0");
  const Result<SmPartitions> partitions = split({128});
  ASSERT_TRUE(partitions);
  EXPECT_THAT(sizes_of(*partitions), ElementsAre(128, 0));
  EXPECT_EQ(partitions->summary(),
            "1 partition by green contexts in units of 8 SMs: 128 (128 asked for); 0 left to the others, 4 to nobody");
}

TEST_F(CudaSmPartitions, FailIfALostRemainderIsNeeded) {
  fake.set("sm_remainder=0");
  SmSplitOptions options;
  options.needs_rest = true;
  const Error error = error_of({128}, options);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.found, HasSubstr("INVALID_RESOURCE_CONFIGURATION (915)"));
}

TEST_F(CudaSmPartitions, ReadBackWhatWasGranted) {
  fake.set("sm_kept=2");
  const Result<SmPartitions> partitions = split({6, 13});
  ASSERT_TRUE(partitions);
  EXPECT_THAT(sizes_of(*partitions), ElementsAre(6, 14, 106));
  EXPECT_THAT(partitions->summary(), HasSubstr("106 left to the others, 6 to nobody"));
  EXPECT_EQ(partitions->share_of(1).first, 6U);
}

TEST_F(CudaSmPartitions, FailIfLessWasGrantedThanAskedFor) {
  fake.set("sm_kept=2");
  const Error error = error_of({6, 8});
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_EQ(error.found, "6 SMs in a partition that was to have 8");
}

TEST_F(CudaSmPartitions, SayWhatTheDriverRefuses) {
  for (const char* call : {"cuDeviceGetDevResource", "cuDevSmResourceSplitByCount", "cuDevResourceGenerateDesc",
                           "cuGreenCtxCreate", "cuGreenCtxGetDevResource"}) {
    fake.set(std::string("fail=") + call + ":801");
    const Error error = error_of({8, 8});
    EXPECT_EQ(error.code, ErrorCode::unsupported) << call;
    EXPECT_THAT(error.found, StartsWith("CUDA_ERROR_NOT_SUPPORTED (801)"));
    EXPECT_THAT(error.found, HasSubstr(std::string("of ") + call));
    EXPECT_THAT(error.advice, StartsWith("Run without partitions"));
  }
  fake.set("fail=cuDeviceGetAttribute:101");
  EXPECT_EQ(error_of({8}).code, ErrorCode::environment);
  fake.set("sms=4");  // less than a unit
  EXPECT_EQ(error_of({1}).code, ErrorCode::unsupported);
}

TEST_F(CudaSmPartitions, LeaveNothingIfTheyFailHalfWay) {
  for (const char* limit : {"green_contexts=0", "green_contexts=1", "green_contexts=2"}) {
    fake.set(limit);
    const Error error = error_of({8, 8});  // takes three, with the rest
    EXPECT_EQ(error.code, ErrorCode::environment) << limit;
    EXPECT_THAT(error.found, StartsWith("CUDA_ERROR_OUT_OF_MEMORY (2)"));
  }
  fake.set("green_contexts=3");
  EXPECT_TRUE(split({8, 8}));
}

TEST_F(CudaSmPartitions, EndTheirStreamsBeforeTheirContexts) {
  {
    Result<SmPartitions> partitions = split({8, 16});
    ASSERT_TRUE(partitions);
    EXPECT_EQ(fake.things_left(), before + 3);
    EXPECT_EQ(priority_of(partitions->create_stream(1, -2).value()), -2);
    EXPECT_EQ(priority_of(partitions->create_stream({}, -1).value()), -1);
    ASSERT_TRUE(partitions->create_stream(1, 0));
    EXPECT_EQ(fake.things_left(), before + 6);
    SmPartitions moved = std::move(*partitions);
    EXPECT_EQ(fake.things_left(), before + 6);
    Result<SmPartitions> others = split({24});
    ASSERT_TRUE(others);
    ASSERT_TRUE(others->create_stream(0, 0));
    moved = std::move(*others);
    EXPECT_EQ(fake.things_left(), before + 3);  // two contexts and a stream
    EXPECT_THAT(sizes_of(moved), ElementsAre(24, 108));
  }
  EXPECT_EQ(fake.things_left(), before);
}

TEST_F(CudaSmPartitions, SayWhatGoesWrongAtTheirEnd) {
  Result<SmPartitions> partitions = split({8});
  ASSERT_TRUE(partitions);
  ASSERT_TRUE(partitions->create_stream(0, 0));
  ASSERT_TRUE(partitions->create_stream({}, 0));
  fake.set("fail=cuStreamDestroy:400");
  fake.set("fail=cuGreenCtxDestroy:201");
  const Errors errors = partitions->close();
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_THAT(errors.front().found, HasSubstr("(400)"));
  EXPECT_THAT(errors.back().found, HasSubstr("of cuGreenCtxDestroy"));
  EXPECT_EQ(fake.things_left(), before + 2);  // those two
  EXPECT_THAT(partitions->close(), IsEmpty());
}

TEST_F(CudaSmPartitions, RefuseStreamsOfPartitionsThatDoNotExist) {
  Result<SmPartitions> partitions = split({8});
  ASSERT_TRUE(partitions);
  const Result<CUstream> stream = partitions->create_stream(1, 0);
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.errors().front().code, ErrorCode::value);
  fake.set("fail=cuGreenCtxStreamCreate:2");
  const Result<CUstream> failed = partitions->create_stream(0, 0);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.errors().front().code, ErrorCode::environment);
}

TEST_F(CudaSmPartitions, AreSharesForPersistentBlocksWithoutGreenContexts) {
  load_without_green_contexts();
  Result<SmPartitions> partitions = split({8, 13});
  ASSERT_TRUE(partitions);
  EXPECT_EQ(partitions->kind(), PartitionKind::persistent_blocks);
  EXPECT_THAT(sizes_of(*partitions), ElementsAre(8, 13, 111));
  EXPECT_EQ(partitions->summary(),
            "2 partitions by persistent blocks, which kernels have to keep to, for want of green contexts: 8 (8 asked "
            "for), 13 (13 asked for); 111 left to the others");
  for (std::uint32_t sm = 0; sm < 132; ++sm) {
    EXPECT_EQ(contains(partitions->share_of(0), sm), sm < 8);
    EXPECT_EQ(contains(partitions->share_of(1), sm), sm >= 8 && sm < 21);
    EXPECT_EQ(contains(partitions->share_of({}), sm), sm >= 21);
  }
  EXPECT_EQ(fake.things_left(), before);
  EXPECT_EQ(priority_of(partitions->create_stream(1, -3).value()), -3);
  EXPECT_EQ(fake.things_left(), before + 1);
  EXPECT_THAT(partitions->close(), IsEmpty());
  EXPECT_EQ(fake.things_left(), before);
  EXPECT_THAT(error_of({100, 33}).advice, HasSubstr("99 + 33 SMs"));
  SmSplitOptions options;
  options.needs_rest = true;
  EXPECT_THAT(error_of({132}, options).advice, HasSubstr("131 SMs"));
}

TEST_F(CudaSmPartitions, AreNotMadeUnlessAskedFor) {
  SmSplitOptions options;
  options.needs_rest = true;
  Result<SmPartitions> none = split({}, options);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->kind(), PartitionKind::none);
  EXPECT_THAT(sizes_of(*none), ElementsAre(132));
  EXPECT_EQ(none->share_of({}).count, 132U);
  EXPECT_EQ(none->summary(), "no partitions of SMs");
  EXPECT_EQ(fake.things_left(), before);
  EXPECT_EQ(priority_of(none->create_stream({}, -1).value()), -1);
}

}  // namespace
}  // namespace rtgpu::cuda
