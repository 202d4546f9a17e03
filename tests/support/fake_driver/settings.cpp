#include "tests/support/fake_driver/settings.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace rtgpu::cuda::fake {
namespace {

template <class Number = std::uint64_t>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// NAME:CODE or NAME:CODE:N
bool plan_result(Settings& settings, std::string_view value) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view numbers = value.substr(colon + 1);
  const std::size_t second = numbers.find(':');
  const std::optional<std::uint64_t> code = number_in(numbers.substr(0, second));
  const auto count = second != std::string_view::npos ? number_in(numbers.substr(second + 1)) : std::uint64_t{1};
  if (!code || !count || *count == 0) return false;
  settings.planned.push_back({std::string(value.substr(0, colon)), static_cast<CUresult>(*code), *count});
  return true;
}

bool change_clock(Settings& settings, std::string_view value) {
  if (value == "none")
    settings.clock = Clock::none;
  else if (value == "manual")
    settings.clock = Clock::manual;
  else if (value == "monotonic")
    settings.clock = Clock::monotonic;
  else
    return false;
  return true;
}

bool change_clock_speed(Settings& settings, std::string_view value) {
  const std::optional<std::int64_t> ppm = number_in<std::int64_t>(value);
  if (ppm) settings.clock_ppm = *ppm;
  return ppm.has_value();
}

bool change_result(Settings& settings, std::string_view key, CUresult result) {
  if (key == "init")
    settings.init = result;
  else if (key == "split")
    settings.split = result;
  else if (key == "fault")
    settings.fault = result;
  else if (key == "fault_at_launch")
    settings.fault_at_launch = result;
  else
    return false;
  return true;
}

bool change_switch(Settings& settings, std::string_view key, bool on) {
  if (key == "green")
    settings.green = on;
  else if (key == "sm_tells_units")
    settings.sm_tells_units = on;
  else if (key == "sm_remainder")
    settings.sm_remainder = on;
  else if (key == "sm_remainder_lost")
    settings.sm_remainder_lost = on;
  else if (key == "default_stream")
    settings.default_stream = on;
  else if (key == "hold")
    settings.hold = on;
  else if (key == "hang_at_launch")
    settings.hang_at_launch = on;
  else
    return false;
  return true;
}

bool change_sms(Settings& settings, std::string_view key, unsigned number) {
  if (key == "sms")
    settings.sms = number;
  else if (key == "sm_alignment")
    settings.sm_alignment = number;
  else if (key == "sm_minimum")
    settings.sm_minimum = number;
  else if (key == "sm_kept")
    settings.sm_kept = number;
  else if (key == "green_contexts")
    settings.green_contexts = number;
  else
    return false;
  return true;
}

bool change_number(Settings& settings, std::string_view key, std::uint64_t number) {
  const auto count = static_cast<int>(number);
  if (key == "version")
    settings.version = count;
  else if (key == "devices")
    settings.devices = count;
  else if (key == "levels")
    settings.levels = count;
  else if (key == "granted_levels")
    settings.granted_levels = count;
  else if (key == "copy_engines")
    settings.copy_engines = count;
  else if (key == "memory")
    settings.memory = number;
  else if (key == "copy_ns_per_kib")
    settings.copy_ns_per_kib = number;
  else if (key == "late_ns")
    settings.late_ns = number;
  else
    return false;
  return true;
}

}  // namespace

bool change(Settings& settings, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = setting.substr(0, equals);
  const std::string_view value = setting.substr(equals + 1);
  if (key == "fail") return plan_result(settings, value);
  if (key == "clock") return change_clock(settings, value);
  if (key == "clock_ppm") return change_clock_speed(settings, value);
  if (key == "missing") {
    settings.missing.emplace(value);
    return true;
  }
  const std::optional<std::uint64_t> number = number_in(value);
  if (!number) return false;
  return change_number(settings, key, *number) || change_sms(settings, key, static_cast<unsigned>(*number)) ||
         change_switch(settings, key, *number != 0) || change_result(settings, key, static_cast<CUresult>(*number));
}

}  // namespace rtgpu::cuda::fake
