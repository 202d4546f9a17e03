#include "analysis/analysis.h"

#include "analysis/gpu_priority_search.h"
#include "analysis/registry.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"
#include "analysis/safe.h"
#include "analysis/stages.h"

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool all_schedulable(const std::vector<TaskResult>& results) {
  for (const TaskResult& result : results) {
    if (!result.schedulable()) return false;
  }
  return true;
}

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

// A lower bound of the utilisation of a resource, in units of 2^-30.
class UtilisationFloor {
 public:
  void add(Duration demand, Duration period) {
    // demand <= period where this is used, so the shift stays within 128 bits and the share within 2^30.
    sum_ += static_cast<std::int64_t>((Int128{demand.count()} << kFraction) / period.count());
  }
  bool is_above_one() const { return sum_ > (std::int64_t{1} << kFraction); }

 private:
  static constexpr int kFraction = 30;
  std::int64_t sum_ = 0;
};

// A necessary condition that holds for every analysis: what is called schedulable must fit.
void check_utilisation(const RtaModel& model, const Taskset& taskset) {
  std::vector<UtilisationFloor> cores(static_cast<std::size_t>(taskset.platform.cpus));
  UtilisationFloor gpu;
  for (TaskIndex index = 0; index < model.size(); ++index) {
    const RtaTask& task = model.task(index);
    if (task.best_effort) continue;
    // Not exec of a task that waits busily: it goes on while the task is preempted.
    cores[static_cast<std::size_t>(taskset.tasks[index].cpu)].add(task.cpu + task.misc, task.period);
    gpu.add(task.exec, task.period);
  }
  bool above = gpu.is_above_one();
  for (const UtilisationFloor& core : cores) above = above || core.is_above_one();
  if (above) throw std::logic_error("a taskset with a utilisation above 1 was called schedulable");
}

// Terms are the parts of a bound: they have to add up to it.
void check_terms(const TaskResult& result) {
  Duration sum;
  for (const Duration term : result.terms) sum += term;
  if (result.bound && sum != *result.bound) throw std::logic_error("the terms of a bound do not add up to it");
}

std::optional<Error> missing_time_slice(const Gpu& gpu, Policy policy) {
  if (gpu.overheads.time_slice > Duration()) return std::nullopt;
  return Error{ErrorCode::unsupported, Place{{}, "/platform/gpus/0/overheads/time_slice", 0, 0}, "no time slice",
               "a time above 0",
               fmt::format("Give the length of a time slice: {} serves the GPU in slices.", to_string(policy))};
}

std::optional<Error> missing_stream_priorities(const Gpu& gpu, Policy policy) {
  if (gpu.stream_priorities) return std::nullopt;
  return Error{ErrorCode::unsupported, Place{{}, "/platform/gpus/0/stream_priorities", 0, 0},
               "no number of stream priorities", "a number above 0",
               fmt::format("Give the number of stream priorities of the GPU: {} maps GPU priorities to them.",
                           to_string(policy))};
}

std::optional<Error> missing_need(const RegisteredAnalysis& analysis, const Taskset& taskset) {
  const Gpu& gpu = taskset.platform.gpus.front();
  switch (analysis.needs) {
    case Needs::time_slice:
      return missing_time_slice(gpu, analysis.entry.policy);
    case Needs::stream_priorities:
      return missing_stream_priorities(gpu, analysis.entry.policy);
    case Needs::nothing:
      break;
  }
  return std::nullopt;
}

std::optional<Error> missing_search(const RegisteredAnalysis& analysis, GpuPriorities asked) {
  if (asked == GpuPriorities::file || analysis.entry.gpu_priority_search) return std::nullopt;
  return Error{ErrorCode::unsupported,
               {},
               "a search for GPU priorities",
               "the GPU priorities of the taskset",
               fmt::format("There is no such search for {}.", to_string(analysis.entry.policy))};
}

// What `analyze` does with a model of one kind. Both kinds have: order(), bounds(), meets_deadline().
class PublishedModel {
 public:
  PublishedModel(RtaModel model, const Taskset& taskset, BuildRecurrence build)
      : model_(std::move(model)), taskset_(taskset), build_(build) {}

