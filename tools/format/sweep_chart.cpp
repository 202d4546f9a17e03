#include "tools/format/sweep_chart.h"

#include "rtgpu/time.h"
#include "tools/format/sweep.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool is_number(const std::string& value) {
  return static_cast<bool>(duration_from_decimal(value, TimeUnit::ms, Rounding::up));
}

// The value as a decimal number: itself, or a time in milliseconds.
std::optional<std::string> place_on_axis(const std::string& value) {
  if (is_number(value)) return value;
  const Result<Duration> time = parse_duration(value, Rounding::up);
  return time ? std::optional(to_milliseconds(*time)) : std::nullopt;
}

bool has_both_variants(const SweepExperiment& experiment) {
  return std::ranges::any_of(experiment.approaches, [&](const Approach& approach) {
    return approach.variant != experiment.approaches.front().variant;
  });
}

// "gcaps, suspend", or where it matters "gcaps, suspend, safe".
std::string line_name(const Approach& approach, bool with_variant) {
  std::string name = fmt::format("{}, {}", policy_label(approach), to_string(approach.wait));
  if (with_variant) name += fmt::format(", {}", to_string(approach.variant));
  return name;
}

ChartLine line_of(const SweepResult& result, std::size_t place) {
  ChartLine line;
  for (std::size_t point = 0; point < result.points.size(); ++point) {
    const PointCounts& counts = result.points[point];
    std::string ratio = ratio_text(counts, counts.approaches[place]);
    if (!ratio.empty()) line.points.push_back({*place_on_axis(result.experiment.values[point]), std::move(ratio)});
  }
  return line;
}

}  // namespace

bool can_be_drawn(const SweepExperiment& experiment) {
  return std::ranges::all_of(experiment.values,
                             [](const std::string& value) { return place_on_axis(value).has_value(); });
}

LineChart chart_of(const SweepResult& result, std::string_view name) {
  const SweepExperiment& experiment = result.experiment;
  const bool with_variant = has_both_variants(experiment);
  LineChart chart;
  chart.title = fmt::format("{}, {} tasksets a point", name, experiment.tasksets);
  if (!result.complete()) chart.title += " (not complete)";
  if (!with_variant) chart.title += fmt::format(", {} analyses", to_string(experiment.approaches.front().variant));
  chart.x_label = experiment.parameter;
  if (!is_number(experiment.values.front())) chart.x_label += " (ms)";
  chart.y_label = "share of schedulable tasksets";
  std::vector<std::pair<std::string, Variant>> colours;
  for (std::size_t place = 0; place < experiment.approaches.size(); ++place) {
    const Approach& approach = experiment.approaches[place];
    const std::pair key(policy_label(approach), approach.variant);
    const auto known = std::ranges::find(colours, key);
    ChartLine line = line_of(result, place);
    line.colour = static_cast<int>(known - colours.begin());
    line.is_dashed = approach.wait == WaitChoice::busy;
    line.name = line_name(approach, with_variant);
    if (known == colours.end()) colours.push_back(key);
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  return chart;
}

}  // namespace rtgpu
