#include "tools/convert.h"

#include "taskset/document_stream.h"
#include "taskset/exporters/jobs_csv.h"
#include "taskset/exporters/schedcat_xml.h"
#include "taskset/importers/gcaps_csv.h"
#include "taskset/importers/jobs_csv.h"
#include "taskset/importers/schedcat_xml.h"
#include "taskset/json.h"
#include "tools/convert_request.h"
#include "tools/messages.h"
#include "tools/read_document.h"
#include "tools/read_text.h"
#include "tools/standard_output.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr const char* kConvertFooter = R"(
Formats:
  json          the own one; NDJSON for several tasksets
  gcaps-csv     taskid,workload,period,wcet of the GCAPS case study, in ms (--from only)
  jobs-csv      job sets of the schedule-abstraction tools
  schedcat-xml  task systems of SchedCAT

What has no counterpart, and what is assumed in its place, is said on standard error.

Examples:
  rtgpu convert taskset.csv --from gcaps-csv --cpus 2 > case.json
  rtgpu convert system.xml --from schedcat-xml --unit us --gpu-resource 0 | rtgpu analyze -
  rtgpu convert case.json --from json --to jobs-csv > jobs.csv

Exit status:
  0   done
  2   bad usage or bad input; nothing is written to standard output
  3   the output cannot be written
  70  a defect of rtgpu itself
)";

void declare_options(CLI::App& app, ConvertArguments& arguments) {
  app.add_option("FILE", arguments.file, "The file to read; - is standard input")->required();
  app.add_option("--from", arguments.from, "The file's format: json, jobs-csv, schedcat-xml or gcaps-csv")
      ->required()
      ->option_text("F");
  app.add_option("--to", arguments.to, "The format to write: json (the default), jobs-csv or schedcat-xml")
      ->option_text("F");
  app.add_option("--unit", arguments.unit,
                 "Unit of times in jobs-csv and schedcat-xml: ns, us, ms or s.\n"
                 "Default: us to read; to write, the largest in which all are whole")
      ->option_text("U");
  app.add_option("--cpus", arguments.cpus, "Cores, for tasks that have none in the file (default 1)")->option_text("N");
  app.add_option("--gpu-resource", arguments.gpu_resource,
                 "The resource of schedcat-xml that is the GPU: its critical\nsections become GPU segments")
      ->option_text("ID");
}

// The documents of a file of the own format; all errors of all of them.
Result<Imported> read_json(const std::string& file) {
  Result<DocumentStream> documents = DocumentStream::open(file);
  if (!documents) return documents.errors();
  TasksetReader reader;
  Imported read;
  Errors errors;
  for (;;) {
    const Result<std::optional<DocumentText>> document = documents->next();
    if (!document) return document.errors();
    if (!*document) break;
    Result<LoadedTaskset> loaded = read_document(reader, **document, file);
    if (!loaded) {
      errors.insert(errors.end(), loaded.errors().begin(), loaded.errors().end());
      continue;
    }
    if (!loaded->assigned_priorities.empty()) {
      read.notes.push_back(
          fmt::format("document {}: missing priorities are assigned deadline-monotonically", read.tasksets.size() + 1));
    }
    read.tasksets.push_back(std::move(loaded->taskset));
  }
  if (!errors.empty()) return errors;
  return read;
}

Result<Imported> read_file(const ConvertRequest& request, const std::string& file) {
  if (request.from == TasksetFormat::json) return read_json(file);
  const Result<std::string> text = read_text(file);
  if (!text) return text.errors();
  const ImportOptions options{request.unit.value_or(TimeUnit::us), request.cpus, request.gpu_resource};
  if (request.from == TasksetFormat::gcaps_csv) return import_gcaps_csv(*text, file, options);
  Result<Imported> read = request.from == TasksetFormat::jobs_csv ? import_jobs_csv(*text, file, options)
                                                                  : import_schedcat_xml(*text, file, options);
  if (read && !request.unit) read->notes.emplace_back("times without a unit are taken as us (--unit)");
  return read;
}

Exported as_json(const std::vector<Taskset>& tasksets) {
  Exported written;
  const JsonStyle style = tasksets.size() == 1 ? JsonStyle::pretty : JsonStyle::compact;
  for (const Taskset& taskset : tasksets) {
    written.text += write_taskset(taskset, style);
    if (style == JsonStyle::compact) written.text += '\n';
  }
  return written;
}

Error several_tasksets(std::size_t count) {
  Error error;
  error.code = ErrorCode::conflict;
  error.found = fmt::format("{} tasksets", count);
  error.expected = "one, as jobs-csv holds no more";
  return error;
}

Result<Exported> write_as(const ConvertRequest& request, const std::vector<Taskset>& tasksets) {
  const ExportOptions options{request.unit};
  if (request.to == TasksetFormat::json) return as_json(tasksets);
  if (request.to == TasksetFormat::schedcat_xml) return export_schedcat_xml(tasksets, options);
  if (tasksets.size() != 1) return several_tasksets(tasksets.size());
  return export_jobs_csv(tasksets.front(), options);
}

ExitStatus refuse_file(Errors errors, const std::string& file) {
  for (Error& error : errors) {
    if (error.place.source.empty()) error.place.source = file;
  }
  print_errors(errors);
  return ExitStatus::usage;
}

ExitStatus run_convert(const ConvertArguments& arguments) {
  const Result<ConvertRequest> request = make_request(arguments);
  if (!request) {
    print_errors(request.errors());
    return ExitStatus::usage;
  }
  const Result<Imported> read = read_file(*request, arguments.file);
  if (!read) return refuse_file(read.errors(), arguments.file);
  const Result<Exported> written = write_as(*request, read->tasksets);
  if (!written) return refuse_file(written.errors(), arguments.file);
  StandardOutput output;
  output.buffer() += written->text;
  output.flush();
  for (const std::string& note : read->notes) print_note(note);
  for (const std::string& note : written->notes) print_note(note);
  return ExitStatus::yes;
}

}  // namespace

CommandRun declare_convert(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("convert", "Tasksets from and to the formats of other programs");
  app.footer(kConvertFooter);
  const auto arguments = std::make_shared<ConvertArguments>();
  declare_options(app, *arguments);
  return [arguments] { return run_convert(*arguments); };
}

}  // namespace rtgpu
