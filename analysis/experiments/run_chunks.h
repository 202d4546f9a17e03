// Counts chunks of an experiment on several threads.
#pragma once

#include "analysis/experiments/chunk_set.h"
#include "analysis/experiments/sweep.h"
#include "rtgpu/error.h"

#include <atomic>
#include <functional>

namespace rtgpu {

// Called after each chunk with all that is counted by then: from some thread, one call at a time. What it throws ends
// the work and is passed on.
using AfterChunk = std::function<void(const SweepCounts&)>;

struct RunChunksOptions {
  int jobs = 0;  // threads; 0: as many as the process may use cores
  // Looked at between chunks: once it is true, none is begun any more. Null: nobody stops it.
  const std::atomic<bool>* stop = nullptr;
  AfterChunk after_chunk = {};
};

// Counts the chunks of `which` that are not done in `counts` yet, in order, and adds them. Which chunks there are is of
// no consequence for what is counted of each: another process may count others, and Sweep::merge() puts both together.
// All chunks are ChunkSet(0, sweep.chunks()).
//
// `which` is within 0 ... sweep.chunks() - 1; `counts` is of this sweep. The result is the same for every number of
// threads. Errors: a taskset that cannot be made; `counts` then holds the chunks done until then. Memory in O(jobs)
// tasksets.
Errors run_chunks(const Sweep& sweep, const ChunkSet& which, const RunChunksOptions& options, SweepCounts& counts);

}  // namespace rtgpu
