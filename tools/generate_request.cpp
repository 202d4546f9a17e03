#include "tools/generate_request.h"

#include "tools/choice.h"
#include "tools/option_values.h"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000'000;

Error setting_error(Error error) {
  error.place.source = "--set";
  return error;
}

void apply(Preset& preset, const std::string& setting, Errors& errors) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) {
    Error error;
    error.found = fmt::format("'{}'", setting);
    error.expected = "key=value";
    error.advice = "Write for instance --set cpus=2.";
    return errors.push_back(setting_error(std::move(error)));
  }
  const std::string_view text = setting;
  if (auto error = preset.set(text.substr(0, equals), text.substr(equals + 1))) {
    errors.push_back(setting_error(*std::move(error)));
  }
}

}  // namespace

Result<GenerateRequest> make_request(const GenerateArguments& arguments) {
  Errors errors;
  const std::int64_t count = whole_number("--count", arguments.count, 1, kMaxCount, errors);
  const std::int64_t first = whole_number("--first", arguments.first, 0, kMaxCount, errors);
  const std::uint64_t seed = seed_number("--seed", arguments.seed, errors);
  std::optional<Preset> preset = Preset::named(arguments.preset);
  if (!preset) {
    errors.push_back(choice_error("--preset", arguments.preset, {Preset::names().begin(), Preset::names().end()}));
    return errors;
  }
  for (const std::string& setting : arguments.settings) apply(*preset, setting, errors);
  for (Error& error : preset->check()) errors.push_back(setting_error(std::move(error)));
  if (!errors.empty()) return errors;
  return GenerateRequest{*std::move(preset), first, count, seed};
}

}  // namespace rtgpu
