#include "analysis/falsification/counterexample.h"
#include "taskset/json.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormatKey = "rtgpu_counterexample";
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// --- writing

void set_unless_zero(Json& object, const char* key, std::int64_t value) {
  if (value != 0) object[key] = value;
}

Json scenario_as_json(const Counterexample& counterexample) {
  Json object;
  object["seed"] = counterexample.scenario.seed;
  if (counterexample.scenario.below_best_case) object["below_best_case"] = true;
  object["tasks"] = Json::array();
  for (std::size_t task = 0; task < counterexample.scenario.tasks.size(); ++task) {
    const TaskScenario& choices = counterexample.scenario.tasks[task];
    Json entry;
    entry["task"] = counterexample.taskset.tasks[task].name;
    entry["offset_ns"] = choices.offset.count();
    set_unless_zero(entry, "gap_chance", choices.gap_chance);
    set_unless_zero(entry, "longest_gap_ns", choices.longest_gap.count());
    set_unless_zero(entry, "jitter_chance", choices.jitter_chance);
    set_unless_zero(entry, "shorten_chance", choices.shorten_chance);
    object["tasks"].push_back(std::move(entry));
  }
  return object;
}

// --- reading

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  Result<Counterexample> read(std::string_view text) {
    const Json document = Json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object()) {
      add(ErrorCode::syntax, "", "no JSON object", "a counterexample");
      return std::move(errors_);
    }
    Counterexample counterexample;
    if (number(document, "", kFormatKey, 0, 0, kLargest) != 1) {
      add(ErrorCode::value, fmt::format("/{}", kFormatKey), "no version that is known", "1");
    }
    read_taskset_of(document, counterexample);
    if (!errors_.empty()) return std::move(errors_);
    read_claim(document, counterexample);
    read_scenario(document, counterexample);
    if (!errors_.empty()) return std::move(errors_);
    return counterexample;
  }

 private:
  void add(ErrorCode code, std::string pointer, std::string found, std::string expected) {
    Error error;
    error.code = code;
    error.place = {std::string(source_), std::move(pointer), 0, 0};
    error.found = std::move(found);
    error.expected = std::move(expected);
    errors_.push_back(std::move(error));
  }

  std::int64_t number(const Json& object, const std::string& at, const char* key, std::int64_t otherwise,
                      std::int64_t least, std::int64_t most) {
    if (!object.contains(key)) return otherwise;
    const Json& value = object[key];
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{kLargest});
    if (fits && value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most) {
      return value.get<std::int64_t>();
    }
    add(ErrorCode::value, fmt::format("{}/{}", at, key), value.dump(),
        fmt::format("a whole number from {} to {}", least, most));
    return otherwise;
  }

  Duration time(const Json& object, const std::string& at, const char* key, bool needed) {
    if (needed && !object.contains(key)) {
      add(ErrorCode::missing, fmt::format("{}/{}", at, key), "nothing", "a time in nanoseconds");
    }
    return Duration::nanoseconds(number(object, at, key, 0, 0, kMaxTime.count()));
  }

  std::string text(const Json& object, const std::string& at, const char* key) {
    if (object.contains(key) && object[key].is_string()) return object[key].get<std::string>();
    add(ErrorCode::missing, fmt::format("{}/{}", at, key), "no text", "a text");
    return {};
  }

  void read_taskset_of(const Json& document, Counterexample& counterexample) {
    if (!document.contains("taskset")) {
      add(ErrorCode::missing, "/taskset", "nothing", "a taskset");
      return;
    }
    Result<LoadedTaskset> loaded = read_taskset(document["taskset"].dump(), source_);
    if (loaded) {
      counterexample.taskset = std::move(loaded->taskset);
      return;
    }
    for (Error& error : loaded.errors()) {
      error.place.pointer = "/taskset" + error.place.pointer;
      error.place.line = error.place.column = 0;
      errors_.push_back(std::move(error));
    }
  }

  std::optional<TaskIndex> task_named(const Taskset& taskset, const std::string& name, std::string pointer) {
    const auto found = std::ranges::find(taskset.tasks, name, &Task::name);
    if (found != taskset.tasks.end()) return static_cast<TaskIndex>(found - taskset.tasks.begin());
    add(ErrorCode::value, std::move(pointer), fmt::format("'{}'", name), "the name of a task");
    return std::nullopt;
  }

  void read_claim(const Json& document, Counterexample& counterexample) {
    counterexample.why = text(document, "", "why");
    const std::string policy = text(document, "", "policy");
    const std::optional<Policy> known = parse_policy(policy);
    if (!known) add(ErrorCode::value, "/policy", fmt::format("'{}'", policy), "a policy");
    counterexample.policy = known.value_or(Policy::gcaps);
    const std::string variant = text(document, "", "variant");
    if (variant != to_string(Variant::safe) && variant != to_string(Variant::published)) {
      add(ErrorCode::value, "/variant", fmt::format("'{}'", variant), "safe or published");
    }
    counterexample.variant = variant == to_string(Variant::safe) ? Variant::safe : Variant::published;
    const auto task = task_named(counterexample.taskset, text(document, "", "task"), "/task");
    counterexample.task = task.value_or(kNoTask);
    counterexample.job = number(document, "", "job", 0, 0, kLargest);
    counterexample.bound = time(document, "", "bound_ns", true);
    counterexample.observed = time(document, "", "observed_ns", true);
    counterexample.horizon = time(document, "", "horizon_ns", true);
  }

  void read_scenario(const Json& document, Counterexample& counterexample) {
    Scenario& scenario = counterexample.scenario;
    scenario = synchronous_scenario(counterexample.taskset.tasks.size());
    if (!document.contains("scenario") || !document["scenario"].is_object()) {
      add(ErrorCode::missing, "/scenario", "nothing", "an object");
      return;
    }
    const Json& object = document["scenario"];
    if (object.contains("seed") && object["seed"].is_number_unsigned()) {
      scenario.seed = object["seed"].get<std::uint64_t>();
    } else {
      add(ErrorCode::value, "/scenario/seed", "no seed", "a whole number from 0 to 2^64-1");
    }
    scenario.below_best_case = object.value("below_best_case", Json(false)) == true;
    if (!object.contains("tasks") || !object["tasks"].is_array()) {
      add(ErrorCode::missing, "/scenario/tasks", "nothing", "an array");
      return;
    }
    std::size_t place = 0;
    for (const Json& entry : object["tasks"]) {
      read_task(entry, fmt::format("/scenario/tasks/{}", place++), counterexample);
    }
  }

  void read_task(const Json& entry, const std::string& at, Counterexample& counterexample) {
    if (!entry.is_object()) return add(ErrorCode::type, at, entry.dump(), "an object");
    const auto task = task_named(counterexample.taskset, text(entry, at, "task"), at + "/task");
    if (!task) return;
    TaskScenario& choices = counterexample.scenario.tasks[*task];
    const auto chance = [&](const char* key) { return static_cast<int>(number(entry, at, key, 0, 0, 1000)); };
    choices.offset = time(entry, at, "offset_ns", false);
    choices.gap_chance = chance("gap_chance");
    choices.longest_gap = time(entry, at, "longest_gap_ns", false);
    choices.jitter_chance = chance("jitter_chance");
    choices.shorten_chance = chance("shorten_chance");
  }

  std::string_view source_;
  Errors errors_;
};

}  // namespace

std::string write_counterexample(const Counterexample& counterexample) {
  Json object;
  object[kFormatKey] = 1;
  object["why"] = counterexample.why;
  object["policy"] = to_string(counterexample.policy);
  object["variant"] = to_string(counterexample.variant);
  object["task"] = counterexample.taskset.tasks[counterexample.task].name;
  object["job"] = counterexample.job;
  object["bound_ns"] = counterexample.bound.count();
  object["observed_ns"] = counterexample.observed.count();
  object["horizon_ns"] = counterexample.horizon.count();
  object["scenario"] = scenario_as_json(counterexample);
  object["taskset"] = Json::parse(write_taskset(counterexample.taskset));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Counterexample> read_counterexample(std::string_view text, std::string_view source) {
  return Reader(source).read(text);
}

bool is_counterexample(std::string_view text) {
  return text.find('"' + std::string(kFormatKey) + '"') != std::string_view::npos;
}

}  // namespace rtgpu
