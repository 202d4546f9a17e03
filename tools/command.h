// The commands by name: those that exist, and those that are known but not there yet.
#pragma once

#include "tools/exit_status.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace rtgpu {

// What a command does once its arguments are parsed.
using CommandRun = std::function<ExitStatus()>;

struct Command {
  std::string_view name;
  // Adds the command with its options to `program`. The result holds the options: call it after parsing.
  CommandRun (*declare)(CLI::App& program);
};

std::span<const Command> commands();
std::span<const std::string_view> commands_not_there_yet();

// What is wrong with `name` as a command, with a suggestion; nullopt if it exists.
std::optional<std::string> command_error(std::string_view name);

// "error: unknown option" and the like: why `program` refused its arguments, given the parser's own words for it.
std::string usage_error(const CLI::App& program, std::string_view parser_message);

}  // namespace rtgpu
