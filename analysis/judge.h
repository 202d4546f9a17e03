// Verdicts on one taskset after another, without bounds.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/result.h"
#include "taskset/taskset.h"

#include <memory>

namespace rtgpu {

// Says whether analyses call tasksets schedulable: what analyze() answers, but sooner. Most tasksets that fail do so
// at a task that is looked at first, the others are left at the first task without a bound, and what the analyses of a
// taskset have in common is made once. Memory is kept from one taskset to the next.
//
// One thread at a time; several threads have a judge each. As analyze() does, it throws std::logic_error at a defect of
// this library, and takes as not schedulable what is undecided when kMaxChargeEvaluations are spent.
class Judge {
 public:
  Judge();
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;
  ~Judge();

  // The taskset to judge from now on, a valid one. It is not copied, and must not change while it is judged.
  void take(const Taskset& taskset);

  // Whether every real-time task has a bound at or below its deadline. Errors as analyze(). `explain` and
  // `beyond_deadline` make no difference. take() comes first.
  Result<bool> is_schedulable(const AnalysisOptions& options);

 private:
  class Models;
  std::unique_ptr<Models> models_;
};

}  // namespace rtgpu
