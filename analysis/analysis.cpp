#include "analysis/analysis.h"

#include "analysis/analysis_model.h"
#include "analysis/registry.h"
#include "analysis/requirements.h"
#include "analysis/rta_model.h"
#include "analysis/safe.h"
#include "analysis/search/sm_partition.h"
#include "analysis/stages.h"

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool all_pass(const std::vector<TaskResult>& results) {
  for (const TaskResult& result : results) {
    if (!result.schedulable()) return false;
  }
  return true;
}

// Terms are the parts of a bound: they have to add up to it.
void check_terms(const TaskResult& result) {
  Duration sum;
  for (const Duration term : result.terms) sum += term;
  if (result.bound && sum != *result.bound) throw std::logic_error("the terms of a bound do not add up to it");
}

// Looks for other GPU priorities and takes them if they pass.
void search(auto& model, const AnalysisOptions& asked, WorkBudget& budget, AnalysisResult& result) {
  std::vector<TaskIndex> given(model.order().gpu_order().begin(), model.order().gpu_order().end());
  result.gpu_priority_search = search_in(model, budget);
  if (result.gpu_priority_search != SearchOutcome::found) return model.restore(std::move(given));
  AnalysisOptions options = asked;
  options.jitter = model.jitter_after_search(asked.jitter);
  std::vector<TaskResult> tasks = model.bounds(options, budget);
  if (all_pass(tasks)) {
    model.verify(options);
    result.jitter = options.jitter;
    result.tasks = std::move(tasks);
  } else {
    result.gpu_priority_search = budget.evaluations > 0 ? SearchOutcome::none : SearchOutcome::limit_reached;
    model.restore(std::move(given));
  }
}

AnalysisResult analyze_model(auto model, const Taskset& taskset, const AnalysisOptions& options) {
  WorkBudget budget;
  AnalysisResult result;
  result.policy = options.policy;
  result.variant = options.variant;
  result.wait = model.order().wait_label();
  result.jitter = options.jitter;
  result.tasks = model.bounds(options, budget);
  if (options.gpu_priorities == GpuPriorities::search && !all_pass(result.tasks)) {
    search(model, options, budget, result);
  }
  result.schedulable = all_pass(result.tasks);
  result.gpu_priority_order.assign(model.order().gpu_order().begin(), model.order().gpu_order().end());
  for (const TaskResult& task : result.tasks) check_terms(task);
  if (result.schedulable) check_utilisation(model.order(), taskset, options.policy);
  return result;
}

Result<AnalysisResult> analyze_safe(const RegisteredAnalysis& analysis, const Taskset& taskset,
                                    const AnalysisOptions& options) {
  Result<StagedModel> model = StagedModel::of(taskset, options.wait);
  if (!model) return std::move(model.errors());
  if (auto error = missing_need(analysis, taskset)) return std::move(*error);
  SafeWorkspace workspace;
  AnalysisResult result = analyze_model(SafeModel(*model, taskset, analysis, workspace), taskset, options);
  if (analysis.needs == Needs::stream_priorities) result.stream_levels = model->stream_levels();
  return result;
}

Result<AnalysisResult> analyze_published(const RegisteredAnalysis& analysis, const Taskset& taskset,
                                         const AnalysisOptions& options) {
  if (analysis.bound_taskset != nullptr) {
    Result<StagedModel> staged = StagedModel::of(taskset, options.wait);
    if (!staged) return std::move(staged.errors());
    return analyze_model(WholeModel(*staged, taskset, analysis.bound_taskset), taskset, options);
  }
  Result<RtaModel> made = RtaModel::of(taskset, options.wait);
  if (!made) return std::move(made.errors());
  if (auto error = missing_need(analysis, taskset)) return std::move(*error);
  return analyze_model(PublishedModel(*made, taskset, analysis.build), taskset, options);
}

Result<AnalysisResult> analyze_as_it_is(const RegisteredAnalysis& analysis, const Taskset& taskset,
                                        const AnalysisOptions& options) {
  return options.variant == Variant::safe ? analyze_safe(analysis, taskset, options)
                                          : analyze_published(analysis, taskset, options);
}

}  // namespace

Result<AnalysisResult> analyze(const Taskset& taskset, const AnalysisOptions& options) {
  if (auto error = availability_error(options.policy, options.variant)) return std::move(*error);
  const RegisteredAnalysis& analysis = *find_analysis(options.policy, options.variant);
  if (auto error = missing_search(analysis, options.gpu_priorities)) return std::move(*error);
  if (analysis.needs != Needs::sm_partition) return analyze_as_it_is(analysis, taskset, options);
  Result<PartitionedTaskset> partitioned = on_sm_partition(taskset, options.wait);
  if (!partitioned) return std::move(partitioned.errors());
  Result<AnalysisResult> result = analyze_as_it_is(analysis, partitioned->taskset, options);
  if (result) result->sm_partition = std::move(partitioned->partition);
  return result;
}

std::string_view to_string(Variant variant) {
  return variant == Variant::safe ? "safe" : "published";
}

std::string_view to_string(SmSearch search) {
  switch (search) {
    case SmSearch::not_needed:
      return "given";
    case SmSearch::heuristic:
      return "heuristic";
    case SmSearch::exact:
      return "exact";
  }
  return "?";
}

std::string_view to_string(WaitLabel label) {
  switch (label) {
    case WaitLabel::suspend:
      return "suspend";
    case WaitLabel::busy:
      return "busy";
    case WaitLabel::mixed:
      return "mixed";
  }
  return "?";
}

std::string_view to_string(JitterSource source) {
  return source == JitterSource::response ? "response" : "deadline";
}

std::string_view to_string(Term term) {
  constexpr std::array<std::string_view, kTermCount> kNames = {
      "own",          "cpu_preemption",   "cpu_blocking", "gpu_preemption",
      "gpu_blocking", "gpu_interleaving", "copy",         "overhead"};
  return kNames[static_cast<std::size_t>(term)];
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::bound:
      return "bound";
    case Outcome::not_schedulable:
      return "not schedulable";
    case Outcome::unknown:
      return "unknown";
    case Outcome::limit_reached:
      return "limit reached";
    case Outcome::overflow:
      return "overflow";
    case Outcome::assumption_violated:
      return "assumption violated";
  }
  return "?";
}

}  // namespace rtgpu
