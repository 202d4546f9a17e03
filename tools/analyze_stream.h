// The analysis of one document after another.
#pragma once

#include "taskset/document_stream.h"
#include "taskset/json.h"
#include "tools/analyze_request.h"
#include "tools/exit_status.h"
#include "tools/format/report.h"
#include "tools/progress.h"
#include "tools/standard_output.h"

#include <cstddef>
#include <optional>

namespace rtgpu {

// Reads, analyses and writes; memory does not grow with the number of documents. All arguments outlive the object.
class AnalyzeStream {
 public:
  AnalyzeStream(const AnalyzeRequest& request, DocumentStream& documents, StandardOutput& output);

  // Throws OutputError.
  ExitStatus run();

 private:
  // The next document, with its answers written or its failure told; false at the end.
  bool step();
  void answer(LoadedTaskset loaded, const DocumentId& id);
  void write(const DocumentReport& report);
  void fail(const DocumentId& id, const Errors& errors);
  void tell(const DocumentReport& report);
  ExitStatus status() const;

  const AnalyzeRequest& request_;
  DocumentStream& documents_;
  StandardOutput& output_;
  Format format_;
  TasksetReader reader_;
  Progress progress_;
  std::size_t done_ = 0;
  bool any_failure_ = false;
  bool all_schedulable_ = true;
};

}  // namespace rtgpu
