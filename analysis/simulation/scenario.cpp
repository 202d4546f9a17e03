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

// Names of draws that are made once a job; parts of a job have numbers above these.
constexpr std::uint64_t kGapDraw = 0;
constexpr std::uint64_t kGapLengthDraw = 1;
constexpr std::uint64_t kJitterDraw = 2;
constexpr std::uint64_t kJitterLengthDraw = 3;
constexpr std::uint64_t kFirstPart = 4;

// How a part is shortened: chance, way, length.
constexpr std::uint64_t kDrawsOfPart = 3;

}  // namespace

Scenario synchronous_scenario(std::size_t tasks) {
  Scenario scenario;
  scenario.tasks.resize(tasks);
  return scenario;
}

Duration ScenarioDraws::gap(std::size_t task, std::int64_t job) const {
  const TaskScenario& choices = scenario_->tasks[task];
  const auto number = static_cast<std::uint64_t>(job);
  if (!chance(choices.gap_chance, task, number, kGapDraw)) return {};
  return Duration::nanoseconds(up_to(choices.longest_gap.count(), task, number, kGapLengthDraw));
}

Duration ScenarioDraws::jitter(std::size_t task, std::int64_t job, Duration longest) const {
  const auto number = static_cast<std::uint64_t>(job);
  if (!chance(scenario_->tasks[task].jitter_chance, task, number, kJitterDraw)) return {};
  return Duration::nanoseconds(up_to(longest.count(), task, number, kJitterLengthDraw));
}

// Half of the shortened parts go all the way.
Duration ScenarioDraws::part(std::size_t task, std::int64_t job, std::size_t segment, JobPart part, Duration min,
                             Duration max) const {
  const auto number = static_cast<std::uint64_t>(job);
  const std::uint64_t what = kFirstPart + kDrawsOfPart * (8 * segment + static_cast<std::uint64_t>(part));
  if (!chance(scenario_->tasks[task].shorten_chance, task, number, what)) return max;
  const Duration least = scenario_->below_best_case ? Duration() : min;
  if (chance(500, task, number, what + 1)) return least;
  return least + Duration::nanoseconds(up_to((max - least).count(), task, number, what + 2));
}

std::int64_t ScenarioDraws::up_to(std::int64_t limit, std::uint64_t task, std::uint64_t job, std::uint64_t what) const {
  const std::uint64_t bits = mixed(mixed(mixed(scenario_->seed ^ (task << 40U) ^ what) + job));
  const auto range = static_cast<std::uint64_t>(limit) + 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>((UInt128{bits} * range) >> 64U));
}

bool ScenarioDraws::chance(int per_mille, std::uint64_t task, std::uint64_t job, std::uint64_t what) const {
  return per_mille > 0 && up_to(999, task, job, what) < per_mille;
}

}  // namespace rtgpu
