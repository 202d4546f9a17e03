// What was found out about one document: what every output format is written from.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/error.h"
#include "rtgpu/result.h"
#include "taskset/json.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// Which document of which input.
struct DocumentId {
  std::string_view source;   // file name, "-" for standard input
  std::size_t index = 0;     // counted from 0
  bool one_of_many = false;  // the input may hold several
};

// One analysis of a document, or why it does not cover it.
struct Answer {
  AnalysisOptions options;
  Result<AnalysisResult> result;

  bool schedulable() const { return result && result->schedulable; }
};

// A document that was read and analysed.
struct DocumentReport {
  DocumentId id;
  LoadedTaskset loaded;
  std::vector<Answer> answers;

  bool schedulable() const;
  // Whether no analysis covers the taskset.
  bool all_refused() const;
  // What the analyses that refused it said.
  Errors refusals() const;
};

// A document without an answer: it cannot be read, or no analysis covers it. At least one error.
struct DocumentFailure {
  DocumentId id;
  Errors errors;
};

// How far a bound of this variant may be trusted: "upper bound" or "not a guarantee".
std::string_view trust_label(Variant variant);

// How tasks wait, as printed: what was analysed, or what was asked for where nothing was.
std::string_view wait_label(const Answer& answer);

// How the search for GPU priorities ended: "not_needed", "found", "none", "limit_reached".
std::string_view search_label(SearchOutcome outcome);

// What a user should be told about a document, apart from the results.
std::vector<std::string> notes(const LoadedTaskset& loaded);

// "1 core", "2 cores".
std::string count_of(std::size_t count, std::string_view thing);
// "3 real-time tasks, 1 best-effort, 2 cores"
std::string contents_of(const Taskset& taskset);

// "histogram 4, dxtc 2": the tasks that have SMs of their own.
std::string sms_of_tasks(const Taskset& taskset, const std::vector<int>& sms);

// What the errors say, a line each.
std::string messages(const Errors& errors);

// The key of a term in results: "own_ns", ...
std::string term_key(Term term);

}  // namespace rtgpu
