#include "tools/format/sweep.h"

#include "tools/format/csv.h"
#include "tools/format/printable.h"
#include "tools/format/report.h"
#include "tools/format/text_table.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using Json = nlohmann::ordered_json;

// `part` / `whole` in units of 10^-decimals, rounded to the nearest; part <= whole <= 10^9.
std::int64_t scaled_ratio(std::int64_t part, std::int64_t whole, std::int64_t scale) {
  return (2 * part * scale + whole) / (2 * whole);
}

std::string decimals(std::int64_t part, std::int64_t whole, int digits) {
  std::int64_t scale = 1;
  for (int digit = 0; digit < digits; ++digit) scale *= 10;
  const std::int64_t ratio = scaled_ratio(part, whole, scale);
  return fmt::format("{}.{:0{}}", ratio / scale, ratio % scale, digits);
}

std::int64_t covered(const PointCounts& point, const ApproachCounts& counts) {
  return point.tasksets - counts.not_covered;
}

std::string cell(const PointCounts& point, const ApproachCounts& counts) {
  const std::int64_t tasksets = covered(point, counts);
  return tasksets == 0 ? "-" : decimals(counts.schedulable, tasksets, 3);
}

// "0.4 (350 of 1000)" where not all are done.
std::string value_cell(const SweepResult& result, std::size_t point) {
  std::string value = printable(result.experiment.values[point]);
  const std::int64_t done = result.points[point].tasksets;
  if (done == result.experiment.tasksets) return value;
  return fmt::format("{} ({} of {})", value, done, result.experiment.tasksets);
}

std::vector<Variant> variants_in(const SweepExperiment& experiment) {
  std::vector<Variant> variants;
  for (const Approach& approach : experiment.approaches) {
    if (std::find(variants.begin(), variants.end(), approach.variant) == variants.end()) {
      variants.push_back(approach.variant);
    }
  }
  return variants;
}

// What is the same in all columns, above them.
std::string sweep_title(const SweepExperiment& experiment, std::string_view name) {
  std::string text = fmt::format("{}: ", name);
  if (name != experiment.preset) text += experiment.preset + ", ";
  for (const std::string& setting : experiment.settings) text += printable(setting) + ", ";
  return fmt::format("{}{} taskset{} a point from seed {}\n", text, experiment.tasksets,
                     experiment.tasksets == 1 ? "" : "s", experiment.seed);
}

std::string remarks(const SweepResult& result) {
  std::string text = "share of schedulable tasksets";
  for (const Variant variant : variants_in(result.experiment)) {
    text += fmt::format("; {}: {}", to_string(variant), trust_label(variant));
  }
  if (result.experiment.approaches.front().jitter == JitterSource::deadline) text += "; jitter from deadlines";
  if (!result.complete()) text += "\nnot complete: where a number of tasksets is given, that many are done";
  return text + '\n';
}

Json point_value(const std::string& value) {
  const Json number = Json::parse(value, nullptr, false);
  return number.is_number() ? number : Json(value);
}

Json sweep_row(const SweepResult& result, std::size_t point, std::size_t place) {
  const Approach& approach = result.experiment.approaches[place];
  const ApproachCounts& counts = result.points[point].approaches[place];
  Json object;
  object["value"] = point_value(result.experiment.values[point]);
  object["policy"] = to_string(approach.policy);
  object["wait"] = to_string(approach.wait);
  object["variant"] = to_string(approach.variant);
  object["gpu_priorities"] = approach.gpu_priorities == GpuPriorities::search ? "search" : "file";
  object["jitter"] = to_string(approach.jitter);
  object["tasksets"] = covered(result.points[point], counts);
  object["schedulable"] = counts.schedulable;
  object["not_covered"] = counts.not_covered;
  object["ratio"] = Json::parse(ratio_text(result.points[point], counts), nullptr, false);
  if (object["ratio"].is_discarded()) object["ratio"] = nullptr;
  return object;
}

}  // namespace

std::string ratio_text(const PointCounts& point, const ApproachCounts& counts) {
  const std::int64_t tasksets = covered(point, counts);
  if (tasksets == 0) return "";
  std::string text = decimals(counts.schedulable, tasksets, 6);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void append_table(std::string& out, const SweepResult& result, std::string_view name) {
  const SweepExperiment& experiment = result.experiment;
  std::vector<TextTable::Column> columns = {{printable(experiment.parameter), Align::left}};
  std::vector<std::string> waits = {""};
  std::vector<std::string> variants = {""};
  for (const Approach& approach : experiment.approaches) {
    columns.push_back({policy_label(approach), Align::right});
    waits.emplace_back(to_string(approach.wait));
    variants.emplace_back(to_string(approach.variant));
  }
  TextTable table(std::move(columns));
  table.add_row(std::move(waits));
  if (variants_in(experiment).size() > 1) table.add_row(std::move(variants));
  for (std::size_t point = 0; point < result.points.size(); ++point) {
    std::vector<std::string> cells = {value_cell(result, point)};
    for (const ApproachCounts& counts : result.points[point].approaches) {
      cells.push_back(cell(result.points[point], counts));
    }
    table.add_row(std::move(cells));
  }
  out += sweep_title(experiment, name);
  out += '\n';
  table.append_to(out);
  out += '\n';
  out += remarks(result);
}

void append_csv(std::string& out, const SweepResult& result) {
  out += "parameter,value,policy,wait,variant,tasksets,schedulable,ratio\n";
  for (std::size_t point = 0; point < result.points.size(); ++point) {
    if (result.points[point].tasksets == 0) continue;
    for (std::size_t place = 0; place < result.experiment.approaches.size(); ++place) {
      const Approach& approach = result.experiment.approaches[place];
      const ApproachCounts& counts = result.points[point].approaches[place];
      append_csv_field(out, result.experiment.parameter);
      out += ',';
      append_csv_field(out, result.experiment.values[point]);
      out += fmt::format(",{},{},{},{},{},{}\n", policy_label(approach), to_string(approach.wait),
                         to_string(approach.variant), covered(result.points[point], counts), counts.schedulable,
                         ratio_text(result.points[point], counts));
    }
  }
}

void append_json(std::string& out, const SweepResult& result, std::string_view name) {
  const SweepExperiment& experiment = result.experiment;
  Json object;
  object["rtgpu_result"] = 1;
  object["command"] = "sweep";
  object["preset"] = name;
  object["generator"] = experiment.preset;
  object["settings"] = experiment.settings;
  object["parameter"] = experiment.parameter;
  object["seed"] = experiment.seed;
  object["tasksets"] = experiment.tasksets;
  object["complete"] = result.complete();
  object["results"] = Json::array();
  for (std::size_t point = 0; point < result.points.size(); ++point) {
    if (result.points[point].tasksets == 0) continue;
    for (std::size_t place = 0; place < experiment.approaches.size(); ++place) {
      object["results"].push_back(sweep_row(result, point, place));
    }
  }
  out += object.dump(2, ' ', false, Json::error_handler_t::replace);
  out += '\n';
}

}  // namespace rtgpu
