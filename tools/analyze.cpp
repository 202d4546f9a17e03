#include "tools/analyze.h"

#include "taskset/document_stream.h"
#include "tools/analyze_request.h"
#include "tools/analyze_stream.h"
#include "tools/messages.h"
#include "tools/standard_output.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace rtgpu {
namespace {

constexpr const char* kAnalyzeFooter = R"(Examples:
  rtgpu analyze case.json
  rtgpu analyze case.json --policy gcaps,tsg-rr --wait busy --explain
  rtgpu analyze case.json --policy gcaps --gpu-priorities search --format json
  rtgpu analyze case.json --policy mpcp,fmlp+,gcaps --variant published
  rtgpu analyze sets.ndjson --format csv > bounds.csv
  cat sets.ndjson | rtgpu analyze -

Results go to standard output, everything else to standard error. Times in JSON
and CSV are nanoseconds, in tables milliseconds. No legal schedule exceeds a
bound of the variant 'safe'. Bounds of the variant 'published' (of gcaps, tsg-rr,
mpcp, fmlp+, federated and server) are recurrences as their papers print them, and
some schedules do exceed them.

Exit status:
  0   schedulable under at least one of the analysed policies (NDJSON: every set)
  1   not schedulable
  2   bad usage or bad input, or no analysis covers the taskset
  3   the output cannot be written
  70  a defect of rtgpu itself
)";

void declare_options(CLI::App& app, AnalyzeArguments& arguments) {
  app.add_option("FILE", arguments.file, "Taskset as JSON, or many as NDJSON; - is standard input")->required();
  app.add_option("--policy", arguments.policies,
                 "GPU access policy; may be repeated, or a list with commas;\n"
                 "all (the default) is every one that has an analysis of the variant")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("P");
  app.add_option("--wait", arguments.wait,
                 "How tasks wait for their GPU work:\nsuspend, busy, or file (the default: as each task says)")
      ->option_text("W");
  app.add_option(
         "--variant", arguments.variant,
         "safe (the default: no schedule exceeds the bound), or\npublished (as papers print it: not a guarantee)")
      ->option_text("V");
  app.add_option("--jitter", arguments.jitter,
                 "What stands for a higher-priority task's response time in its\n"
                 "jitter: response (the default: its bound) or deadline")
      ->option_text("J");
  app.add_option("--gpu-priorities", arguments.gpu_priorities,
                 "file (the default), or search: where the file's GPU\npriorities fail, look for others that pass")
      ->option_text("G");
  app.add_flag("--explain", arguments.explain, "Show the terms of each bound and who contributes to them");
  app.add_flag("--beyond-deadline", arguments.beyond_deadline,
               "Show bounds above the deadline too, where there are any");
  app.add_option("--format", arguments.format,
                 "table (the default on a terminal), json (the default elsewhere),\n"
                 "ndjson (the default elsewhere for NDJSON) or csv")
      ->option_text("F");
}

ExitStatus run_analyze(const AnalyzeArguments& arguments) {
  const Result<AnalyzeRequest> request = make_request(arguments);
  if (!request) {
    print_errors(request.errors());
    return ExitStatus::usage;
  }
  Result<DocumentStream> documents = DocumentStream::open(arguments.file);
  if (!documents) {
    print_errors(documents.errors());
    return ExitStatus::usage;
  }
  for (const std::string& note : request->notes) print_note(note);
  StandardOutput output;
  return AnalyzeStream(*request, *documents, output).run();
}

}  // namespace

CommandRun declare_analyze(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("analyze", "Bounds on response times, and whether every deadline is met");
  app.footer(kAnalyzeFooter);
  const auto arguments = std::make_shared<AnalyzeArguments>();
  declare_options(app, *arguments);
  return [arguments] { return run_analyze(*arguments); };
}

}  // namespace rtgpu
