#include "analysis/experiments/sweep.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Error experiment_error(std::string_view member, std::string found, std::string expected) {
  Error error;
  error.code = ErrorCode::value;
  error.place.source = member;
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

void add_error(Errors& errors, std::string_view member, Error error) {
  error.place.source = member;
  errors.push_back(std::move(error));
}

void check_number(std::string_view member, std::int64_t number, std::int64_t highest, Errors& errors) {
  if (1 <= number && number <= highest) return;
  errors.push_back(
      experiment_error(member, std::to_string(number), fmt::format("a whole number from 1 to {}", highest)));
}

void check_approaches(const std::vector<Approach>& approaches, Errors& errors) {
  if (approaches.empty()) errors.push_back(experiment_error("approaches", "none", "at least one"));
  for (std::size_t i = 0; i < approaches.size(); ++i) {
    const Approach& approach = approaches[i];
    if (auto error = availability_error(approach.policy, approach.variant)) {
      add_error(errors, "approaches", *std::move(error));
    } else if (approach.gpu_priorities == GpuPriorities::search &&
               !can_search_gpu_priorities(approach.policy, approach.variant)) {
      errors.push_back(
          experiment_error("approaches", to_string(approach), "a policy whose GPU priorities can be searched"));
    }
    const auto before = approaches.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(approaches.begin(), before, approach) != before) {
      errors.push_back(experiment_error("approaches", to_string(approach) + " twice", "each approach once"));
    }
  }
}

void apply_setting(Preset& preset, std::string_view parameter, const std::string& setting, Errors& errors) {
  const std::size_t equals = setting.find('=');
  const std::string_view text = setting;
  if (equals == std::string::npos) {
    errors.push_back(experiment_error("settings", fmt::format("'{}'", setting), "key=value"));
  } else if (text.substr(0, equals) == parameter) {
    errors.push_back(
        experiment_error("settings", fmt::format("'{}', the key that is varied", parameter), "another key"));
  } else if (auto error = preset.set(text.substr(0, equals), text.substr(equals + 1))) {
    add_error(errors, "settings", *std::move(error));
  }
}

void check_values(const std::vector<std::string>& values, Errors& errors) {
  if (values.empty() || values.size() > kMaxPoints) {
    errors.push_back(
        experiment_error("values", std::to_string(values.size()), fmt::format("from 1 to {} values", kMaxPoints)));
  }
}

// The generator of each point. Errors that all points share are told once.
std::vector<Preset> presets_of_points(const SweepExperiment& experiment, Errors& errors) {
  std::vector<Preset> points;
  std::optional<Preset> common = Preset::named(experiment.preset);
  if (!common) {
    errors.push_back(experiment_error("preset", fmt::format("'{}'", experiment.preset),
                                      fmt::format("one of {}", fmt::join(Preset::names(), ", "))));
    return points;
  }
  for (const std::string& setting : experiment.settings) apply_setting(*common, experiment.parameter, setting, errors);
  for (const std::string& value : experiment.values) {
    Errors wrong;
    Preset& point = points.emplace_back(*common);
    if (auto error = point.set(experiment.parameter, value)) {
      add_error(wrong, "values", *std::move(error));
    } else {
      for (Error& conflict : point.check()) add_error(wrong, "values", std::move(conflict));
    }
    if (wrong.empty()) continue;
    errors.insert(errors.end(), wrong.begin(), wrong.end());
    break;
  }
  return points;
}

}  // namespace

std::int64_t SweepCounts::tasksets() const {
  std::int64_t sum = 0;
  for (const PointCounts& point : points) sum += point.tasksets;
  return sum;
}

bool SweepResult::complete() const {
  return std::ranges::all_of(points, [&](const PointCounts& point) { return point.tasksets == experiment.tasksets; });
}

Sweep::Sweep(SweepExperiment experiment, std::vector<Preset> points)
    : experiment_(std::move(experiment)), points_(std::move(points)) {}

