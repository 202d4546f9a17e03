// Tasks of the runtime as tasks of the model, and back: both build the same taskset.
#pragma once

#include "runtime/task_setup.h"
#include "taskset/taskset.h"

namespace rtgpu {

// A task that declares no segments has one CPU segment of no length.
Task task_of(const TaskSetup& setup);

// Released by time, from 0 on; goes on when late.
TaskSetup setup_of(const Task& task);

}  // namespace rtgpu
