// `rtgpu generate`: random tasksets.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_generate(CLI::App& program);

}  // namespace rtgpu
