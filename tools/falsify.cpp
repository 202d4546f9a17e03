#include "tools/falsify.h"

#include "taskset/document_stream.h"
#include "tools/falsify_request.h"
#include "tools/falsify_run.h"
#include "tools/messages.h"
#include "tools/standard_output.h"

#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr const char* kFalsifyFooter = R"(Examples:
  rtgpu falsify case.json
  rtgpu falsify case.json --policy gcaps --variant published --runs 1000
  rtgpu falsify --preset gcaps-table3 --count 100 --set utilisation_per_cpu=0.3
  rtgpu simulate counterexample-0-gcaps-suspend.json --gantt why.svg

Every bound of every taskset is attacked by simulated schedules: all tasks
released at once, the alignments that the analysis supposes, random ones (phases,
gaps, release jitter, shortened executions), and a local search from the worst
so far. Of the variant 'published' those tasksets are attacked that it calls
schedulable.

A schedule that exceeds a bound is made small (tasks, segments and draws that do
not matter are left out) and written as counterexample-INDEX-POLICY-WAIT.json:
taskset, schedule and bound. `rtgpu simulate` replays it.

Exit status:
  0   no bound was exceeded
  1   a bound was exceeded
  2   bad usage or bad input
  3   the output cannot be written
  70  a defect of rtgpu itself
)";

void declare_what(CLI::App& app, FalsifyArguments& arguments) {
  app.add_option("FILE", arguments.file, "Taskset as JSON, or many as NDJSON; - is standard input");
  app.add_option("--preset", arguments.preset, "Random tasksets instead of a file: see rtgpu generate --help")
      ->option_text("P");
  app.add_option("--count", arguments.count, "How many of them (default 1)")->option_text("N");
  app.add_option("--set", arguments.settings, "Set a parameter of the preset, key=value; may be repeated")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  app.add_option("--policy", arguments.policies,
                 "GPU access policy; may be repeated, or a list with commas;\n"
                 "all (the default) is every one that has an analysis of the variant")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("P");
  app.add_option("--wait", arguments.wait,
                 "How tasks wait for their GPU work:\nsuspend, busy, or file (the default: as each task says)")
      ->option_text("W");
  app.add_option("--variant", arguments.variant, "Whose bounds: safe (the default) or published")->option_text("V");
}

void declare_how(CLI::App& app, FalsifyArguments& arguments) {
  app.add_option("--runs", arguments.runs, "Schedules to try, a taskset and analysis (default 100)")->option_text("N");
  app.add_option("--horizon", arguments.horizon,
                 "How long jobs are released in each, with its unit: 10s, 500ms;\n"
                 "the default is 4 times the longest period")
      ->option_text("T");
  app.add_option("--seed", arguments.seed, "What tasksets and schedules are drawn from (default 0)")->option_text("S");
  app.add_option("--output", arguments.output, "The folder for counterexamples (default: this one)")
      ->option_text("DIR");
  app.add_option("--format", arguments.format, "table (the default on a terminal) or json (the default elsewhere)")
      ->option_text("F");
}

ExitStatus run_falsify(const FalsifyArguments& arguments) {
  const Result<FalsifyRequest> request = make_request(arguments);
  if (!request) {
    print_errors(request.errors());
    return ExitStatus::usage;
  }
  std::optional<DocumentStream> documents;
  if (!request->generated) {
    Result<DocumentStream> opened = DocumentStream::open(request->file);
    if (!opened) {
      print_errors(opened.errors());
      return ExitStatus::usage;
    }
    documents.emplace(std::move(*opened));
  }
  try {
    StandardOutput output;
    return FalsifyRun(*request, documents ? &*documents : nullptr, output).run();
  } catch (const std::system_error& error) {
    print_error(fmt::format("cannot write {}", error.what()));
    return ExitStatus::environment;
  }
}

}  // namespace

CommandRun declare_falsify(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("falsify", "Is there a schedule that exceeds a bound?");
  app.footer(kFalsifyFooter);
  const auto arguments = std::make_shared<FalsifyArguments>();
  declare_what(app, *arguments);
  declare_how(app, *arguments);
  return [arguments] { return run_falsify(*arguments); };
}

}  // namespace rtgpu
