// The rules of the model, with what of it they are applied to. Internal to the library; validate() applies all to all.
#pragma once

#include "rtgpu/error.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// Bounds of a whole number, both included.
struct IntRange {
  std::int64_t low;
  std::int64_t high;
  constexpr bool holds(std::int64_t value) const { return low <= value && value <= high; }
};
// "a whole number from 1 to 10".
std::string describe(const IntRange& range);

inline constexpr IntRange kCpuCountRange{1, kMaxCpus};
inline constexpr IntRange kSmsRange{1, 1'000'000};
inline constexpr IntRange kCopyEnginesRange{1, 1'000'000};
inline constexpr IntRange kStreamPrioritiesRange{1, 1'000'000};
inline constexpr IntRange kSlicesRange{1, 1'000'000};
inline constexpr IntRange kMemoryRange{0, std::int64_t{1} << 60U};
inline constexpr IntRange kIndexRange{0, std::numeric_limits<std::int64_t>::max()};
// Leaves room below for the priorities of kMaxTasks tasks that have none.
inline constexpr IntRange kPriorityRange{-2'000'000'000, 2'000'000'000};
inline constexpr IntRange kUtilisationMillionths{0, 1'000'000'000'000};
inline constexpr IntRange kInterleaveMillionths{1'000'000, 1'000'000'000};

// What could be read of a taskset. Rules about the rest would only repeat its errors.
struct RuleScope {
  bool cpus = true;         // platform.cpus
  bool gpus = true;         // platform.gpus
  bool tasks = true;        // the number of tasks
  std::vector<bool> sound;  // the tasks to look at; empty: all
};

// Errors with JSON pointers, in the order of the tasks within each rule. The first kMaxKeptErrors are kept.
struct RuleErrors {
  Errors errors;
  std::size_t count = 0;
};

RuleErrors check_rules(const Taskset& taskset, const RuleScope& scope);

}  // namespace rtgpu
