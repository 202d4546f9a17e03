#include "tools/plan.h"

#include "taskset/document_stream.h"
#include "tools/messages.h"
#include "tools/plan_request.h"
#include "tools/plan_stream.h"
#include "tools/standard_output.h"

#include <csignal>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr const char* kPlanFooter = R"(Examples:
  rtgpu plan case.json
  rtgpu plan case.json --policy gcaps --output proposals
  rtgpu plan case.json --policy mpcp --allow slices,gpu-priorities
  rtgpu plan sets.ndjson --format ndjson

If the taskset is schedulable under a policy of --policy, its margins: the factor
by which worst-case times may grow, of all tasks together, of each task, and of
each overhead. Factors are whole millionths, times are rounded up to nanoseconds:
with the factor shown the set is schedulable, with the next millionth it is not.
Factors above 1000 are not looked for.

If not, proposals that make it schedulable, fewest changes first: kinds of
changes alone, then together. Each was analysed as it is written; no schedule
exceeds its bounds. The searches are bounded: what they do not find may exist.
Without --policy no policy counts as a change.

Results go to standard output, everything else to standard error. Ctrl-C shows
what was found by then.

Exit status:
  0   schedulable, or there is a proposal (NDJSON: for every set)
  1   not schedulable, and no proposal was found
  2   bad usage or bad input, or no analysis covers the taskset
  3   the output cannot be written
  70  a defect of rtgpu itself
)";

void declare_plan_options(CLI::App& app, PlanArguments& arguments) {
  app.add_option("FILE", arguments.file, "Taskset as JSON, or many as NDJSON; - is standard input")->required();
  app.add_option("--policy", arguments.policies,
                 "GPU access policy that the tasks run under; may be repeated, or\n"
                 "a list with commas: any of them; all is the default")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("P");
  app.add_option("--wait", arguments.wait,
                 "How tasks wait for their GPU work:\nsuspend, busy, or file (the default: as each task says)")
      ->option_text("W");
  app.add_option("--allow", arguments.allowed,
                 "What may change: a list of policy, gpu-priorities, slices,\ncores, sms; the default is all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A");
  app.add_option("--limit", arguments.limit, "The most proposals (default 5)")->option_text("N");
  app.add_option("--output", arguments.output, "Write each proposal into this folder, as plan-1.json and so on")
      ->option_text("DIR");
  app.add_option("--format", arguments.format,
                 "table (the default on a terminal), json (the default elsewhere)\n"
                 "or ndjson (the default elsewhere for NDJSON)")
      ->option_text("F");
}

// After a signal as a program that does not handle it ends: whoever has started this one sees why.
ExitStatus run_until_signal(const PlanRequest& request, DocumentStream& documents, StandardOutput& output) {
  ExitStatus status = ExitStatus::no;
  int signal = 0;
  {
    PlanStream stream(request, documents, output);
    status = stream.run();
    signal = stream.signal();
  }
  if (signal != 0) std::raise(signal);
  return status;
}

ExitStatus run_plan(const PlanArguments& arguments) {
  const Result<PlanRequest> request = make_request(arguments);
  if (!request) {
    print_errors(request.errors());
    return ExitStatus::usage;
  }
  Result<DocumentStream> documents = DocumentStream::open(arguments.file);
  if (!documents) {
    print_errors(documents.errors());
    return ExitStatus::usage;
  }
  try {
    StandardOutput output;
    return run_until_signal(*request, *documents, output);
  } catch (const std::system_error& error) {
    print_error(fmt::format("cannot write {}", error.what()));
    return ExitStatus::environment;
  }
}

}  // namespace

CommandRun declare_plan(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("plan", "What makes the tasks meet their deadlines, or by how much they do");
  app.footer(kPlanFooter);
  const auto arguments = std::make_shared<PlanArguments>();
  declare_plan_options(app, *arguments);
  return [arguments] { return run_plan(*arguments); };
}

}  // namespace rtgpu
