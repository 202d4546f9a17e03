// Changes of a taskset of which the effect on its bounds is known.
#pragma once

#include "taskset/taskset.h"

#include <cstdint>
#include <random>
#include <span>
#include <string_view>

namespace rtgpu::testing {

// One that can only make things worse: it grows one kind of value, of one task where it is a task's, by a random amount
// that is often small. The taskset stays valid (but deadlines stay what they are, so it may be beyond all hope).
struct Change {
  std::string_view name;
  void (*apply)(std::mt19937_64& engine, Taskset& taskset);
};

std::span<const Change> changes_for_the_worse();

// A copy of one of the tasks, on any core, with a priority of its own among those of the others.
void add_another_task(std::mt19937_64& engine, Taskset& taskset);

// Every time of the platform and of the tasks, by a factor >= 1.
void scale_times(Taskset& taskset, std::int64_t factor);

// Another order of the tasks, which says nothing where priorities are unique.
void shuffle_tasks(std::mt19937_64& engine, Taskset& taskset);

}  // namespace rtgpu::testing
