// The `rtgpu` program: its commands, its help, and how it ends.
#pragma once

#include "tools/exit_status.h"

#include <functional>

namespace rtgpu {

// Runs the command that the arguments name and returns the exit status. Ignores SIGPIPE in this process, so that a
// reader that goes away is an error of the write and not the end of the process.
int run_program(int argc, const char* const* argv);

// Runs `command` and turns whatever it throws into a message and an exit status.
ExitStatus guarded(const std::function<ExitStatus()>& command);

}  // namespace rtgpu
