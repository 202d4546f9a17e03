// The fewest slices of GPU segments that make a taskset schedulable under mpcp.
#pragma once

#include "analysis/search/search_work.h"

namespace rtgpu {

// The most launches of a segment that a search tries.
inline constexpr int kMaxSearchedSlices = 100;

// Adds slices to GPU segments, each of which costs a launch, until the taskset passes; GPU priorities and cores stay,
// unless `options` ask to search the former. A segment has kMaxSearchedSlices at most, no more than fit its exec with
// `block` each, and none whose launch takes longer than its exec. What it has already is kept.
//
// A heuristic first: of the tasks below one that fails on the GPU the segment with the longest slice gets one more,
// until all tasks pass or nothing can be cut; if that fails, the longest of all tasks. Then slices are taken back as
// long as all still pass. Then, with fewer slices in all, every way to distribute them is tried where these are no more
// than 1024: the number of added slices is then the least within those limits
// (`exact`). `none` is never exact.
SearchedTaskset find_slices(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work);

// The slices of all segments together.
std::int64_t total_slices(const Taskset& taskset);

}  // namespace rtgpu
