// What the importers of other programs' formats have in common.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// What a file of another format does not say.
struct ImportOptions {
  TimeUnit unit = TimeUnit::us;                   // of its times, for a format that leaves it open
  int cpus = 1;                                   // for a format that does not place tasks on cores
  std::optional<std::int64_t> gpu_resource = {};  // which shared resource is the GPU, for a format that has resources
};

// The tasksets of a file; each obeys validate().
struct Imported {
  std::vector<Taskset> tasksets;
  std::vector<std::string> notes;  // what has no counterpart in the model, and what was assumed in its place
};

// Places each task on the core that has the least utilisation so far, in their order.
void place_in_order(Taskset& taskset, int cpus);

// A taskset of an importer's tasks, as its result; `source` is the file. The errors are those of validate().
Result<Imported> imported(std::vector<Taskset> tasksets, std::vector<std::string> notes, const std::string& source);

}  // namespace rtgpu
