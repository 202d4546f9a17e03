// `rtgpu falsify`: looks for a schedule that exceeds a bound.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_falsify(CLI::App& program);

}  // namespace rtgpu
