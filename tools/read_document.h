// A document of the input as a taskset.
#pragma once

#include "rtgpu/result.h"
#include "taskset/document_stream.h"
#include "taskset/json.h"

#include <string>

namespace rtgpu {

// A taskset, or that of a counterexample.
Result<LoadedTaskset> read_document(TasksetReader& reader, const DocumentText& document, const std::string& source);

}  // namespace rtgpu
