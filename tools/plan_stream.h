// Plans for one document after another.
#pragma once

#include "taskset/document_stream.h"
#include "taskset/json.h"
#include "tools/exit_status.h"
#include "tools/format/plan_report.h"
#include "tools/plan_request.h"
#include "tools/progress.h"
#include "tools/standard_output.h"
#include "tools/stop_on_signal.h"

#include <cstddef>

namespace rtgpu {

// Reads, searches and writes. All arguments outlive the object.
class PlanStream {
 public:
  PlanStream(const PlanRequest& request, DocumentStream& documents, StandardOutput& output);

  // After a SIGINT or SIGTERM it shows what was found by then. Throws OutputError, and std::system_error with the name
  // of a proposal's file that cannot be written.
  ExitStatus run();
  // Which signal ended it; 0: none.
  int signal() const { return signals_.signal(); }

 private:
  // The next document, with its plan written or its failure told; false at the end.
  bool step();
  void answer(LoadedTaskset loaded, const DocumentId& id);
  void add_margins(PlanReport& report);
  void add_proposals(PlanReport& report);
  void write_proposals(PlanReport& report);
  void tell(const PlanReport& report);
  void fail(const DocumentId& id, const Errors& errors);
  // Whether the searches are to go on; counts an analysis.
  bool go_on();

  const PlanRequest& request_;
  DocumentStream& documents_;
  StandardOutput& output_;
  Format format_;
  TasksetReader reader_;
  StopOnSignal signals_;
  Progress progress_;
  std::size_t done_ = 0;
  std::size_t analyses_ = 0;
  bool any_failure_ = false;
  bool all_answered_ = true;
};

}  // namespace rtgpu
