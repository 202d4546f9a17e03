// What was found out about one document by `rtgpu plan`, and the formats of it.
#pragma once

#include "analysis/plan/margins.h"
#include "analysis/plan/proposals.h"
#include "tools/format/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

struct PolicyMargins {
  Policy policy = Policy::gcaps;
  WaitLabel wait = WaitLabel::suspend;
  std::vector<Margin> margins;
};

struct PlanReport {
  DocumentReport now;                  // under the policies asked for; at least one covers the taskset
  std::vector<PolicyMargins> margins;  // schedulable: of each policy that says so
  Proposals proposals;                 // otherwise
  std::vector<std::string> files;      // of the proposals; empty if they were not written
  bool interrupted = false;            // margins or proposals are those found by then

  const Taskset& taskset() const { return now.loaded.taskset; }
  bool is_yes() const { return now.schedulable() || !proposals.proposals.empty(); }
};

// How the search for proposals ended: "complete", "limit_reached", "interrupted".
std::string_view search_end(const PlanReport& report);

// What differs in a task.
struct TaskChange {
  TaskIndex task = kNoTask;
  struct Value {
    std::string_view what;    // "gpu_priority", "cpu", "slices", "sms"
    std::size_t segment = 0;  // of slices
    int before = 0;           // of sms: 0 if they were left open
    int after = 0;
  };
  std::vector<Value> values;
};
std::vector<TaskChange> task_changes(const Taskset& before, const Taskset& after);

void append_table(std::string& out, const PlanReport& report);
// On a line of its own if the document is one of many.
void append_json(std::string& out, const PlanReport& report);
// One line, in short.
void append_ndjson(std::string& out, const PlanReport& report);
// JSON on a line.
void append_plan_failure(std::string& out, const DocumentFailure& failure);

}  // namespace rtgpu
