#include "tools/run.h"

#include "taskset/document_stream.h"
#include "tools/messages.h"
#include "tools/output_file.h"
#include "tools/run_request.h"
#include "tools/run_taskset.h"
#include "tools/standard_output.h"

#include <memory>
#include <optional>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr const char* kRunFooter = R"(Examples:
  rtgpu run case.json --policy gcaps --duration 60s --check-bounds
  rtgpu run case.json --policy mpcp --trace run-trace.json
  rtgpu run case.json --policy gcaps --virtual-time
  rtgpu run case.json --scheduler normal --share-cores

Every task gets a thread on its core and a stream on the device; its jobs do
what its segments declare, and the policy decides whose GPU work runs. Jobs are
released until the duration has passed; what is released then runs on. Ctrl-C
ends a run early, with what was seen until then; a second one kills it.

Releases and execution times are those of a trial of rtgpu simulate with the
same seed: trial 0 releases all tasks at once, the others draw an offset for each
task. In virtual time a run is deterministic, as fast as it can be, and needs no
privileges; in real time it needs those for the scheduler, a core of its own for
each of the taskset, and locked memory, and is refused without.

The bounds are those of rtgpu analyze for the policy; in real time they count
what the run measured of the machine as well (waking up, time lost to others), so
that they hold as far as the machine gets no worse. Results go to standard output,
everything else to standard error. Times in JSON and CSV are nanoseconds, in
tables milliseconds. Open a trace in https://ui.perfetto.dev or chrome://tracing.

Exit status:
  0   no deadline was missed and, with --check-bounds, no bound exceeded
  1   one was; or, with --check-bounds, a real-time task has no bound
  2   bad usage or bad input
  3   the environment does not allow it: no such device, no real-time
      privileges, not enough cores, a file cannot be written
  70  a defect of rtgpu itself
)";

void declare_work(CLI::App& app, RunArguments& arguments) {
  app.add_option("--duration", arguments.duration, "How long jobs are released, with its unit (default 10s)")
      ->option_text("T");
  app.add_option("--wait", arguments.wait,
                 "How tasks wait for their GPU work:\nsuspend, busy, or file (the default: as each task says)")
      ->option_text("W");
  app.add_option("--releases", arguments.releases,
                 "periodic (the default), or sporadic: with random gaps of up to a\nperiod between releases")
      ->option_text("R");
  app.add_option("--execution", arguments.execution,
                 "worst (the default): every part takes its worst case; random:\n"
                 "parts are shortened, down to their best case or, where the taskset\ngives none at all, to 0")
      ->option_text("E");
  app.add_option("--seed", arguments.seed, "What the trial is drawn from (default 0)")->option_text("S");
  app.add_option("--trial", arguments.trial, "Trial K of rtgpu simulate (default 0)")->option_text("K");
}

void declare_realtime(CLI::App& app, RunArguments& arguments) {
  app.add_option(
         "--scheduler", arguments.scheduler,
         "fifo (the default), rr, deadline, or normal: no real-time\nscheduling is asked for, nor locked memory")
      ->option_text("S");
  app.add_flag("--allow-degraded", arguments.allow_degraded, "Run without what is refused; the result says what");
  app.add_flag("--share-cores", arguments.share_cores,
               "Run tasks of cores that the machine does not have on those that it\nhas; no bound is claimed then");
  app.add_flag("--no-memory-lock", arguments.no_memory_lock, "Do not lock memory, as in containers that limit it");
  app.add_flag("--virtual-time", arguments.virtual_time, "Run in virtual time");
}

void declare_options(CLI::App& app, RunArguments& arguments) {
  app.add_option("FILE", arguments.file, "Taskset as JSON; - is standard input")->required();
  app.add_option("--policy", arguments.policies, "GPU access policy, one (default mpcp)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("P");
  app.add_option("--device", arguments.device,
                 "host (the default): an emulated device on which work takes its\n"
                 "declared time; host:compute: one that computes; cuda or cuda:N: GPU N\n"
                 "(0 unless given) of the NVIDIA driver, for CUDA 12.4 or later, under\n"
                 "mpcp, fmlp+ or stream-priority")
      ->option_text("D");
  declare_work(app, arguments);
  declare_realtime(app, arguments);
  app.add_flag("--check-bounds", arguments.check_bounds,
               "Answer no if a response exceeds its bound, or a real-time task has none");
  app.add_option("--trace", arguments.trace, "Write the run as a Chrome trace (JSON)")->option_text("FILE");
  app.add_option("--format", arguments.format, "table (the default on a terminal), json (the default elsewhere) or csv")
      ->option_text("F");
  // Known, so that it can be answered; not there yet, so not shown.
  app.add_option("--report", arguments.report)->group("");
}

ExitStatus run_run(const RunArguments& arguments) {
  const Result<RunRequest> request = make_request(arguments);
  if (!request) {
    print_errors(request.errors());
    return ExitStatus::usage;
  }
  Result<DocumentStream> documents = DocumentStream::open(arguments.file);
  if (!documents) {
    print_errors(documents.errors());
    return ExitStatus::usage;
  }
  std::optional<ReservedFile> trace;
  try {
    trace.emplace(request->trace);
  } catch (const std::system_error& error) {
    print_error(fmt::format("cannot write {}", error.what()));
    return ExitStatus::environment;
  }
  StandardOutput output;
  return run_taskset(*request, *documents, output);
}

}  // namespace

CommandRun declare_run(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("run", "Run the tasks: what do they show, in real or virtual time?");
  app.footer(kRunFooter);
  const auto arguments = std::make_shared<RunArguments>();
  declare_options(app, *arguments);
  return [arguments] { return run_run(*arguments); };
}

}  // namespace rtgpu
