// `rtgpu simulate`: what happens when the tasks run, and whether a deadline is missed.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_simulate(CLI::App& program);

}  // namespace rtgpu
