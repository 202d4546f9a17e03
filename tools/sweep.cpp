#include "tools/sweep.h"

#include "tools/messages.h"
#include "tools/program.h"
#include "tools/ranks.h"
#include "tools/standard_output.h"
#include "tools/stop_on_signal.h"
#include "tools/sweep_ranks.h"
#include "tools/sweep_request.h"
#include "tools/sweep_run.h"

#include <csignal>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr const char* kSweepFooter = R"(Examples:
  rtgpu sweep --preset gcaps-fig8b --csv fig8b.csv
  rtgpu sweep --preset gcaps-fig9b --tasksets 200 --plot fig9b.svg
  rtgpu sweep --preset gcaps-fig8b --policy gcaps,mpcp --variant both --csv both.csv
  rtgpu sweep --preset gcaps-table3 --vary utilisation_per_cpu=0.1:0.9:0.1 --set cpus=2
  rtgpu sweep --preset uunifast-discard --vary runlist_update=0us:1ms:100us --policy all
  rtgpu sweep --preset gcaps-fig8b --csv fig8b.csv --resume
  mpirun -n 4 rtgpu sweep --preset gcaps-fig8b --csv fig8b.csv

All approaches judge the same tasksets. Taskset I of a point is what this gives:
  rtgpu generate --preset GENERATOR --set PARAMETER=VALUE --seed S --first I

Presets of the GCAPS paper (ECRTS 2024), over tasksets of gcaps-table3, drawn as the
program does that was published with it (--set drawn_as=paper: as the paper says):
  gcaps-fig8a, gcaps-fig9a   tasks                2 ... 20
  gcaps-fig8b, gcaps-fig9b   utilisation_per_cpu  0.1 ... 0.9
  gcaps-fig8c, gcaps-fig9c   cpus                 1 ... 10
  gcaps-fig8d, gcaps-fig9d   gpu_share            0.1 ... 1
  gcaps-fig8e, gcaps-fig9e   gpu_to_cpu           0 ... 2
  gcaps-fig8f, gcaps-fig9f   best_effort_share    0.1 ... 0.9, 6 tasks per CPU
Figure 8 compares gcaps, tsg-rr, mpcp and fmlp+, figure 9 gcaps without and with a
search for GPU priorities; both the published analyses, for both ways to wait.
With a generator as the preset: every policy that has an analysis of the variant,
waiting suspended, variant safe.

CSV: parameter,value,policy,wait,variant,tasksets,schedulable,ratio. With a search
for GPU priorities the policy is "gcaps+search". The same options give the same
bytes, whatever the number of threads. What is done is kept in FILE.partial until
all is. Ctrl-C writes what there is by then, also of points that are not complete:
"tasksets" says how many are done.

With mpirun (Open MPI) several processes count, and the first one writes: the same
bytes again. Each has its share of its machine's cores, as far as mpirun binds it to
no fewer (--bind-to none), or --jobs threads. A process that dies ends the sweep with
an error, and --resume, with mpirun or without, goes on with what was done.

Exit status:
  0   done
  2   bad usage, a FILE.partial of another sweep, or a taskset that cannot be made
  3   a file or the output cannot be written, there is no gnuplot for --plot, or
      mpirun has started an rtgpu that was built without MPI
  70  a defect of rtgpu itself
)";

void declare_what(CLI::App& app, SweepArguments& arguments) {
  app.add_option("--preset", arguments.preset,
                 "gcaps-fig8a ... f or gcaps-fig9a ... f, or a generator with\n"
                 "--vary: see rtgpu generate --help")
      ->required()
      ->option_text("P");
  app.add_option("--vary", arguments.vary,
                 "The parameter to vary: KEY=A:B:STEP from A up to B, or\n"
                 "KEY=V,V,...")
      ->option_text("KEY=VALUES");
  app.add_option("--set", arguments.settings, "Set another parameter of the generator, key=value; may be repeated")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  app.add_option("--tasksets", arguments.tasksets, "How many a point (default 1000)")->option_text("N");
  app.add_option("--seed", arguments.seed, "What they are drawn from (default 0)")->option_text("S");
}

