// Which policies the runtime can carry out.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/policy.h"

#include <optional>
#include <vector>

namespace rtgpu {

// In the order of all_policies().
std::vector<Policy> runnable_policies();

// What the runtime lacks for a policy, and what to use instead; nullopt: nothing.
std::optional<Error> missing_for(Policy policy);

}  // namespace rtgpu
