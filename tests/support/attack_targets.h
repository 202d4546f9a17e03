// Tasksets whose bounds are worth attacking.
#pragma once

#include "taskset/taskset.h"

#include <random>

namespace rtgpu::testing {

// A small taskset of a shape drawn at random: long misc, many segments, equal or harmonic periods, deadlines below the
// periods, jitter, separate GPU priorities, best-effort tasks, mixed waits; with overheads or without, slices, thread
// blocks, stream levels, copies, spinning lock waits.
Taskset attack_target(std::mt19937_64& engine);

// A few tasks of few whole milliseconds, so that much happens at the same instants; parts that take no time, too, and
// large release jitter: more than validate() allows, now and then.
Taskset small_target(std::mt19937_64& engine);

// Gives a taskset with exec what federated needs, at random: SMs of the GPU, execution times by the number of SMs or
// work, and the SMs of all tasks, of some, or of none.
void divide_sms(std::mt19937_64& engine, Taskset& taskset);

}  // namespace rtgpu::testing
