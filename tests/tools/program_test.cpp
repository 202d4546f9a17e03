#include "tools/program.h"

#include <new>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::HasSubstr;

TEST(Guarded, PassesTheStatusOn) {
  EXPECT_EQ(guarded([] { return ExitStatus::no; }), ExitStatus::no);
}

TEST(Guarded, AnExceptionIsADefect) {
  testing::internal::CaptureStderr();
  const ExitStatus status = guarded([]() -> ExitStatus { throw std::logic_error("the terms do not add up"); });
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(static_cast<int>(status), 70);
  EXPECT_THAT(told, HasSubstr("defect of rtgpu"));
  EXPECT_THAT(told, HasSubstr("the terms do not add up"));
  EXPECT_THAT(told, HasSubstr("report it"));
}

TEST(Guarded, SoIsAnythingElseThatIsThrown) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded([]() -> ExitStatus { throw 1; }), ExitStatus::defect);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("defect of rtgpu"));
}

TEST(Guarded, TooLittleMemoryIsTheEnvironment) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded([]() -> ExitStatus { throw std::bad_alloc(); }), ExitStatus::environment);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("memory"));
}

}  // namespace
}  // namespace rtgpu
