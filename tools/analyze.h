// `rtgpu analyze`: bounds on response times, and whether every deadline is met.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_analyze(CLI::App& program);

}  // namespace rtgpu
