#include "tools/generate.h"

#include "taskset/generators/preset.h"
#include "taskset/json.h"
#include "tools/generate_request.h"
#include "tools/messages.h"
#include "tools/progress.h"
#include "tools/standard_output.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr const char* kGenerateFooter = R"(
Examples:
  rtgpu generate --preset gcaps-table3 --count 1000 --seed 1 > sets.ndjson
  rtgpu generate --preset gcaps-table3 --seed 1 --first 17 --set utilisation_per_cpu=0.3
  rtgpu generate --preset uunifast-discard --count 100 --set tasks=10 | rtgpu analyze -

Each line is a taskset. Its "origin" says how to make it again alone, and the
utilisation of each core, as it was requested and as it came out. The same
options give the same bytes on every machine.

Exit status:
  0   done
  2   bad usage, or a taskset that cannot be made with these parameters
  3   the output cannot be written
  70  a defect of rtgpu itself
)";

// The keys of a preset with their defaults, in columns.
std::string keys_of(std::string_view name) {
  const std::vector<ParameterText> parameters = Preset::named(name)->parameters();
  std::size_t keys = 0;
  std::size_t values = 0;
  for (const ParameterText& each : parameters) {
    keys = std::max(keys, each.key.size());
    values = std::max(values, each.value.size());
  }
  std::string text = fmt::format("Keys of {}, with their defaults; low:high is a range drawn from:\n", name);
  for (const ParameterText& each : parameters) {
    text += fmt::format("  {:<{}}  {:<{}}  {}\n", each.key, keys, each.value, values, each.meaning);
  }
  return text + '\n';
}

std::string footer() {
  std::string text;
  for (const std::string_view name : Preset::names()) {
    if (name != "uunifast") text += keys_of(name);
  }
  text +=
      "uunifast is uunifast-discard without task_utilisation: a task may have more than 1\n"
      "where the utilisation of all cores allows it. randfixedsum gives the same splits as\n"
      "uunifast-discard, but also where nearly all would be discarded.\n";
  return text + kGenerateFooter;
}

void declare_options(CLI::App& app, GenerateArguments& arguments) {
  app.add_option("--preset", arguments.preset,
                 "gcaps-table3 (ECRTS 2024, table 3), uunifast, uunifast-discard or randfixedsum")
      ->required()
      ->option_text("P");
  app.add_option("--count", arguments.count, "How many tasksets (default 1)")->option_text("N");
  app.add_option("--first", arguments.first, "The number of the first (default 0)")->option_text("K");
  app.add_option("--seed", arguments.seed, "What they are drawn from (default 0)")->option_text("S");
  app.add_option("--set", arguments.settings, "Set a parameter, key=value; may be repeated")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
}

ExitStatus write_tasksets(const GenerateRequest& request) {
  StandardOutput output;
  Progress progress(std::cerr, isatty(STDERR_FILENO) == 1 && !output.is_terminal(), Progress::Clock::now(), "tasksets");
  for (std::int64_t done = 0; done < request.count; ++done) {
    const Result<Taskset> taskset = request.preset.generate(request.seed, request.first + done);
    if (!taskset) {
      progress.clear();
      output.flush();
      print_errors(taskset.errors());
      return ExitStatus::usage;
    }
    output.buffer() += write_taskset(*taskset, JsonStyle::compact);
    output.buffer() += '\n';
    output.flush_if_large();
    progress.update(static_cast<std::size_t>(done + 1), Progress::Clock::now());
  }
  output.flush();
  return ExitStatus::yes;
}

ExitStatus run_generate(const GenerateArguments& arguments) {
  const Result<GenerateRequest> request = make_request(arguments);
  if (request) return write_tasksets(*request);
  print_errors(request.errors());
  return ExitStatus::usage;
}

}  // namespace

CommandRun declare_generate(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("generate", "Random tasksets, one a line");
  app.footer(footer());
  const auto arguments = std::make_shared<GenerateArguments>();
  declare_options(app, *arguments);
  return [arguments] { return run_generate(*arguments); };
}

}  // namespace rtgpu
