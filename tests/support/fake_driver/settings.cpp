#include "tests/support/fake_driver/settings.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace rtgpu::cuda::fake {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool change_result(Settings& settings, std::string_view value) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos) return false;
  const std::optional<std::uint64_t> code = number_in(value.substr(colon + 1));
  if (code) settings.next_result[std::string(value.substr(0, colon))] = static_cast<CUresult>(*code);
  return code.has_value();
}

bool change_sms(Settings& settings, std::string_view key, unsigned number) {
  if (key == "sms")
    settings.sms = number;
  else if (key == "sm_alignment")
    settings.sm_alignment = number;
  else if (key == "sm_minimum")
    settings.sm_minimum = number;
  else if (key == "sm_tells_units")
    settings.sm_tells_units = number != 0;
  else if (key == "sm_remainder")
    settings.sm_remainder = number != 0;
  else if (key == "sm_kept")
    settings.sm_kept = number;
  else if (key == "green_contexts")
    settings.green_contexts = number;
  else
    return false;
  return true;
}

bool change_number(Settings& settings, std::string_view key, std::uint64_t number) {
  const auto result = static_cast<CUresult>(number);
  const auto count = static_cast<int>(number);
  if (change_sms(settings, key, static_cast<unsigned>(number))) return true;
  if (key == "version")
    settings.version = count;
  else if (key == "init")
    settings.init = result;
  else if (key == "devices")
    settings.devices = count;
  else if (key == "levels")
    settings.levels = count;
  else if (key == "green")
    settings.green = number != 0;
  else if (key == "copy_engines")
    settings.copy_engines = count;
  else if (key == "memory")
    settings.memory = number;
  else if (key == "hold")
    settings.hold = number != 0;
  else if (key == "fault")
    settings.fault = result;
  else if (key == "fault_at_launch")
    settings.fault_at_launch = result;
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
  if (key == "fail") return change_result(settings, value);
  if (key == "missing") {
    settings.missing.emplace(value);
    return true;
  }
  const std::optional<std::uint64_t> number = number_in(value);
  return number && change_number(settings, key, *number);
}

}  // namespace rtgpu::cuda::fake
