#include "tools/command.h"

#include "rtgpu/error.h"
#include "tools/analyze.h"
#include "tools/convert.h"
#include "tools/falsify.h"
#include "tools/generate.h"
#include "tools/plan.h"
#include "tools/run.h"
#include "tools/simulate.h"
#include "tools/sweep.h"

#include <algorithm>
#include <array>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::array kCommands = {
    Command{"analyze", declare_analyze},   Command{"simulate", declare_simulate}, Command{"falsify", declare_falsify},
    Command{"generate", declare_generate}, Command{"sweep", declare_sweep},       Command{"plan", declare_plan},
    Command{"run", declare_run},           Command{"convert", declare_convert},
};

constexpr std::array<std::string_view, 4> kNotThereYet = {
    "calibrate",
    "profile",
    "doctor",
    "report",
};

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool is_option(std::string_view argument) {
  return argument.size() > 1 && argument.front() == '-';
}

std::string unknown_option(const CLI::App& app, std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  const std::vector<std::string> known = option_names(app);
  return fmt::format("unknown option '{}'{}", name, suggestion(name, {known.begin(), known.end()}));
}

// The command in use, or the program itself.
const CLI::App& selected(const CLI::App& program) {
  const std::vector<CLI::App*> used = program.get_subcommands();
  return used.empty() ? program : *used.front();
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

std::span<const std::string_view> commands_not_there_yet() {
  return kNotThereYet;
}

std::optional<std::string> command_error(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Command& command : kCommands) {
    if (command.name == name) return std::nullopt;
    known.push_back(command.name);
  }
  if (std::find(kNotThereYet.begin(), kNotThereYet.end(), name) != kNotThereYet.end()) {
    return fmt::format("the command '{}' is not there yet; there is: {}", name, fmt::join(known, ", "));
  }
  known.insert(known.end(), kNotThereYet.begin(), kNotThereYet.end());
  return fmt::format("unknown command '{}'{}", name, suggestion(name, known));
}

std::string usage_error(const CLI::App& program, std::string_view parser_message) {
  const CLI::App& app = selected(program);
  const std::string where = &app == &program ? std::string() : app.get_name() + ": ";
  const std::vector<std::string> rest = program.remaining(true);
  const auto option = std::find_if(rest.begin(), rest.end(), is_option);
  if (option != rest.end()) return where + unknown_option(app, *option);
  if (!rest.empty()) return fmt::format("{}unexpected argument '{}'", where, rest.front());
  return fmt::format("{}{}", where, parser_message.substr(0, parser_message.find('\n')));
}

}  // namespace rtgpu
