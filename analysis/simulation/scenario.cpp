#include "analysis/simulation/scenario.h"

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using UInt128 = unsigned __int128;

constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

Scenario synchronous_scenario(std::size_t tasks) {
  Scenario scenario;
  scenario.tasks.resize(tasks);
  return scenario;
}

std::uint64_t Draws::bits(std::uint64_t task, std::uint64_t job, std::uint64_t what) const {
  return mixed(mixed(mixed(seed_ ^ (task << 40U) ^ what) + job));
}

std::int64_t Draws::up_to(std::int64_t limit, std::uint64_t task, std::uint64_t job, std::uint64_t what) const {
  const auto range = static_cast<std::uint64_t>(limit) + 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>((UInt128{bits(task, job, what)} * range) >> 64U));
}

bool Draws::chance(int per_mille, std::uint64_t task, std::uint64_t job, std::uint64_t what) const {
  return per_mille > 0 && up_to(999, task, job, what) < per_mille;
}

}  // namespace rtgpu
