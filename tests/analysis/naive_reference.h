// The published recurrences once more, written down as plainly as the papers print them, to test the fast ones by.
#pragma once

#include "analysis/analysis.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rtgpu::testing {

// By name of each real-time task, nanoseconds; nullopt where there is no bound at or below the deadline. Only for
// tasksets whose GPU priorities follow their CPU priorities, which are unique, and whose GPU-using tasks all wait
// alike.
using NaiveBounds = std::map<std::string, std::optional<std::int64_t>>;
NaiveBounds naive_gcaps(const Taskset& taskset, bool busy, JitterSource jitter);
NaiveBounds naive_tsg_rr(const Taskset& taskset, bool busy, JitterSource jitter);
NaiveBounds naive_mpcp(const Taskset& taskset, bool busy, JitterSource jitter);
NaiveBounds naive_fmlp_plus(const Taskset& taskset, bool busy, JitterSource jitter);
NaiveBounds naive_server(const Taskset& taskset, bool busy, JitterSource jitter);

}  // namespace rtgpu::testing
