#include "tools/read_document.h"

#include "analysis/falsification/counterexample.h"

#include <utility>

namespace rtgpu {

Result<LoadedTaskset> read_document(TasksetReader& reader, const DocumentText& document, const std::string& source) {
  if (!is_counterexample(document.text)) return reader.read(document.text, source, document.line);
  Result<Counterexample> counterexample = read_counterexample(document.text, source);
  if (!counterexample) return std::move(counterexample.errors());
  LoadedTaskset loaded;
  loaded.taskset = std::move(counterexample->taskset);
  return loaded;
}

}  // namespace rtgpu