Result<Sweep> Sweep::of(SweepExperiment experiment) {
  Errors errors;
  check_values(experiment.values, errors);
  check_number("tasksets", experiment.tasksets, kMaxTasksetsPerPoint, errors);
  check_number("chunk_size", experiment.chunk_size, kMaxTasksetsPerPoint, errors);
  check_approaches(experiment.approaches, errors);
  std::vector<Preset> points = presets_of_points(experiment, errors);
  if (!errors.empty()) return errors;
  return Sweep(std::move(experiment), std::move(points));
}

std::int64_t Sweep::chunks_per_point() const {
  return (experiment_.tasksets - 1) / experiment_.chunk_size + 1;
}

std::int64_t Sweep::chunks() const {
  return chunks_per_point() * static_cast<std::int64_t>(points_.size());
}

SweepChunk Sweep::chunk(std::int64_t number) const {
  SweepChunk chunk;
  chunk.point = static_cast<std::size_t>(number / chunks_per_point());
  chunk.first = number % chunks_per_point() * experiment_.chunk_size;
  chunk.count = std::min(experiment_.chunk_size, experiment_.tasksets - chunk.first);
  return chunk;
}

std::int64_t Sweep::tasksets_of(const ChunkSet& chunks) const {
  std::int64_t sum = chunks.size() * experiment_.chunk_size;
  // The last chunk of a point may be smaller.
  for (std::size_t point = 0; point < points_.size(); ++point) {
    const std::int64_t last = chunks_per_point() * static_cast<std::int64_t>(point + 1) - 1;
    if (chunks.contains(last)) sum -= experiment_.chunk_size - chunk(last).count;
  }
  return sum;
}

Result<Taskset> Sweep::taskset(std::size_t point, std::int64_t index) const {
  return points_[point].generate(experiment_.seed, index);
}

Result<PointCounts> Sweep::count(const SweepChunk& chunk, Judge& judge) const {
  PointCounts counts;
  counts.approaches.resize(experiment_.approaches.size());
  for (std::int64_t index = chunk.first; index < chunk.first + chunk.count; ++index) {
    const Result<Taskset> made = taskset(chunk.point, index);
    if (!made) return made.errors();
    judge.take(*made);
    for (std::size_t i = 0; i < counts.approaches.size(); ++i) {
      const Verdict verdict = verdict_of(judge, experiment_.approaches[i]);
      if (verdict == Verdict::schedulable) ++counts.approaches[i].schedulable;
      if (verdict == Verdict::not_covered) ++counts.approaches[i].not_covered;
    }
    ++counts.tasksets;
  }
  return counts;
}

SweepCounts Sweep::no_counts() const {
  PointCounts none;
  none.approaches.resize(experiment_.approaches.size());
  SweepCounts counts;
  counts.points.assign(points_.size(), none);
  return counts;
}

namespace {

void add_counts(PointCounts& counts, const PointCounts& more) {
  counts.tasksets += more.tasksets;
  for (std::size_t i = 0; i < counts.approaches.size(); ++i) {
    counts.approaches[i].schedulable += more.approaches[i].schedulable;
    counts.approaches[i].not_covered += more.approaches[i].not_covered;
  }
}

}  // namespace

void Sweep::add(SweepCounts& counts, std::int64_t number, const PointCounts& of_chunk) const {
  add_counts(counts.points[chunk(number).point], of_chunk);
  counts.done.add(number);
}

std::optional<Error> Sweep::merge(SweepCounts& counts, const SweepCounts& others) const {
  if (counts.done.intersects(others.done)) {
    Error error = experiment_error("chunks", "some that are counted already", "each chunk once");
    error.code = ErrorCode::conflict;
    return error;
  }
  for (std::size_t point = 0; point < counts.points.size(); ++point) {
    add_counts(counts.points[point], others.points[point]);
  }
  counts.done.add(others.done);
  return std::nullopt;
}

}  // namespace rtgpu
