// The attack on one taskset after another.
#pragma once

#include "analysis/falsification/attack.h"
#include "analysis/falsification/counterexample.h"
#include "taskset/document_stream.h"
#include "taskset/json.h"
#include "tools/exit_status.h"
#include "tools/falsify_request.h"
#include "tools/format/falsification.h"
#include "tools/progress.h"
#include "tools/standard_output.h"

#include <cstdint>
#include <string>

namespace rtgpu {

// Memory does not grow with the number of tasksets. All arguments outlive the object; `documents` is null where the
// request has its tasksets generated.
class FalsifyRun {
 public:
  FalsifyRun(const FalsifyRequest& request, DocumentStream* documents, StandardOutput& output);

  // Throws OutputError, and std::system_error if a counterexample cannot be written.
  ExitStatus run();

 private:
  // Each attacks the next taskset, or tells what is wrong; false at the end.
  bool step_through_documents();
  bool step_through_generated();
  void attack_taskset(const Taskset& taskset);
  // Whether there was an answer of the analysis.
  bool attack_analysis(const Taskset& taskset, const AnalysisOptions& options, FalsificationRow& row);
  std::string write(const Taskset& taskset, const AnalysisOptions& options, Duration horizon, const Sighting& sighting);
  void fail(const Errors& errors);

  const FalsifyRequest& request_;
  DocumentStream* documents_;
  StandardOutput& output_;
  TasksetReader reader_;
  Progress progress_;
  FalsificationReport report_;
  bool any_failure_ = false;
};

}  // namespace rtgpu
