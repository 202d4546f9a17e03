// `rtgpu plan`: what makes a taskset schedulable, or by how much it is.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_plan(CLI::App& program);

}  // namespace rtgpu
