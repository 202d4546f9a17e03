// `rtgpu run`: a taskset in the runtime, with work that takes its declared time.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_run(CLI::App& program);

}  // namespace rtgpu
