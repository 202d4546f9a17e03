#include "tools/program.h"

#include "tools/command.h"
#include "tools/messages.h"
#include "tools/ranks.h"
#include "tools/standard_output.h"

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::string_view kDescription = "Real-time tasks that use GPUs: is every deadline met, and why or why not?";

constexpr std::string_view kExamples = R"(Examples:
  rtgpu analyze case.json
  rtgpu simulate case.json --policy gcaps --gantt case.svg
  rtgpu run case.json --policy gcaps --duration 10s
  rtgpu falsify --preset gcaps-table3 --count 100
  rtgpu sweep --preset gcaps-fig8b --csv fig8b.csv
  rtgpu analyze --help

Exit status:
  0   done, and the answer is yes
  1   done, and the answer is no
  2   bad usage or bad input; nothing is written to standard output
  3   the environment does not allow it
  70  a defect of rtgpu itself
)";

// Several processes that mpirun has started have the same arguments: the first one speaks for all, and its status
// counts.
ExitStatus print(std::string_view text) {
  if (is_other_rank()) return ExitStatus::yes;
  StandardOutput output;
  output.buffer() += text;
  output.flush();
  return ExitStatus::yes;
}

ExitStatus refuse(std::string_view message, std::string_view command) {
  if (is_other_rank()) return ExitStatus::yes;
  print_error(message);
  print_hint(command.empty() ? std::string("see rtgpu --help") : fmt::format("see rtgpu {} --help", command));
  return ExitStatus::usage;
}

std::string used_command(const CLI::App& program) {
  const std::vector<CLI::App*> used = program.get_subcommands();
  return used.empty() ? std::string() : used.front()->get_name();
}

// Parses the arguments. Anything but "go on" ends the program: help, the version, or bad usage.
std::optional<ExitStatus> parse(CLI::App& program, int argc, const char* const* argv) {
  try {
    program.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return print(program.help());
  } catch (const CLI::CallForVersion&) {
    return print("rtgpu " RTGPU_VERSION "\n");
  } catch (const CLI::ParseError& error) {
    return refuse(usage_error(program, error.what()), used_command(program));
  }
}

ExitStatus dispatch(int argc, const char* const* argv) {
  CLI::App program{std::string(kDescription), "rtgpu"};
  program.require_subcommand(0, 1);
  program.set_version_flag("--version", RTGPU_VERSION, "Print the version and exit");
  program.footer(fmt::format("not there yet: {}\n\n{}", fmt::join(commands_not_there_yet(), ", "), kExamples));
  std::vector<CommandRun> runs;
  for (const Command& command : commands()) runs.push_back(command.declare(program));

  if (argc < 2) {
    std::cerr << program.help();
    return ExitStatus::usage;
  }
  const std::string_view first = argv[1];
  if (first.substr(0, 1) != "-") {
    if (const auto error = command_error(first)) return refuse(*error, "");
  }
  if (const auto status = parse(program, argc, argv)) return *status;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (program.got_subcommand(std::string(commands()[i].name))) return runs[i]();
  }
  return refuse("no command is given", "");
}

ExitStatus report_defect(std::string_view what) {
  print_error(fmt::format("this is a defect of rtgpu {}: {}", RTGPU_VERSION, what));
  print_hint("please report it in the project's issue tracker, with the command line and its input");
  return ExitStatus::defect;
}

}  // namespace

ExitStatus guarded(const std::function<ExitStatus()>& command) {
  try {
    return command();
  } catch (const OutputError& error) {
    if (!error.reader_is_gone()) print_error(error.what());
    return ExitStatus::environment;
  } catch (const std::bad_alloc&) {
    print_error("there is not enough memory for this input");
    return ExitStatus::environment;
  } catch (const std::exception& error) {
    return report_defect(error.what());
  } catch (...) {
    return report_defect("an exception of unknown type");
  }
}

int run_program(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return static_cast<int>(guarded([&] { return dispatch(argc, argv); }));
}

}  // namespace rtgpu
