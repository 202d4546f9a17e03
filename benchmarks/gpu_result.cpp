#include "benchmarks/gpu_result.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rtgpu::benchmarks {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(Duration time) {
  return static_cast<double>(time.count()) / 1000;
}

// The largest value of those that were measured.
std::optional<Duration> largest(const GpuResult& result, std::initializer_list<std::string_view> names) {
  std::optional<Duration> most;
  for (const GpuMeasurement& measurement : result.measurements) {
    if (std::ranges::find(names, measurement.name) == names.end() || measurement.seen.count() == 0) continue;
    most = std::max(most.value_or(Duration()), measurement.seen.max());
  }
  return most;
}

Json json_of(const GpuMeasurement& measurement) {
  Json json = {{"name", measurement.name}, {"what", measurement.what}};
  if (!measurement.left_out.empty()) {
    json["left_out"] = measurement.left_out;
    return json;
  }
  const Histogram& seen = measurement.seen;
  json["count"] = seen.count();
  json["min"] = seen.min().count();
  json["median"] = seen.percentile(500).count();
  json["p99"] = seen.percentile(990).count();
  json["max"] = seen.max().count();
  return json;
}

Json platform_of(const GpuResult& result) {
  Json overheads = Json::object();
  if (const auto launch = largest(result, {"slice_cost"})) overheads["launch"] = to_string(*launch);
  if (const auto lock = largest(result, {"enter", "leave"})) overheads["lock"] = to_string(*lock);
  const Json gpu = {{"name", result.device.name},
                    {"sms", result.device.sms},
                    {"copy_engines", result.device.copy_engines},
                    {"memory", result.device.memory},
                    {"stream_priorities", result.device.stream_levels},
                    {"overheads", overheads}};
  return {{"gpus", Json::array({gpu})}};
}

}  // namespace

std::string gpu_table(const GpuResult& result) {
  std::string text = fmt::format("{}, driver {}, {} SMs, {} stream levels, {}\n", result.device.name, result.driver,
                                 result.device.sms, result.device.stream_levels, result.scheduler);
  text += fmt::format("{:<64} {:>8} {:>10} {:>10} {:>10}\n", "microseconds", "samples", "median", "99 %", "max");
  for (const GpuMeasurement& measurement : result.measurements) {
    if (!measurement.left_out.empty()) {
      text += fmt::format("{:<64} not measured: {}\n", measurement.what, measurement.left_out);
      continue;
    }
    const Histogram& seen = measurement.seen;
    text +=
        fmt::format("{:<64} {:>8} {:>10.2f} {:>10.2f} {:>10.2f}\n", measurement.what, seen.count(),
                    microseconds(seen.percentile(500)), microseconds(seen.percentile(990)), microseconds(seen.max()));
  }
  for (const std::string& note : result.notes) text += fmt::format("note: {}\n", note);
  return text;
}

std::string gpu_json(const GpuResult& result) {
  Json json = {{"device", result.device.name},
               {"driver", result.driver},
               {"scheduler", result.scheduler},
               {"samples", result.samples},
               {"unit", "ns"}};
  json["measurements"] = Json::array();
  for (const GpuMeasurement& measurement : result.measurements) json["measurements"].push_back(json_of(measurement));
  json["platform"] = platform_of(result);
  json["notes"] = result.notes;
  return json.dump(2) + '\n';
}

}  // namespace rtgpu::benchmarks
