// Drawing by gnuplot, a program of its own.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/result.h"

#include <optional>
#include <string>

namespace rtgpu {

// Whether gnuplot can be run, asked before long work whose result it is to draw; what to do if not.
std::optional<Error> missing_gnuplot();

// What gnuplot writes to standard output for a script. Errors (environment): it cannot be run, or does not take the
// script.
Result<std::string> run_gnuplot(const std::string& script);

}  // namespace rtgpu
