// The models of a taskset with the functions of an analysis, alike for published and safe ones. Internal to the
// library.
#pragma once

#include "analysis/analysis.h"
#include "analysis/gpu_priority_search.h"
#include "analysis/registry.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"
#include "analysis/safe.h"
#include "analysis/stages.h"
#include "taskset/taskset.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rtgpu {

// The model of the present taskset for one choice of waits, made when it is first asked for.
template <class Model>
class PreparedModel {
 public:
  void forget() { is_made_ = false; }

  Model* of(const Taskset& taskset, WaitChoice wait) {
    if (!is_made_) errors_ = model_.assign(taskset, wait);
    is_made_ = true;
    return errors_.empty() ? &model_ : nullptr;
  }
  const Errors& errors() const { return errors_; }

 private:
  Model model_;
  Errors errors_;
  bool is_made_ = false;
};

// What is asked of a model of one kind; both kinds have the same functions.
class PublishedModel {
 public:
  // Both are kept by reference.
  PublishedModel(RtaModel& model, const Taskset& taskset, BuildRecurrence build)
      : model_(model), taskset_(taskset), build_(build) {}

  RtaModel& order() { return model_; }
  // After a search, whose order is not taken.
  void restore(std::vector<TaskIndex> gpu_order) { model_.set_gpu_order(std::move(gpu_order)); }
  std::vector<TaskResult> bounds(const AnalysisOptions& options, WorkBudget& budget) const {
    return bound_all(model_, taskset_, build_, options, budget);
  }
  bool passes(const AnalysisOptions& options, WorkBudget& budget) const {
    return all_schedulable(model_, taskset_, build_, options, budget);
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
  RtaModel& model_;
  const Taskset& taskset_;
  BuildRecurrence build_;
};

class SafeModel {
 public:
  // All are kept by reference.
  SafeModel(StagedModel& model, const Taskset& taskset, const RegisteredAnalysis& analysis, SafeWorkspace& workspace)
      : model_(model),
        taskset_(taskset),
        build_(analysis.build_windowed),
        has_levels_(analysis.needs == Needs::stream_priorities),
        workspace_(workspace) {}

  RtaModel& order() { return model_.order(); }
  void restore(std::vector<TaskIndex> gpu_order) {
    model_.order().set_gpu_order(std::move(gpu_order));
    model_.restore_stream_levels();
  }
  std::vector<TaskResult> bounds(const AnalysisOptions& options, WorkBudget& budget) const {
    return bound_all_safe(model_, taskset_, build_, options, budget);
  }
  bool passes(const AnalysisOptions& options, WorkBudget& budget) const {
    return all_schedulable_safe(model_, taskset_, build_, options, budget, workspace_);
  }
  // The search has changed the order before.
  bool meets_deadline(TaskIndex task, WorkBudget& budget) {
    if (has_levels_) model_.map_order_to_streams();
    return meets_deadline_if_others_do(model_, taskset_, task, build_, budget);
  }
  static JitterSource jitter_after_search(JitterSource asked) { return asked; }
  void verify(const AnalysisOptions&) const {}  // its bounds are those of the analysis itself

 private:
  StagedModel& model_;
  const Taskset& taskset_;
  BuildWindowed build_;
  bool has_levels_;
  SafeWorkspace& workspace_;
};

// Bounds a taskset as a whole, without a search for GPU priorities.
class WholeModel {
 public:
  // Both are kept by reference.
  WholeModel(StagedModel& model, const Taskset& taskset, BoundTaskset bound)
      : model_(model), taskset_(taskset), bound_(bound) {}

  RtaModel& order() { return model_.order(); }
  void restore(std::vector<TaskIndex> gpu_order) { model_.order().set_gpu_order(std::move(gpu_order)); }
  std::vector<TaskResult> bounds(const AnalysisOptions& options, WorkBudget& budget) const {
    return bound_(model_, taskset_, options, budget);
  }
  bool passes(const AnalysisOptions& options, WorkBudget& budget) const {
    return std::ranges::all_of(bounds(options, budget), [](const TaskResult& task) { return task.schedulable(); });
  }
  static bool meets_deadline(TaskIndex /*task*/, WorkBudget& /*budget*/) { return false; }
  static JitterSource jitter_after_search(JitterSource asked) { return asked; }
  void verify(const AnalysisOptions&) const {}

 private:
  StagedModel& model_;
  const Taskset& taskset_;
  BoundTaskset bound_;
};

// Looks for GPU priorities under which each task meets its deadline if all others do, and sets them if it finds some.
template <class Model>
SearchOutcome search_in(Model& model, WorkBudget& budget) {
  return search_gpu_priorities(
      model.order(), [&](TaskIndex task) { return model.meets_deadline(task, budget); }, budget);
}

}  // namespace rtgpu
