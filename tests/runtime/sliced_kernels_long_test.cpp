// As many grids as take longer than a test that is run at every change should.
#include "tests/runtime/sliced_kernels.h"

#include <random>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

TEST(SlicedKernels, GiveTheSameResultsForManyGrids) {
  check_sliced_kernels(std::random_device{}(), 10'000);
}

}  // namespace
}  // namespace rtgpu
