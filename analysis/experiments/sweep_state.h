// What has been counted of an experiment as a text, so that it can be gone on with later.
#pragma once

#include "analysis/experiments/sweep.h"
#include "rtgpu/result.h"

#include <string>
#include <string_view>

namespace rtgpu {

// JSON: the experiment, the version of this library, the chunks that are done, and the counts. The size does not depend
// on the number of tasksets.
std::string write_sweep_state(const Sweep& sweep, const SweepCounts& counts);

// The counts that are in such a text. Errors: a text that is none, or contradicts itself (syntax); one of another
// experiment, or of another version, whose analyses may judge differently (conflict), with what differs.
Result<SweepCounts> read_sweep_state(const Sweep& sweep, std::string_view text);

}  // namespace rtgpu
