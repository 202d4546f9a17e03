// Runs in virtual time for tests, and what their traces tell.
#pragma once

#include "rtgpu/time.h"
#include "runtime/runtime.h"
#include "runtime/task_setup.h"
#include "runtime/trace/trace_event.h"
#include "taskset/taskset.h"

#include <functional>
#include <string>
#include <vector>

namespace rtgpu::testing {

// A GPU with two levels of streams and time slices of 1 ms; nothing costs anything.
Gpu plain_gpu();

// In virtual time, with a trace.
RuntimeOptions virtual_options(const std::string& policy, const Gpu& gpu = plain_gpu());

// Deadline = period.
TaskSetup setup(const std::string& name, Duration period, int priority, std::vector<Segment> segments = {},
                int core = 0);

// A job with a GPU segment that takes what is declared. `use_gpu_well`: which has to end well.
void use_gpu(Job& job);
void use_gpu_well(Job& job);

// What the trace tells of a task, in order: "release@0ns", "start@0ns", ... Without boosts, and without what cores do.
std::vector<std::string> events_of(const Runtime& runtime, const std::string& task);

// When a task's events of this kind happened, in order.
std::vector<std::string> times_of(const Runtime& runtime, const std::string& task, TraceKind kind);

// What a set-up error says; empty if there is none.
std::string refusal_of(const std::function<void()>& act);

const TaskStatistics& seen_of(const RunReport& report, const std::string& task);

}  // namespace rtgpu::testing
