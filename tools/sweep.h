// `rtgpu sweep`: how many of random tasksets are schedulable, over a parameter.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_sweep(CLI::App& program);

}  // namespace rtgpu
