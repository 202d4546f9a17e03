#include "tools/simulate_stream.h"

#include "analysis/simulation/simulator.h"
#include "tools/format/simulation.h"
#include "tools/format/table.h"
#include "tools/format_choice.h"
#include "tools/messages.h"
#include "tools/simulate_record.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

void append(std::string& out, Format format, const SimulationReport& report) {
  switch (format) {
    case Format::table:
      return append_table(out, report);
    case Format::json:
      return append_json(out, report);
    case Format::ndjson:
      return append_ndjson(out, report);
    case Format::csv:
      return append_csv(out, report);
  }
}

void append_failure(std::string& out, Format format, const DocumentFailure& failure) {
  switch (format) {
    case Format::table:
      return append_table(out, failure);
    case Format::json:
    case Format::ndjson:
      return append_simulation_failure(out, failure);
    case Format::csv:
      return append_simulation_csv_failure(out, failure);
  }
}

Scenario scenario_of(const SimulationReport& report, std::uint64_t trial) {
  if (report.replayed) return report.replayed->scenario;
  return scenario_of_trial(report.loaded.taskset, report.choices, trial);
}

Duration default_horizon(const Taskset& taskset) {
  Duration longest = Duration::milliseconds(1);
  for (const Task& task : taskset.tasks) longest = std::max(longest, task.period);
  return longest * kDefaultHorizonPeriods;
}

}  // namespace

SimulateStream::SimulateStream(const SimulateRequest& request, DocumentStream& documents, StandardOutput& output)
    : request_(request),
      documents_(documents),
      output_(output),
      format_(format_or_usual(request.format, documents, output)),
      progress_(std::cerr, isatty(STDERR_FILENO) == 1, Progress::Clock::now(), "s simulated") {}

ExitStatus SimulateStream::run() {
  while (step()) {
    ++done_;
    if (output_.is_terminal() && documents_.is_ndjson()) output_.flush();
    output_.flush_if_large();
  }
  progress_.clear();
  // An input that is one document, and a bad one, leaves no output at all.
  if (documents_.is_ndjson() || !any_failure_) output_.flush();
  return status();
}

bool SimulateStream::step() {
  const Result<std::optional<DocumentText>> next = documents_.next();
  DocumentId id{documents_.name(), done_, documents_.is_ndjson()};
  if (!next) {
    fail(id, next.errors());
    return false;
  }
  if (!*next) return false;
  const DocumentText& document = **next;
  id.index = document.index;
  if (is_counterexample(document.text)) {
    Result<Counterexample> counterexample = read_counterexample(document.text, documents_.name());
    if (counterexample) {
      replay(*std::move(counterexample), id);
    } else {
      fail(id, counterexample.errors());
    }
    return true;
  }
  Result<LoadedTaskset> loaded = reader_.read(document.text, documents_.name(), document.line);
  if (loaded) {
    answer(*std::move(loaded), id);
  } else {
    fail(id, loaded.errors());
  }
  return true;
}

// Its own policy, schedule and horizon.
void SimulateStream::replay(Counterexample counterexample, const DocumentId& id) {
  SimulationReport report;
  report.id = id;
  report.loaded.taskset = counterexample.taskset;
  report.wait = wait_label(counterexample.taskset, WaitChoice::file);
  report.horizon = counterexample.horizon;
  report.replayed = std::move(counterexample);
  report.answers.push_back(simulate(report, report.replayed->policy));
  finish(report);
}

void SimulateStream::answer(LoadedTaskset loaded, const DocumentId& id) {
  if (const auto error = one_run_error(request_)) return fail(id, {*error});
  SimulationReport report;
  report.id = id;
  report.loaded = std::move(loaded);
  const Taskset& taskset = report.loaded.taskset;
  report.wait = wait_label(taskset, request_.wait);
  report.horizon = request_.horizon.value_or(default_horizon(taskset));
  report.first_trial = request_.first_trial;
  report.trials = request_.trials;
  report.choices = request_.choices;
  for (const Policy policy : request_.policies) report.answers.push_back(simulate(report, policy));
  finish(report);
}

