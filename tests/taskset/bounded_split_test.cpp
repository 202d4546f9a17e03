// Splits of a sum: exact, within their bounds, and distributed as a uniform split is.
//
// Distributions are compared by the statistic of Kolmogorov and Smirnov. With true randomness a test below would reject
// a right split once in a million times (the bound of Dvoretzky, Kiefer, Wolfowitz and Massart, for any number of
// trials); with the fixed seeds it is always the same trial.
#include "taskset/generators/bounded_split.h"

#include "taskset/generators/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kOne = 1'000'000;
constexpr int kSplits = 5'000;

using Distribution = std::function<double(double)>;  // the probability of at most this

// The greatest distance of the values' distribution from the expected one, in units of 1 / sqrt(number of values).
double kolmogorov_distance(std::vector<double> values, const Distribution& expected) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double most = 0;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    const double here = expected(values[rank]);
    most = std::max({most, static_cast<double>(rank + 1) / count - here, here - static_cast<double>(rank) / count});
  }
  return most * std::sqrt(count);
}

// 2 exp(-2 d^2) = 10^-6.
constexpr double kRejected = 2.694;

// The density of the sum of `count` numbers that are uniform on 0 ... 1 (Irwin and Hall).
double density_of_sum(int count, double x) {
  if (x < 0 || x > count) return 0;
  if (count == 1) return 1;
  double sum = 0;
  double binomial = 1;
  for (int k = 0; k < x; ++k) {
    sum += (k % 2 == 0 ? 1 : -1) * binomial * std::pow(x - k, count - 1);
    binomial = binomial * (count - k) / (k + 1);
  }
  return sum / std::tgamma(count);
}

// Of the sum of `part` out of `count` shares within 0 ... 1 that add up to `sum`: its density is that of the part's sum
// and the rest's together.
Distribution of_partial_sum(int part, int count, double sum) {
  constexpr int kSteps = 1'000;
  const double step = static_cast<double>(part) / kSteps;
  std::vector<double> area(kSteps + 1);
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (i + 0.5) * step;
    area[static_cast<std::size_t>(i) + 1] =
        area[static_cast<std::size_t>(i)] + density_of_sum(part, middle) * density_of_sum(count - part, sum - middle);
  }
  return [area, step](double x) {
    const double place = std::clamp(x / step, 0.0, kSteps - 1e-6);
    const auto left = static_cast<std::size_t>(place);
    const double between = place - static_cast<double>(left);
    return (area[left] + between * (area[left + 1] - area[left])) / area.back();
  };
}

struct BoundedCase {
  int count;
  double sum;  // of shares within 0 ... 1
};

void PrintTo(const BoundedCase& each, std::ostream* out) {
  *out << each.count << " shares, sum " << each.sum;
}

// Sums of the first `part` shares of each split.
std::vector<double> partial_sums(const BoundedCase& each, std::size_t part, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> sums;
  const auto total = static_cast<std::int64_t>(std::llround(each.sum * kOne));
  for (int split = 0; split < kSplits; ++split) {
    const auto shares = split_within(random, total, static_cast<std::size_t>(each.count), 0, kOne);
    const auto end = shares.begin() + static_cast<std::ptrdiff_t>(part);
    sums.push_back(static_cast<double>(std::accumulate(shares.begin(), end, std::int64_t{0})) / kOne);
  }
  return sums;
}

class SplitWithin : public testing::TestWithParam<BoundedCase> {};

TEST_P(SplitWithin, HasTheMarginalsOfAUniformSplit) {
  const auto& [count, sum] = GetParam();
  EXPECT_LT(kolmogorov_distance(partial_sums(GetParam(), 1, 1), of_partial_sum(1, count, sum)), kRejected);
}

TEST_P(SplitWithin, HasTheJointDistributionOfAUniformSplit) {
  const auto& [count, sum] = GetParam();
  EXPECT_LT(kolmogorov_distance(partial_sums(GetParam(), 2, 2), of_partial_sum(2, count, sum)), kRejected);
}

INSTANTIATE_TEST_SUITE_P(RandFixedSum, SplitWithin,
                         testing::Values(BoundedCase{3, 0.5}, BoundedCase{3, 1.5}, BoundedCase{3, 2.0},
                                         BoundedCase{5, 0.7}, BoundedCase{5, 2.3}, BoundedCase{5, 4.9},
                                         BoundedCase{8, 6.9}, BoundedCase{10, 5.0}, BoundedCase{12, 1.25}));

