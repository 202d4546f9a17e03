#include "tools/plan_stream.h"

#include "tools/format/table.h"
#include "tools/format_choice.h"
#include "tools/messages.h"
#include "tools/read_document.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

void append_plan(std::string& out, Format format, const PlanReport& report) {
  switch (format) {
    case Format::table:
      return append_table(out, report);
    case Format::ndjson:
      return append_ndjson(out, report);
    case Format::json:
    case Format::csv:
      break;
  }
  append_json(out, report);
}

}  // namespace

PlanStream::PlanStream(const PlanRequest& request, DocumentStream& documents, StandardOutput& output)
    : request_(request),
      documents_(documents),
      output_(output),
      format_(format_or_usual(request.format, documents, output)),
      progress_(std::cerr, isatty(STDERR_FILENO) == 1, Progress::Clock::now(), "analyses") {}

ExitStatus PlanStream::run() {
  while (!signals_.stopped() && step()) {
    ++done_;
    if (output_.is_terminal() || documents_.is_ndjson()) output_.flush();
  }
  progress_.clear();
  if (signals_.stopped()) print_note("interrupted: this is what was found by then");
  // An input that is one document, and a bad one, leaves no output at all.
  if (documents_.is_ndjson() || !any_failure_) output_.flush();
  if (any_failure_) return ExitStatus::usage;
  return all_answered_ ? ExitStatus::yes : ExitStatus::no;
}

bool PlanStream::step() {
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

void PlanStream::answer(LoadedTaskset loaded, const DocumentId& id) {
  PlanReport report;
  report.now = DocumentReport{id, std::move(loaded), {}};
  for (const AnalysisOptions& options : request_.analyses) {
    report.now.answers.push_back({options, analyze(report.taskset(), options)});
  }
  if (report.now.all_refused()) return fail(id, report.now.refusals());
  if (report.now.schedulable()) {
    add_margins(report);
  } else {
    add_proposals(report);
    write_proposals(report);
  }
  report.interrupted = signals_.stopped();
  progress_.clear();
  all_answered_ = all_answered_ && report.is_yes();
  tell(report);
  append_plan(output_.buffer(), format_, report);
}

void PlanStream::add_margins(PlanReport& report) {
  // How many there are is known beforehand: they need no limit.
  SearchWork work(std::numeric_limits<std::int64_t>::max(), [this] { return go_on(); });
  for (const Answer& answer : report.now.answers) {
    if (!answer.schedulable() || work.ended()) continue;
    report.margins.push_back(
        {answer.options.policy, answer.result->wait, find_margins(report.taskset(), answer.options, work)});
  }
}

void PlanStream::add_proposals(PlanReport& report) {
  ProposalOptions options;
  for (const Answer& answer : report.now.answers) options.policies.push_back(answer.options.policy);
  options.wait = request_.analyses.front().wait;
  options.allowed = request_.allowed;
  options.limit = request_.limit;
  options.go_on = [this] { return go_on(); };
  report.proposals = find_proposals(report.taskset(), options);
}

void PlanStream::write_proposals(PlanReport& report) {
  if (request_.output.empty()) return;
  const DocumentId& id = report.now.id;
  const std::string document = id.one_of_many ? fmt::format("{}-", id.index) : std::string();
  for (std::size_t place = 0; place < report.proposals.proposals.size(); ++place) {
    const std::string file = fmt::format("{}/plan-{}{}.json", request_.output, document, place + 1);
    errno = 0;
    std::ofstream stream(file, std::ios::binary);
    stream << write_taskset(report.proposals.proposals[place].taskset);
    stream.close();
    if (!stream) throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), file);
    report.files.push_back(file);
  }
}

void PlanStream::tell(const PlanReport& report) {
  for (const Error& refusal : report.now.refusals()) print_note("not analysed: " + to_string(refusal));
}

void PlanStream::fail(const DocumentId& id, const Errors& errors) {
  any_failure_ = true;
  progress_.clear();
  print_errors(errors);
  if (!id.one_of_many) return;
  const DocumentFailure failure{id, errors};
  if (format_ == Format::table) {
    append_table(output_.buffer(), failure);
  } else {
    append_plan_failure(output_.buffer(), failure);
  }
}

bool PlanStream::go_on() {
  progress_.update(++analyses_, Progress::Clock::now());
  return !signals_.stopped();
}

}  // namespace rtgpu
