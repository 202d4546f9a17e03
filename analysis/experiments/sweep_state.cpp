#include "analysis/experiments/sweep_state.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Approach& approach) {
  return fmt::format("{}, jitter {}", to_string(approach), to_string(approach.jitter));
}

// All that the counts depend on.
Json experiment_as_json(const Sweep& sweep) {
  const SweepExperiment& experiment = sweep.experiment();
  Json object;
  object["version"] = RTGPU_VERSION;
  object["preset"] = experiment.preset;
  object["settings"] = experiment.settings;
  object["parameter"] = experiment.parameter;
  object["values"] = experiment.values;
  object["tasksets"] = experiment.tasksets;
  object["seed"] = experiment.seed;
  object["approaches"] = Json::array();
  for (const Approach& approach : experiment.approaches) object["approaches"].push_back(text_of(approach));
  object["chunk_size"] = experiment.chunk_size;
  return object;
}

Json point_as_json(const PointCounts& point) {
  Json object;
  object["tasksets"] = point.tasksets;
  object["schedulable"] = Json::array();
  object["not_covered"] = Json::array();
  for (const ApproachCounts& counts : point.approaches) {
    object["schedulable"].push_back(counts.schedulable);
    object["not_covered"].push_back(counts.not_covered);
  }
  return object;
}

Error state_error(ErrorCode code, std::string found, std::string expected) {
  Error error;
  error.code = code;
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

Error no_state(std::string found) {
  return state_error(ErrorCode::syntax, std::move(found), "the state of a sweep, as it was written");
}

// What of the experiment is not the same; the members are in the same order.
Errors differences(const Json& found, const Json& expected) {
  Errors errors;
  for (const auto& [key, value] : expected.items()) {
    const auto member = found.find(key);
    if (member != found.end() && *member == value) continue;
    const std::string other = member == found.end() ? "nothing" : member->dump();
    errors.push_back(state_error(ErrorCode::conflict, fmt::format("{} {}", key, other),
                                 fmt::format("{}, as in this sweep", value.dump())));
  }
  return errors;
}

PointCounts point_from_json(const Json& object) {
  PointCounts point;
  object.at("tasksets").get_to(point.tasksets);
  const auto schedulable = object.at("schedulable").get<std::vector<std::int64_t>>();
  const auto not_covered = object.at("not_covered").get<std::vector<std::int64_t>>();
  for (std::size_t i = 0; i < schedulable.size(); ++i) point.approaches.push_back({schedulable[i], not_covered.at(i)});
  return point;
}

// Throws a JSON exception or std::out_of_range where something is not there or of another type.
SweepCounts counts_from_json(const Json& state) {
  SweepCounts counts;
  for (const Json& range : state.at("done")) {
    counts.done.add(ChunkRange{range.at(0).get<std::int64_t>(), range.at(1).get<std::int64_t>()});
  }
  for (const Json& point : state.at("points")) counts.points.push_back(point_from_json(point));
  return counts;
}

bool is_sound(const PointCounts& point, std::size_t approaches) {
  if (point.approaches.size() != approaches) return false;
  for (const ApproachCounts& counts : point.approaches) {
    if (counts.schedulable < 0 || counts.not_covered < 0) return false;
    if (counts.schedulable > point.tasksets || counts.not_covered > point.tasksets - counts.schedulable) return false;
  }
  return true;
}

// How many tasksets each point has by the chunks that are done.
std::vector<std::int64_t> tasksets_by_point(const Sweep& sweep, const ChunkSet& done) {
  std::vector<std::int64_t> tasksets;
  const std::int64_t chunks = sweep.chunks() / static_cast<std::int64_t>(sweep.experiment().values.size());
  for (std::int64_t first = 0; first < sweep.chunks(); first += chunks) {
    tasksets.push_back(sweep.tasksets_of(done.within({first, first + chunks})));
  }
  return tasksets;
}

bool is_sound(const Sweep& sweep, const SweepCounts& counts) {
  for (const ChunkRange& range : counts.done.ranges()) {
    if (range.first < 0 || range.first >= range.end || range.end > sweep.chunks()) return false;
  }
  const std::vector<std::int64_t> tasksets = tasksets_by_point(sweep, counts.done);
  if (counts.points.size() != tasksets.size()) return false;
  for (std::size_t point = 0; point < tasksets.size(); ++point) {
    if (counts.points[point].tasksets != tasksets[point]) return false;
    if (!is_sound(counts.points[point], sweep.experiment().approaches.size())) return false;
  }
  return true;
}

}  // namespace

std::string write_sweep_state(const Sweep& sweep, const SweepCounts& counts) {
  Json state;
  state["rtgpu_sweep"] = 1;
  state["experiment"] = experiment_as_json(sweep);
  state["done"] = Json::array();
  for (const ChunkRange& range : counts.done.ranges()) state["done"].push_back({range.first, range.end});
  state["points"] = Json::array();
  for (const PointCounts& point : counts.points) state["points"].push_back(point_as_json(point));
  return state.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<SweepCounts> read_sweep_state(const Sweep& sweep, std::string_view text) {
  const Json state = Json::parse(text, nullptr, false);
  if (state.is_discarded()) return no_state("a text that is not JSON");
  const auto version = state.find("rtgpu_sweep");
  if (!state.is_object() || version == state.end() || *version != 1) return no_state("JSON without \"rtgpu_sweep\": 1");
  Errors errors = differences(state.value("experiment", Json::object()), experiment_as_json(sweep));
  if (!errors.empty()) return errors;
  try {
    SweepCounts counts = counts_from_json(state);
    if (is_sound(sweep, counts)) return counts;
  } catch (const Json::exception&) {
    return no_state("a state with parts missing");
  } catch (const std::out_of_range&) {
    return no_state("a state with counts missing");
  }
  return no_state("counts that contradict each other");
}

}  // namespace rtgpu
