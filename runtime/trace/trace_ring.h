// Where one thread records what it does.
#pragma once

#include "runtime/trace/event_ring.h"
#include "runtime/trace/trace_event.h"

namespace rtgpu {

using TraceRing = EventRing<TraceEvent>;

}  // namespace rtgpu
