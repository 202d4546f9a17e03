#include "runtime/device/cuda/sm_split.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

Error too_many_sms(std::string found, std::string expected, std::string advice) {
  return Error{ErrorCode::limit, Place{}, std::move(found), std::move(expected), std::move(advice)};
}

// The units that partitions may take together.
int most_units(const SmUnits& device, bool needs_rest) {
  const bool leave_nothing = device.units * device.unit >= device.sms;
  return needs_rest && leave_nothing ? device.units - 1 : device.units;
}

// The same partitions, the largest made smaller until all fit; of equals the one that was smaller first. There are at
// most `most` partitions.
std::vector<int> made_to_fit(const std::vector<int>& wanted, int most) {
  std::vector<int> units = wanted;
  for (int& each : units) each = std::min(each, most);
  int all = std::accumulate(units.begin(), units.end(), 0);
  for (; all > most; --all) {
    std::size_t largest = 0;
    for (std::size_t at = 1; at < units.size(); ++at) {
      if (std::pair(units[at], -wanted[at]) >= std::pair(units[largest], -wanted[largest])) largest = at;
    }
    --units[largest];
  }
  return units;
}

std::string sizes(const std::vector<int>& units, int unit) {
  std::vector<std::int64_t> sms;
  for (const int each : units) sms.push_back(std::int64_t{each} * unit);
  return fmt::format("{}", fmt::join(sms, " + "));
}

std::string advice_for(const std::vector<int>& units, int unit, int most) {
  if (most < 1) return "Ask for no partition.";
  if (units.size() > static_cast<std::size_t>(most)) return fmt::format("Ask for at most {} partitions.", most);
  return fmt::format("These would fit: {} SMs.", sizes(made_to_fit(units, most), unit));
}

}  // namespace

Result<std::vector<int>> plan_sm_split(std::span<const int> asked, const SmUnits& device, bool needs_rest) {
  if (std::ranges::any_of(asked, [](int sms) { return sms < 1; })) {
    return too_many_sms(fmt::format("partitions of {} SMs", fmt::join(asked, " + ")), "at least 1 SM in each", {});
  }
  std::vector<int> units;
  for (const int sms : asked) units.push_back((sms - 1) / device.unit + 1);
  const int most = most_units(device, needs_rest);
  if (std::accumulate(units.begin(), units.end(), std::int64_t{0}) <= most) return units;
  std::string found = fmt::format("partitions of {} SMs", fmt::join(asked, " + "));
  if (device.unit > 1) {
    found += fmt::format(", which are {} in whole units of {}", sizes(units, device.unit), device.unit);
  }
  return too_many_sms(std::move(found),
                      fmt::format("at most {} of the device's {} SMs in all{}", most * device.unit, device.sms,
                                  needs_rest ? ", with one at least left to work in no partition" : ""),
                      advice_for(units, device.unit, most));
}

}  // namespace rtgpu::cuda