TEST(SplitWithinBounds, TheTestTellsNearbyDistributionsApart) {
  const std::vector<double> values = partial_sums({5, 2.3}, 1, 1);
  EXPECT_GT(kolmogorov_distance(values, of_partial_sum(1, 5, 2.5)), kRejected);
  const auto without_bounds = [](double x) { return 1 - std::pow(1 - x / 2.3, 4); };
  EXPECT_GT(kolmogorov_distance(values, without_bounds), kRejected);
}

// Three shares with the sum 1.5 are a regular hexagon around its centre: as large a part of it is within a concentric
// one as the square of their ratio says.
TEST(SplitWithinBounds, FillsAHexagonEvenly) {
  Random random(5);
  std::vector<double> parts;
  for (int split = 0; split < kSplits; ++split) {
    std::int64_t most = 0;
    for (const std::int64_t share : split_within(random, 3 * kOne / 2, 3, 0, kOne)) {
      most = std::max(most, std::abs(2 * share - kOne));
    }
    const double ratio = static_cast<double>(most) / kOne;
    parts.push_back(ratio * ratio);
  }
  EXPECT_LT(kolmogorov_distance(parts, [](double part) { return part; }), kRejected);
}

// Discarding is slow, but certainly uniform.
TEST(SplitWithinBounds, GivesWhatDiscardingGives) {
  Random random(6);
  std::vector<double> discarded;
  while (discarded.size() < kSplits) {
    const auto shares = split_uniformly(random, 2 * kOne, 4);
    if (*std::ranges::max_element(shares) <= kOne) {
      discarded.push_back(static_cast<double>(*std::ranges::max_element(shares)));
    }
  }
  std::vector<double> direct;
  for (int split = 0; split < kSplits; ++split) {
    const auto shares = split_within(random, 2 * kOne, 4, 0, kOne);
    direct.push_back(static_cast<double>(*std::ranges::max_element(shares)));
  }
  std::sort(discarded.begin(), discarded.end());
  const double most = kolmogorov_distance(direct, [&](double value) {
    const auto at_most = std::upper_bound(discarded.begin(), discarded.end(), value) - discarded.begin();
    return static_cast<double>(at_most) / kSplits;
  });
  EXPECT_LT(most, kRejected * std::sqrt(2.0));  // both sides are samples
}

TEST(SplitWithinBounds, KeepsTheSumAndTheBounds) {
  Random random(4);
  struct Given {
    std::size_t count;
    std::int64_t low;
    std::int64_t high;
    std::int64_t total;
  };
  const std::vector<Given> all = {
      {1, 0, 10, 7},
      {2, 3, 4, 7},  // one of each
      {3, 5, 5, 15},
      {4, 0, 10, 0},
      {4, 0, 10, 40},
      {4, 0, 10, 1},
      {4, 0, 10, 39},
      {7, 100'000, 300'000, 1'000'000},
      {100, 10'000, 1'000'000, 1'000'001},
      {100, 0, 1'000'000, 99'999'999},
      {1'000, 0, 1'000'000, 3},
      {1'000, 0, 1'000'000, 500'000'000},
  };
  for (const auto& [count, low, high, total] : all) {
    SCOPED_TRACE(testing::Message() << count << " shares, total " << total);
    for (int split = 0; split < (count < 1'000 ? 200 : 1); ++split) {
      const auto shares = split_within(random, total, count, low, high);
      ASSERT_EQ(shares.size(), count);
      ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), total);
      ASSERT_GE(*std::ranges::min_element(shares), low);
      ASSERT_LE(*std::ranges::max_element(shares), high);
    }
  }
}

// A share of a uniform split into n exceeds the part u of the whole with the probability (1 - u)^(n - 1).
TEST(SplitUniformly, HasTheDistributionOfUUniFast) {
  for (const int count : {2, 4, 15}) {
    SCOPED_TRACE(count);
    for (const bool last : {false, true}) {
      Random random(8);
      std::vector<double> values;
      for (int split = 0; split < kSplits; ++split) {
        const auto shares = split_uniformly(random, kOne, static_cast<std::size_t>(count));
        values.push_back(static_cast<double>(last ? shares.back() : shares.front()) / kOne);
      }
      EXPECT_LT(kolmogorov_distance(values, [&](double u) { return 1 - std::pow(1 - u, count - 1); }), kRejected);
    }
  }
}

}  // namespace
}  // namespace rtgpu
