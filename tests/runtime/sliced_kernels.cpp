#include "tests/runtime/sliced_kernels.h"

#include "runtime/device/host/compute_device.h"
#include "runtime/device/sliced_grid.h"
#include "runtime/device/slicing.h"
#include "tests/runtime/device_driver.h"
#include "tests/runtime/random_grids.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

// Rounded at each step and dependent on all three coordinates: another place, order or number of runs shows in the
// bits.
float value_at(BlockIndex block, float before) {
  const float sum = before * 0.7F + static_cast<float>(block.x) * 0.1F;
  return std::sqrt(sum + static_cast<float>(block.y) / 3.0F) + static_cast<float>(block.z) * 1.9F;
}

// The kernel as launched with the whole grid, whose blocks find their places in a list.
std::vector<float> compute_whole(DeviceDriver& driver, StreamId stream, GridDim grid, const std::vector<float>& input) {
  std::vector<float> output = input;
  const std::vector<BlockIndex> places = blocks_in_order(grid);
  const auto kernel = [&places, &output](const Block& block) {
    const auto at = static_cast<std::size_t>(block.index);
    output[at] = value_at(places[at], output[at]);
  };
  driver.execute(stream, *batch_of(kernel, {blocks_of(grid)}));
  return output;
}

// The kernel as launched for slices: each launch has a grid of its own, from 0, as on a GPU.
std::vector<float> compute_in_slices(DeviceDriver& driver, StreamId stream, GridDim grid, std::int64_t per_slice,
                                     const std::vector<float>& input) {
  std::vector<float> output = input;
  const Sliced slices = sliced(blocks_of(grid), per_slice);
  WorkBatch batch(static_cast<std::size_t>(slices.count()));
  for (const Slice part : slices) {
    const auto kernel = [&output, grid, slice = grid_slice(part)](const Block& block) {
      const BlockIndex place = block_of(slice, grid, block.index);
      float& value = output[place.x + std::size_t{grid.x} * (place.y + std::size_t{grid.y} * place.z)];
      value = value_at(place, value);
    };
    batch.add(Launch{kernel, 0, part.blocks, {}});
    batch.end_slice();
  }
  driver.execute(stream, batch);
  return output;
}

// The kernel by persistent blocks, of which each device block is one.
std::vector<float> compute_by_persistent(DeviceDriver& driver, StreamId stream, GridDim grid, SmShare share,
                                         const std::vector<float>& input) {
  std::vector<float> output = input;
  const auto kernel = [&output, grid, share](const Block& persistent) {
    const auto number = static_cast<std::uint32_t>(persistent.index);
    for (const std::int64_t index : PersistentBlocks(share, number, blocks_of(grid))) {
      float& value = output[static_cast<std::size_t>(index)];
      value = value_at(block_at(grid, index), value);
    }
  };
  driver.execute(stream, *batch_of(kernel, {share.count}));
  return output;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check_results(RandomGrids& random, DeviceDriver& driver, StreamId stream) {
  const GridDim grid = random.grid(8, 4);
  const std::int64_t per_slice = random.up_to(blocks_of(grid));
  const auto sms = static_cast<std::uint32_t>(random.up_to(5));
  SCOPED_TRACE(::testing::Message() << ::testing::PrintToString(grid) << ", " << per_slice << " in a slice, " << sms
                                    << " persistent blocks");
  std::vector<float> input;
  for (std::int64_t block = 0; block < blocks_of(grid); ++block) {
    input.push_back(static_cast<float>(random.up_to(1'000'000)) / 1'024.0F);
  }
  const std::vector<float> whole = compute_whole(driver, stream, grid, input);
  ASSERT_NE(whole, input);
  ASSERT_TRUE(same_bits(compute_in_slices(driver, stream, grid, per_slice, input), whole));
  ASSERT_TRUE(same_bits(compute_by_persistent(driver, stream, grid, {0, sms, sms}, input), whole));
}

}  // namespace

void check_sliced_kernels(std::uint64_t seed, int grids) {
  constexpr int kGridsInARun = 50;  // the driver keeps all events: a new one now and then is quicker
  RandomGrids random(seed);
  for (int left = grids; left > 0; left -= kGridsInARun) {
    ComputeDevice device(properties_with(2));
    const StreamId stream = device.add_stream({}).value();
    DeviceDriver driver(device);
    driver.run([&] {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      for (int round = 0; round < std::min(left, kGridsInARun) && !::testing::Test::HasFailure(); ++round) {
        check_results(random, driver, stream);
      }
    });
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace rtgpu
