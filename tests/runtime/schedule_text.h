// Schedules compared, with words for where they differ.
#pragma once

#include "analysis/simulation/schedule.h"

#include <string>

namespace rtgpu::testing {

// The first interval or job that differs, of the first kind that does; empty if the schedules are equal.
std::string first_difference(const Schedule& expected, const Schedule& actual);

}  // namespace rtgpu::testing
