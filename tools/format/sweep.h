// The result of `rtgpu sweep`, and its forms.
#pragma once

#include "analysis/experiments/sweep.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace rtgpu {

// Schedulable tasksets / those that the analysis covers, rounded to 6 decimals: "0.934"; empty where there is none.
std::string ratio_text(const PointCounts& point, const ApproachCounts& counts);

// A row for each value, a column for each approach. `name` is the preset as it was asked for.
void append_table(std::string& out, const SweepResult& result, std::string_view name);
// parameter,value,policy,wait,variant,tasksets,schedulable,ratio: a row for each value and approach. Tasksets that an
// analysis does not cover are not in its rows; values of which nothing is done have none.
void append_csv(std::string& out, const SweepResult& result);
void append_json(std::string& out, const SweepResult& result, std::string_view name);

}  // namespace rtgpu
