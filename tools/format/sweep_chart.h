// The result of `rtgpu sweep` as a chart.
#pragma once

#include "analysis/experiments/sweep.h"
#include "tools/format/line_chart.h"

#include <string>
#include <string_view>

namespace rtgpu {

// Whether each value of the experiment has a place on an axis: numbers, or times with their unit.
bool can_be_drawn(const SweepExperiment& experiment);

// The ratios over the values, a line for each approach: a colour for each policy and variant, dashed for those that
// wait busily. Times are in milliseconds. What has no ratio is left out. can_be_drawn() holds. `name` is the preset as
// it was asked for.
LineChart chart_of(const SweepResult& result, std::string_view name);

}  // namespace rtgpu