CLI::Option* declare_list(CLI::App& app, const char* name, std::vector<std::string>& words, const char* meaning) {
  return app.add_option(name, words, meaning)->delimiter(',')->allow_extra_args(false);
}

void declare_approaches(CLI::App& app, ApproachArguments& arguments) {
  declare_list(app, "--policy", arguments.policies,
               "GPU access policy; may be repeated, or a list with commas; all is\n"
               "every one that has an analysis of the variant")
      ->option_text("P");
  declare_list(app, "--wait", arguments.waits,
               "How tasks wait for their GPU work: suspend, busy, both, or file\n(as each task says)")
      ->option_text("W");
  declare_list(app, "--variant", arguments.variants, "safe, published or both")->option_text("V");
  declare_list(app, "--gpu-priorities", arguments.gpu_priorities,
               "file (those of the tasksets), search (where they fail, look for\nothers that pass) or both")
      ->option_text("G");
  app.add_option("--jitter", arguments.jitter,
                 "What stands for a higher-priority task's response time in its\n"
                 "jitter: response (the default: its bound) or deadline")
      ->option_text("J");
}

void declare_how(CLI::App& app, SweepArguments& arguments) {
  app.add_option("--jobs", arguments.jobs, "Threads (default: one for each core), of each process")->option_text("N");
  app.add_option("--csv", arguments.csv, "Write the result as CSV")->option_text("FILE");
  app.add_flag("--resume", arguments.resume, "Go on with the sweep whose FILE.partial there is");
  app.add_option("--format", arguments.format,
                 "table (the default on a terminal), json (the default elsewhere, and\nwith mpirun) or csv")
      ->option_text("F");
  app.add_option("--plot", arguments.plot, "Draw the ratios, by gnuplot: FILE.svg or a page, FILE.html")
      ->option_text("FILE");
}

// What is wrong for all processes is told by the first one, whose status mpirun passes on: it must not see another one
// fail before, because it would end the first.
ExitStatus refuse_sweep(const Errors& errors, ExitStatus status) {
  if (is_other_rank()) return ExitStatus::yes;
  print_errors(errors);
  return status;
}

// A process other than the first one.
ExitStatus work_for_sweep(Ranks& ranks, const SweepRequest& request) {
  int signal = 0;
  const ExitStatus status = guarded([&] {
    const int jobs = request.jobs > 0 ? request.jobs : usual_jobs(ranks);
    const StopOnSignal signals;
    if (!work_for_leader(ranks, request.sweep, jobs, signals.flag())) signal = signals.signal();
    return ExitStatus::yes;
  });
  if (signal != 0) std::raise(signal);
  if (status != ExitStatus::yes) ranks.abort(status);
  return status;
}

ExitStatus run_sweep(const SweepArguments& arguments) {
  const Result<SweepRequest> request = make_request(arguments);
  if (!request) return refuse_sweep(request.errors(), ExitStatus::usage);
  const Result<std::unique_ptr<Ranks>> ranks = join_ranks();
  if (!ranks) return refuse_sweep(ranks.errors(), ExitStatus::environment);
  if (*ranks && (*ranks)->rank() != 0) return work_for_sweep(**ranks, *request);
  try {
    StandardOutput output;
    return SweepRun(*request, output, ranks->get()).run();
  } catch (const std::system_error& error) {
    print_error(fmt::format("cannot write {}", error.what()));
    return ExitStatus::environment;
  }
}

}  // namespace

CommandRun declare_sweep(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("sweep", "How many random tasksets are schedulable, over a parameter?");
  app.footer(kSweepFooter);
  const auto arguments = std::make_shared<SweepArguments>();
  declare_what(app, *arguments);
  declare_approaches(app, arguments->approaches);
  declare_how(app, *arguments);
  return [arguments] { return run_sweep(*arguments); };
}

}  // namespace rtgpu
