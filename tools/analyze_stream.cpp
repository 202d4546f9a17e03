#include "tools/analyze_stream.h"

#include "tools/format/csv.h"
#include "tools/format/json.h"
#include "tools/format/ndjson.h"
#include "tools/format/table.h"
#include "tools/format_choice.h"
#include "tools/messages.h"
#include "tools/read_document.h"

#include <iostream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace rtgpu {
namespace {

void append(std::string& out, Format format, const auto& document) {
  switch (format) {
    case Format::table:
      return append_table(out, document);
    case Format::json:
      return append_json(out, document);
    case Format::ndjson:
      return append_ndjson(out, document);
    case Format::csv:
      return append_csv(out, document);
  }
}

// Whether the format has a place for notes of its own.
bool shows_notes(Format format) {
  return format != Format::csv;
}

}  // namespace

// On a terminal the results themselves show how far it is.
AnalyzeStream::AnalyzeStream(const AnalyzeRequest& request, DocumentStream& documents, StandardOutput& output)
    : request_(request),
      documents_(documents),
      output_(output),
      format_(format_or_usual(request.format, documents, output)),
      progress_(std::cerr, documents.is_ndjson() && isatty(STDERR_FILENO) == 1 && !output.is_terminal(),
                Progress::Clock::now()) {}

ExitStatus AnalyzeStream::run() {
  while (step()) {
    ++done_;
    progress_.update(done_, Progress::Clock::now());
    if (output_.is_terminal()) output_.flush();
    output_.flush_if_large();
  }
  progress_.clear();
  // An input that is one document, and a bad one, leaves no output at all.
  if (documents_.is_ndjson() || !any_failure_) output_.flush();
  return status();
}

bool AnalyzeStream::step() {
  const Result<std::optional<DocumentText>> next = documents_.next();
  DocumentId id{documents_.name(), done_, documents_.is_ndjson()};
  if (!next) {
    fail(id, next.errors());
    return false;
  }
  if (!*next) return false;
  const DocumentText& document = **next;
  id.index = document.index;
  Result<LoadedTaskset> loaded = read_document(reader_, document, documents_.name());
  if (loaded) {
    answer(*std::move(loaded), id);
  } else {
    fail(id, loaded.errors());
  }
  return true;
}

void AnalyzeStream::answer(LoadedTaskset loaded, const DocumentId& id) {
  DocumentReport report{id, std::move(loaded), {}};
  report.answers.reserve(request_.analyses.size());
  for (const AnalysisOptions& options : request_.analyses) {
    report.answers.push_back({options, analyze(report.loaded.taskset, options)});
  }
  if (report.all_refused()) return fail(id, report.refusals());
  all_schedulable_ = all_schedulable_ && report.schedulable();
  tell(report);
  write(report);
}

void AnalyzeStream::write(const DocumentReport& report) {
  if (format_ == Format::csv && done_ == 0) append_csv_header(output_.buffer());
  append(output_.buffer(), format_, report);
}

void AnalyzeStream::fail(const DocumentId& id, const Errors& errors) {
  any_failure_ = true;
  progress_.clear();
  print_errors(errors);
  if (!id.one_of_many) return;
  if (format_ == Format::csv && done_ == 0) append_csv_header(output_.buffer());
  append(output_.buffer(), format_, DocumentFailure{id, errors});
}

// What goes to standard error although there is an answer.
void AnalyzeStream::tell(const DocumentReport& report) {
  const Errors refusals = report.refusals();
  const std::vector<std::string> told = shows_notes(format_) ? std::vector<std::string>() : notes(report.loaded);
  if (refusals.empty() && told.empty()) return;
  progress_.clear();
  for (const Error& refusal : refusals) print_note("not analysed: " + to_string(refusal));
  for (const std::string& note : told) print_note(note);
}

ExitStatus AnalyzeStream::status() const {
  if (any_failure_) return ExitStatus::usage;
  return all_schedulable_ ? ExitStatus::yes : ExitStatus::no;
}

}  // namespace rtgpu
