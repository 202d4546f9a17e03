#include "tools/falsify_run.h"

#include "analysis/simulation/simulator.h"
#include "taskset/generators/random.h"
#include "tools/messages.h"
#include "tools/read_document.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::vector<Claim> claims_for(const Taskset& taskset, const AnalysisOptions& options) {
  const Result<AnalysisResult> result = analyze(taskset, options);
  return result ? claims_of(*result) : std::vector<Claim>{};
}

std::string_view wait_name(WaitChoice wait) {
  switch (wait) {
    case WaitChoice::suspend:
      return "suspend";
    case WaitChoice::busy:
      return "busy";
    case WaitChoice::file:
      break;
  }
  return "file";
}

}  // namespace

FalsifyRun::FalsifyRun(const FalsifyRequest& request, DocumentStream* documents, StandardOutput& output)
    : request_(request),
      documents_(documents),
      output_(output),
      progress_(std::cerr, isatty(STDERR_FILENO) == 1, Progress::Clock::now(), "tasksets") {
  report_.source = request.generated ? std::string("generated") : documents->name();
  for (const AnalysisOptions& options : request.analyses) {
    FalsificationRow row;
    row.policy = options.policy;
    row.wait = wait_name(options.wait);
    row.variant = options.variant;
    report_.rows.push_back(std::move(row));
  }
}

ExitStatus FalsifyRun::run() {
  while (documents_ != nullptr ? step_through_documents() : step_through_generated()) {
    progress_.update(static_cast<std::size_t>(report_.tasksets), Progress::Clock::now());
  }
  progress_.clear();
  if (any_failure_ && report_.tasksets == 0) return ExitStatus::usage;
  const bool as_table = request_.as_table || (!request_.as_json && output_.is_terminal());
  if (as_table) {
    append_table(output_.buffer(), report_);
  } else {
    append_json(output_.buffer(), report_);
  }
  output_.flush();
  if (any_failure_) return ExitStatus::usage;
  return report_.exceeded() > 0 ? ExitStatus::no : ExitStatus::yes;
}

bool FalsifyRun::step_through_documents() {
  const Result<std::optional<DocumentText>> next = documents_->next();
  if (!next) {
    fail(next.errors());
    return false;
  }
  if (!*next) return false;
  const DocumentText& document = **next;
  const Result<LoadedTaskset> loaded = read_document(reader_, document, documents_->name());
  if (loaded) {
    attack_taskset(loaded->taskset);
  } else {
    fail(loaded.errors());
  }
  ++report_.documents;
  return true;
}

bool FalsifyRun::step_through_generated() {
  if (report_.documents == request_.generated->count) return false;
  const Result<Taskset> taskset = request_.generated->preset.generate(request_.seed, report_.documents);
  if (!taskset) {
    fail(taskset.errors());
    return false;
  }
  attack_taskset(*taskset);
  ++report_.documents;
  return true;
}

void FalsifyRun::attack_taskset(const Taskset& taskset) {
  bool any_answer = false;
  const std::int64_t before = report_.schedulable;
  for (std::size_t place = 0; place < request_.analyses.size(); ++place) {
    any_answer = attack_analysis(taskset, request_.analyses[place], report_.rows[place]) || any_answer;
  }
  report_.schedulable = std::min(report_.schedulable, before + 1);
  if (any_answer) {
    ++report_.tasksets;
  } else {
    Error error = analyze(taskset, request_.analyses.front()).errors().front();
    if (error.place.source.empty()) error.place.source = report_.source;
    fail({error});
  }
}

bool FalsifyRun::attack_analysis(const Taskset& taskset, const AnalysisOptions& options, FalsificationRow& row) {
  const Result<AnalysisResult> result = analyze(taskset, options);
  if (!result) return false;
  ++row.tasksets;
  if (result->schedulable) {
    ++row.schedulable;
    ++report_.schedulable;
  }
  const std::vector<Claim> claims = claims_of(*result);
  row.bounds += static_cast<std::int64_t>(claims.size());
  Result<Simulator> simulator = Simulator::of(taskset, options.policy, options.wait);
  if (claims.empty() || !simulator) return true;

  const Duration horizon = request_.horizon.value_or(attack_horizon(taskset));
  AttackOptions attack_options;
  attack_options.seed = seed_of(request_.seed, static_cast<std::uint64_t>(report_.documents));
  attack_options.runs = request_.runs;
  attack_options.horizon = horizon;
  attack_options.below_best_case = may_go_below_best_case(options.policy, options.variant, taskset);
  const AttackResult found = attack(simulator->taskset(), *simulator, claims, attack_options);
  row.runs += found.runs;
  FalsificationWorst worst{report_.documents, taskset.tasks[found.worst->claim.task].name, found.worst->claim.bound,
                           found.worst->observed, ""};
  if (found.worst->exceeds()) {
    ++row.exceeded;
    worst.file = write(taskset, options, horizon, *found.worst);
  }
  row.note(std::move(worst));
  return true;
}

std::string FalsifyRun::write(const Taskset& taskset, const AnalysisOptions& options, Duration horizon,
                              const Sighting& sighting) {
  Counterexample counterexample;
  counterexample.why = fmt::format("found by rtgpu falsify, seed {}, document {}", request_.seed, report_.documents);
  counterexample.policy = options.policy;
  counterexample.variant = options.variant;
  counterexample.task = sighting.claim.task;
  counterexample.job = sighting.job;
  counterexample.bound = sighting.claim.bound;
  counterexample.observed = sighting.observed;
  counterexample.horizon = horizon;
  counterexample.scenario = sighting.scenario;
  counterexample.taskset = with_waits(taskset, options.wait);
  AnalysisOptions as_in_file = options;
  as_in_file.wait = WaitChoice::file;
  counterexample = shrink(
      std::move(counterexample), [&](const Taskset& changed) { return claims_for(changed, as_in_file); },
      request_.seed);

  std::string file = fmt::format("{}/counterexample-{}-{}-{}.json", request_.output, report_.documents,
                                 to_string(options.policy), wait_name(options.wait));
  std::ofstream stream(file);
  stream << write_counterexample(counterexample);
  if (!stream.flush()) throw std::system_error(errno, std::generic_category(), file);
  progress_.clear();
  print_note(fmt::format("{}: {} takes {}, its bound is {}", file,
                         counterexample.taskset.tasks[counterexample.task].name, to_string(counterexample.observed),
                         to_string(counterexample.bound)));
  return file;
}

void FalsifyRun::fail(const Errors& errors) {
  any_failure_ = true;
  progress_.clear();
  print_errors(errors);
}

}  // namespace rtgpu
