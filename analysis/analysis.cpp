#include "analysis/analysis.h"

#include "analysis/gpu_priority_search.h"
#include "analysis/registry.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

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

// A lower bound of the utilisation of a resource, in units of 2^-30.
class UtilisationFloor {
 public:
  void add(Duration demand, Duration period) {
    // demand <= period where this is used, so the shift stays within 128 bits and the share within 2^30.
    __extension__ using Int128 = __int128;
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
    const Duration on_core = task.cpu + task.misc + (task.busy ? task.exec : Duration());
    cores[static_cast<std::size_t>(taskset.tasks[index].cpu)].add(on_core, task.period);
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

std::optional<Error> missing_time_slice(const RegisteredAnalysis& analysis, const Taskset& taskset) {
  const Duration slice = taskset.platform.gpus.front().overheads.time_slice;
  if (!analysis.needs_time_slice || slice > Duration()) return std::nullopt;
  return Error{
      ErrorCode::unsupported, Place{{}, "/platform/gpus/0/overheads/time_slice"}, "no time slice", "a time above 0",
      fmt::format("Give the length of a time slice: {} serves the GPU in slices.", to_string(analysis.entry.policy))};
}

// The search has to end in an order that passes with response times in the jitters as well: they are at most the
// deadlines, and bounds grow with jitter.
void verify_search(const RtaModel& model, const Taskset& taskset, BuildRecurrence build, AnalysisOptions options,
                   WorkBudget& budget) {
  options.jitter = JitterSource::response;
  options.explain = false;
  for (const TaskResult& result : bound_all(model, taskset, build, options, budget)) {
    if (!result.schedulable() && result.outcome != Outcome::limit_reached) {
      throw std::logic_error("GPU priorities found by the search do not pass the analysis");
    }
  }
}

}  // namespace

Result<AnalysisResult> analyze(const Taskset& taskset, const AnalysisOptions& options) {
  if (auto error = availability_error(options.policy, options.variant)) return std::move(*error);
  const RegisteredAnalysis& analysis = *find_analysis(options.policy, options.variant);
  if (options.gpu_priorities == GpuPriorities::search && !analysis.entry.gpu_priority_search) {
    return Error{ErrorCode::unsupported,
                 {},
                 "a search for GPU priorities",
                 "the GPU priorities of the taskset",
                 fmt::format("{} does not use GPU priorities.", to_string(options.policy))};
  }
  Result<RtaModel> made = RtaModel::of(taskset, options.wait);
  if (!made) return std::move(made.errors());
  if (auto error = missing_time_slice(analysis, taskset)) return std::move(*error);
  RtaModel& model = *made;

  WorkBudget budget;
  AnalysisOptions used = options;
  AnalysisResult result;
  result.policy = options.policy;
  result.variant = options.variant;
  result.wait = model.wait_label();
  result.tasks = bound_all(model, taskset, analysis.build, used, budget);
  if (options.gpu_priorities == GpuPriorities::search && !all_schedulable(result.tasks)) {
    result.gpu_priority_search = search_gpu_priorities(model, analysis.build, budget);
  }
  if (result.gpu_priority_search == SearchOutcome::found) {
    used.jitter = JitterSource::deadline;
    result.tasks = bound_all(model, taskset, analysis.build, used, budget);
    verify_search(model, taskset, analysis.build, used, budget);
  }
  result.jitter = used.jitter;
  result.schedulable = all_schedulable(result.tasks);
  result.gpu_priority_order.assign(model.gpu_order().begin(), model.gpu_order().end());
  for (const TaskResult& task : result.tasks) check_terms(task);
  if (result.schedulable) check_utilisation(model, taskset);
  return result;
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