void SimulateStream::finish(const SimulationReport& report) {
  progress_.clear();
  if (report.all_refused()) return fail(report.id, report.refusals());
  all_meet_deadlines_ = all_meet_deadlines_ && report.meets_deadlines();
  tell(report);
  write(report);
}

SimulationAnswer SimulateStream::simulate(const SimulationReport& report, Policy policy) {
  const Taskset& taskset = report.loaded.taskset;
  Result<Simulator> simulator = Simulator::of(taskset, policy, report.replayed ? WaitChoice::file : request_.wait);
  if (!simulator) return {policy, std::move(simulator.errors())};
  std::vector<int> sms;
  if (policy == Policy::federated) {
    for (const Task& task : simulator->taskset().tasks) sms.push_back(uses_gpu(task) ? task.sms.value_or(0) : 0);
  }
  simulator->watch([this](Duration now) { show_progress(now); });
  TrialSummary summary(taskset);
  for (std::uint64_t trial = report.first_trial; trial < report.first_trial + report.trials; ++trial) {
    summary.add(trial, simulator->run(scenario_of(report, trial), report.horizon));
    simulated_ += report.horizon;
    show_progress({});
  }
  if (request_.records()) {
    if (auto error = recording_error(request_, summary)) return {policy, *std::move(error)};
    simulator->watch(nullptr);
    progress_.clear();
    record(report, *simulator, summary, policy);
  }
  return {policy, std::move(summary), std::move(sms)};
}

// The trial with the longest response for its deadline; of a counterexample the job that it is about.
void SimulateStream::record(const SimulationReport& report, Simulator& simulator, const TrialSummary& summary,
                            Policy policy) {
  const Taskset& taskset = report.loaded.taskset;
  WorstJob worst = *summary.worst();
  std::string title = fmt::format("{}: {}, {}", report.id.source, to_string(policy), to_string(report.wait));
  if (report.replayed) {
    worst.task = report.replayed->task;
    worst.job = report.replayed->job;
  } else {
    title += fmt::format(", trial {} of seed {}", worst.trial, report.choices.seed);
    print_note(fmt::format("recorded trial {}, which has the longest response for its deadline: {}, job {}, {} ms",
                           worst.trial, taskset.tasks[worst.task].name, worst.job, to_milliseconds(worst.response)));
  }
  record_run(request_, taskset, scenario_of(report, worst.trial), report.horizon, simulator, worst, title);
}

void SimulateStream::show_progress(Duration now) {
  progress_.update(static_cast<std::size_t>((simulated_ + now).count() / 1'000'000'000), Progress::Clock::now());
}

void SimulateStream::write(const SimulationReport& report) {
  if (format_ == Format::csv && done_ == 0) append_simulation_csv_header(output_.buffer());
  append(output_.buffer(), format_, report);
}

void SimulateStream::fail(const DocumentId& id, const Errors& errors) {
  any_failure_ = true;
  progress_.clear();
  print_errors(errors);
  if (!id.one_of_many) return;
  if (format_ == Format::csv && done_ == 0) append_simulation_csv_header(output_.buffer());
  append_failure(output_.buffer(), format_, DocumentFailure{id, errors});
}

// What goes to standard error although there is an answer.
void SimulateStream::tell(const SimulationReport& report) {
  for (const Error& refusal : report.refusals()) print_note("not simulated: " + to_string(refusal));
  if (format_ != Format::csv) return;
  for (const std::string& note : notes(report.loaded)) print_note(note);
}

ExitStatus SimulateStream::status() const {
  if (any_failure_) return ExitStatus::usage;
  return all_meet_deadlines_ ? ExitStatus::yes : ExitStatus::no;
}

}  // namespace rtgpu
