#include "tools/simulate.h"

#include "taskset/document_stream.h"
#include "tools/messages.h"
#include "tools/simulate_request.h"
#include "tools/simulate_stream.h"
#include "tools/standard_output.h"

#include <memory>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr const char* kSimulateFooter = R"(Examples:
  rtgpu simulate case.json
  rtgpu simulate case.json --policy gcaps --trials 1000 --releases sporadic
  rtgpu simulate case.json --policy gcaps --trace case-trace.json --gantt case.svg
  rtgpu simulate case.json --policy gcaps --releases sporadic --trial 17 --gantt trial17.svg
  rtgpu generate --preset gcaps-table3 --count 100 | rtgpu simulate - --format csv

Jobs are released until the horizon; what is released then runs on, for as long
again at most. Trial 0 releases all tasks at once; the others draw an offset for
each task, and release jitter where the taskset has it. The same seed and number
give the same trial, under every policy and on every machine. A counterexample
that rtgpu falsify wrote is replayed with its own policy, schedule and horizon.

A trace or chart is of one run: that of the trial with the longest response for
its deadline. Open a trace in https://ui.perfetto.dev or chrome://tracing.

Results go to standard output, everything else to standard error. Times in JSON
and CSV are nanoseconds, in tables milliseconds. A simulation shows what can
happen; that no deadline was missed is no guarantee (see rtgpu analyze).

Exit status:
  0   no deadline was missed under at least one of the policies (NDJSON: for
      every set), in any trial
  1   deadlines were missed under every policy
  2   bad usage or bad input, or no policy can be simulated
  3   the output cannot be written
  70  a defect of rtgpu itself
)";

void declare_runs(CLI::App& app, SimulateArguments& arguments) {
  app.add_option("--horizon", arguments.horizon,
                 "How long jobs are released, with its unit: 10s, 500ms;\nthe default is 10 times the longest period")
      ->option_text("T");
  app.add_option("--trials", arguments.trials, "How many runs, trials 0 to N - 1 (default 1)")->option_text("N");
  app.add_option("--trial", arguments.trial, "Trial K alone")->option_text("K");
  app.add_option("--seed", arguments.seed, "What trials are drawn from (default 0)")->option_text("S");
  app.add_option("--releases", arguments.releases,
                 "periodic (the default), or sporadic: with random gaps of up to a\nperiod between releases")
      ->option_text("R");
  app.add_option("--execution", arguments.execution,
                 "worst (the default): every part takes its worst case; random:\n"
                 "parts are shortened, down to their best case or, where the taskset\ngives none at all, to 0")
      ->option_text("E");
}

void declare_options(CLI::App& app, SimulateArguments& arguments) {
  app.add_option("FILE", arguments.file,
                 "Taskset as JSON, or many as NDJSON, or a counterexample; - is\nstandard input")
      ->required();
  app.add_option("--policy", arguments.policies,
                 "GPU access policy; may be repeated, or a list with commas;\n"
                 "all (the default) is every one that can be simulated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("P");
  app.add_option("--wait", arguments.wait,
                 "How tasks wait for their GPU work:\nsuspend, busy, or file (the default: as each task says)")
      ->option_text("W");
  declare_runs(app, arguments);
  app.add_option("--trace", arguments.trace, "Write the run as a Chrome trace (JSON)")->option_text("FILE");
  app.add_option("--gantt", arguments.gantt, "Write the run as a chart (SVG)")->option_text("FILE");
  app.add_option("--format", arguments.format,
                 "table (the default on a terminal), json (the default elsewhere),\n"
                 "ndjson (the default elsewhere for NDJSON) or csv")
      ->option_text("F");
}

Errors not_one_run(const SimulateRequest& request, const DocumentStream& documents) {
  if (!request.records() || !documents.is_ndjson()) return {};
  Error error;
  error.code = ErrorCode::conflict;
  error.place.source = request.trace.empty() ? "--gantt" : "--trace";
  error.found = documents.name() + ", which holds several tasksets";
  error.expected = "one taskset";
  error.advice = "Put the one to be shown in a file of its own.";
  return {error};
}

ExitStatus run_simulate(const SimulateArguments& arguments) {
  const Result<SimulateRequest> request = make_request(arguments);
  if (!request) {
    print_errors(request.errors());
    return ExitStatus::usage;
  }
  Result<DocumentStream> documents = DocumentStream::open(arguments.file);
  const Errors errors = documents ? not_one_run(*request, *documents) : documents.errors();
  if (!errors.empty()) {
    print_errors(errors);
    return ExitStatus::usage;
  }
  try {
    StandardOutput output;
    return SimulateStream(*request, *documents, output).run();
  } catch (const std::system_error& error) {
    print_error(fmt::format("cannot write {}", error.what()));
    return ExitStatus::environment;
  }
}

}  // namespace

CommandRun declare_simulate(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("simulate", "What happens when the tasks run, and is a deadline missed?");
  app.footer(kSimulateFooter);
  const auto arguments = std::make_shared<SimulateArguments>();
  declare_options(app, *arguments);
  return [arguments] { return run_simulate(*arguments); };
}

}  // namespace rtgpu
