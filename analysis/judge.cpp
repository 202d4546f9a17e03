#include "analysis/judge.h"

#include "analysis/analysis_model.h"
#include "analysis/registry.h"
#include "analysis/requirements.h"
#include "analysis/search/sm_partition.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace rtgpu {
namespace {

template <class Model>
bool passes_after_search(Model& model, AnalysisOptions options, WorkBudget& budget) {
  std::vector<TaskIndex> given(model.order().gpu_order().begin(), model.order().gpu_order().end());
  bool passes = false;
  if (search_in(model, budget) == SearchOutcome::found) {
    options.jitter = model.jitter_after_search(options.jitter);
    passes = model.passes(options, budget);
  }
  model.restore(std::move(given));
  return passes;
}

template <class Model>
bool judge(Model model, const Taskset& taskset, const AnalysisOptions& options) {
  WorkBudget budget;
  bool passes = model.passes(options, budget);
  if (!passes && options.gpu_priorities == GpuPriorities::search) passes = passes_after_search(model, options, budget);
  if (passes) check_utilisation(model.order(), taskset, options.policy);
  return passes;
}

}  // namespace

class Judge::Models {
 public:
  void take(const Taskset& taskset) {
    taskset_ = &taskset;
    for (auto& model : published_) model.forget();
    for (auto& model : safe_) model.forget();
  }

  Result<bool> is_schedulable(const RegisteredAnalysis& analysis, AnalysisOptions options) {
    options.explain = false;
    options.beyond_deadline = false;
    if (auto error = missing_search(analysis, options.gpu_priorities)) return std::move(*error);
    if (analysis.needs == Needs::sm_partition) return judge_on_partition(analysis, options);
    return options.variant == Variant::safe ? judge_safe(analysis, options) : judge_published(analysis, options);
  }

 private:
  Result<bool> judge_safe(const RegisteredAnalysis& analysis, const AnalysisOptions& options) {
    PreparedModel<StagedModel>& safe = safe_[static_cast<std::size_t>(options.wait)];
    StagedModel* const model = safe.of(*taskset_, options.wait);
    if (model == nullptr) return safe.errors();
    if (auto error = missing_need(analysis, *taskset_)) return std::move(*error);
    return judge(SafeModel(*model, *taskset_, analysis, workspace_), *taskset_, options);
  }

  Result<bool> judge_published(const RegisteredAnalysis& analysis, const AnalysisOptions& options) {
    PreparedModel<RtaModel>& published = published_[static_cast<std::size_t>(options.wait)];
    RtaModel* const model = published.of(*taskset_, options.wait);
    if (model == nullptr) return published.errors();
    if (auto error = missing_need(analysis, *taskset_)) return std::move(*error);
    return judge(PublishedModel(*model, *taskset_, analysis.build), *taskset_, options);
  }

  Result<bool> judge_on_partition(const RegisteredAnalysis& analysis, const AnalysisOptions& options) {
    Result<PartitionedTaskset> partitioned = on_sm_partition(*taskset_, options.wait);
    if (!partitioned) return std::move(partitioned.errors());
    const Taskset& taskset = partitioned->taskset;
    Errors errors = on_partition_.assign(taskset, options.wait);
    if (!errors.empty()) return errors;
    if (options.variant == Variant::published) {
      return judge(WholeModel(on_partition_, taskset, analysis.bound_taskset), taskset, options);
    }
    return judge(SafeModel(on_partition_, taskset, analysis, workspace_), taskset, options);
  }

  const Taskset* taskset_ = nullptr;
  // By choice of waits.
  std::array<PreparedModel<RtaModel>, 3> published_;
  std::array<PreparedModel<StagedModel>, 3> safe_;
  StagedModel on_partition_;
  SafeWorkspace workspace_;
};

Judge::Judge() : models_(std::make_unique<Models>()) {}
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;
Judge::~Judge() = default;

void Judge::take(const Taskset& taskset) {
  models_->take(taskset);
}

Result<bool> Judge::is_schedulable(const AnalysisOptions& options) {
  if (auto error = availability_error(options.policy, options.variant)) return std::move(*error);
  return models_->is_schedulable(*find_analysis(options.policy, options.variant), options);
}

}  // namespace rtgpu
