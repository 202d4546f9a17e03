// The simulation of one document after another.
#pragma once

#include "analysis/falsification/counterexample.h"
#include "rtgpu/time.h"
#include "taskset/document_stream.h"
#include "taskset/json.h"
#include "tools/exit_status.h"
#include "tools/format/simulation_report.h"
#include "tools/progress.h"
#include "tools/simulate_request.h"
#include "tools/standard_output.h"

#include <cstddef>

namespace rtgpu {

// Reads, simulates and writes; memory grows neither with the number of documents nor with that of trials. All arguments
// outlive the object.
class SimulateStream {
 public:
  SimulateStream(const SimulateRequest& request, DocumentStream& documents, StandardOutput& output);

  // Throws OutputError, and std::system_error if a trace or chart cannot be written.
  ExitStatus run();

 private:
  // The next document, with its answers written or its failure told; false at the end.
  bool step();
  void answer(LoadedTaskset loaded, const DocumentId& id);
  void replay(Counterexample counterexample, const DocumentId& id);
  void finish(const SimulationReport& report);
  void record(const SimulationReport& report, Simulator& simulator, const TrialSummary& summary, Policy policy);
  SimulationAnswer simulate(const SimulationReport& report, Policy policy);
  // Shows how much has been simulated, with `now` of the present run.
  void show_progress(Duration now);
  void write(const SimulationReport& report);
  void fail(const DocumentId& id, const Errors& errors);
  void tell(const SimulationReport& report);
  ExitStatus status() const;

  const SimulateRequest& request_;
  DocumentStream& documents_;
  StandardOutput& output_;
  Format format_;
  TasksetReader reader_;
  Progress progress_;
  std::size_t done_ = 0;
  Duration simulated_;  // by the runs that are over
  bool any_failure_ = false;
  bool all_meet_deadlines_ = true;
};

}  // namespace rtgpu
