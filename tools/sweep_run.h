// The sweep that was asked for: counted, kept beside its CSV file while it is not complete, and shown.
#pragma once

#include "analysis/experiments/sweep.h"
#include "rtgpu/result.h"
#include "tools/exit_status.h"
#include "tools/progress.h"
#include "tools/ranks.h"
#include "tools/standard_output.h"
#include "tools/sweep_ranks.h"
#include "tools/sweep_request.h"

#include <atomic>
#include <optional>
#include <string>

namespace rtgpu {

class SweepRun {
 public:
  // All outlive the object. ranks: the processes that count, of which this is the first; null: this one alone.
  SweepRun(const SweepRequest& request, StandardOutput& output, Ranks* ranks);

  // After a SIGINT or SIGTERM it shows and keeps what is done, and then ends the process by that signal. Throws
  // OutputError, and std::system_error if a file cannot be written.
  ExitStatus run();

 private:
  ExitStatus run_until(const std::atomic<bool>& stop);
  // What an earlier run has left; nothing counted if there is none, or none was asked for.
  Result<SweepCounts> begin() const;
  Errors count(const std::atomic<bool>& stop);
  bool is_complete() const;
  void after_chunk(const SweepCounts& counts);
  void save() const;
  // Whether all could be written.
  bool show();
  bool draw(const SweepResult& result) const;
  void tell_of_uncovered() const;

  const SweepRequest& request_;
  StandardOutput& output_;
  std::optional<SweepLeader> leader_;
  std::string state_file_;  // empty: none
  Progress progress_;
  Progress::Clock::time_point next_save_;
  SweepCounts counts_;
};

}  // namespace rtgpu
