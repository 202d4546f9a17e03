// Everything of the core library: time, errors and results, policies.
#pragma once

#include "rtgpu/error.h"   // IWYU pragma: export
#include "rtgpu/policy.h"  // IWYU pragma: export
#include "rtgpu/result.h"  // IWYU pragma: export
#include "rtgpu/time.h"    // IWYU pragma: export