  RtaModel& order() { return model_; }
  std::vector<TaskResult> bounds(const AnalysisOptions& options, WorkBudget& budget) const {
    return bound_all(model_, taskset_, build_, options, budget);
  }
  bool meets_deadline(TaskIndex task, WorkBudget& budget) const {
    return meets_deadline_if_others_do(model_, task, build_, budget);
  }
  // With responses in the jitters the order of the recurrences matters, which the search does not know.
  static JitterSource jitter_after_search(JitterSource) { return JitterSource::deadline; }
  // An order that was found has to pass with response times in the jitters as well: they are at most the deadlines, and
  // bounds grow with jitter.
  void verify(AnalysisOptions options) const {
    WorkBudget budget;
    options.jitter = JitterSource::response;
    options.explain = false;
    for (const TaskResult& result : bounds(options, budget)) {
      if (!result.schedulable() && result.outcome != Outcome::limit_reached) {
        throw std::logic_error("GPU priorities found by the search do not pass the analysis");
      }
    }
  }

 private:
  RtaModel model_;
  const Taskset& taskset_;
  BuildRecurrence build_;
};

class SafeModel {
 public:
  SafeModel(StagedModel model, const Taskset& taskset, BuildWindowed build)
      : model_(std::move(model)), taskset_(taskset), build_(build) {}

  RtaModel& order() { return model_.order(); }
  std::vector<TaskResult> bounds(const AnalysisOptions& options, WorkBudget& budget) const {
    return bound_all_safe(model_, taskset_, build_, options, budget);
  }
  bool meets_deadline(TaskIndex task, WorkBudget& budget) const {
    return meets_deadline_if_others_do(model_, taskset_, task, build_, budget);
  }
  static JitterSource jitter_after_search(JitterSource asked) { return asked; }
  void verify(const AnalysisOptions&) const {}  // its bounds are those of the analysis itself

 private:
  StagedModel model_;
  const Taskset& taskset_;
  BuildWindowed build_;
};

// Looks for other GPU priorities and takes them if they pass.
void search(auto& model, const AnalysisOptions& asked, WorkBudget& budget, AnalysisResult& result) {
  std::vector<TaskIndex> given(model.order().gpu_order().begin(), model.order().gpu_order().end());
  result.gpu_priority_search = search_gpu_priorities(
      model.order(), [&](TaskIndex task) { return model.meets_deadline(task, budget); }, budget);
  if (result.gpu_priority_search != SearchOutcome::found) return;
  AnalysisOptions options = asked;
  options.jitter = model.jitter_after_search(asked.jitter);
  std::vector<TaskResult> tasks = model.bounds(options, budget);
  if (all_schedulable(tasks)) {
    model.verify(options);
    result.jitter = options.jitter;
    result.tasks = std::move(tasks);
  } else {
    result.gpu_priority_search = budget.evaluations > 0 ? SearchOutcome::none : SearchOutcome::limit_reached;
    model.order().set_gpu_order(std::move(given));
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
  if (options.gpu_priorities == GpuPriorities::search && !all_schedulable(result.tasks)) {
    search(model, options, budget, result);
  }
  result.schedulable = all_schedulable(result.tasks);
  result.gpu_priority_order.assign(model.order().gpu_order().begin(), model.order().gpu_order().end());
  for (const TaskResult& task : result.tasks) check_terms(task);
  if (result.schedulable) check_utilisation(model.order(), taskset);
  return result;
}

Result<AnalysisResult> analyze_safe(const RegisteredAnalysis& analysis, const Taskset& taskset,
                                    const AnalysisOptions& options) {
  Result<StagedModel> model = StagedModel::of(taskset, options.wait);
  if (!model) return std::move(model.errors());
  if (auto error = missing_need(analysis, taskset)) return std::move(*error);
  std::vector<int> levels;
  if (analysis.needs == Needs::stream_priorities) levels = model->stream_levels();
  AnalysisResult result =
      analyze_model(SafeModel(std::move(*model), taskset, analysis.build_windowed), taskset, options);
  result.stream_levels = std::move(levels);
  return result;
}

Result<AnalysisResult> analyze_published(const RegisteredAnalysis& analysis, const Taskset& taskset,
                                         const AnalysisOptions& options) {
  Result<RtaModel> made = RtaModel::of(taskset, options.wait);
  if (!made) return std::move(made.errors());
  if (auto error = missing_need(analysis, taskset)) return std::move(*error);
  return analyze_model(PublishedModel(std::move(*made), taskset, analysis.build), taskset, options);
}

}  // namespace

Result<AnalysisResult> analyze(const Taskset& taskset, const AnalysisOptions& options) {
  if (auto error = availability_error(options.policy, options.variant)) return std::move(*error);
  const RegisteredAnalysis& analysis = *find_analysis(options.policy, options.variant);
  if (auto error = missing_search(analysis, options.gpu_priorities)) return std::move(*error);
  return options.variant == Variant::safe ? analyze_safe(analysis, taskset, options)
                                          : analyze_published(analysis, taskset, options);
}

std::string_view to_string(Variant variant) {
  return variant == Variant::safe ? "safe" : "published";
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
