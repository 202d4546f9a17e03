// `rtgpu convert`: tasksets from and to the formats of other programs.
#pragma once

#include "tools/command.h"

namespace rtgpu {

CommandRun declare_convert(CLI::App& program);

}  // namespace rtgpu
