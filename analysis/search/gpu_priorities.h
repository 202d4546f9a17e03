// GPU priorities under which a taskset is schedulable, as a changed taskset.
#pragma once

#include "analysis/search/search_work.h"

#include <span>
#include <vector>

namespace rtgpu {

// Whether GPU priorities can be searched for: the policy has a safe analysis that says so (AnalysisEntry). tsg-rr and
// fmlp+ order nothing but copies by them: there is no search.
bool can_search_gpu_priorities(Policy policy);

// The taskset with GPU priorities in the order of `order`, highest first, which holds every real-time task once. The
// tasks that use the GPU or copy exchange the values that they have; where some of those are equal, they get new ones
// from 1 up. All others keep theirs.
Taskset with_gpu_order(Taskset taskset, std::span<const TaskIndex> order);

// Exchanges neighbours in the GPU order of `found`, a taskset that passes, back into the order of `file` as long as all
// still pass; no such exchange is left, unless `work` ends before. An analysis each.
SearchedTaskset with_fewer_exchanges(const Taskset& file, SearchedTaskset found, const AnalysisOptions& options,
                                     SearchWork& work);

// Audsley's assignment (see gpu_priority_search.h for when it is exact), then with_fewer_exchanges(). A change is a
// task whose value differs; `exact` is never set, for others might change fewer. `options` say how, and of them the
// policy has such a search. Deterministic.
SearchedTaskset find_gpu_priorities(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work);

}  // namespace rtgpu
