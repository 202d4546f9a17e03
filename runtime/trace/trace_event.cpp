#include "runtime/trace/trace_event.h"

#include <array>
#include <cstddef>

namespace rtgpu {
namespace {

constexpr std::array<std::string_view, kTraceKindCount> kNames = {
    "release",        "start",    "cpu",     "arrive",      "enter",      "grant",       "inside",
    "submit",         "end",      "leave",   "leave grant", "left",       "copy arrive", "copy submit",
    "copy end",       "complete", "miss",    "overrun",     "error",      "boost",       "unboost",
    "context switch", "begin",    "preempt", "slice",       "copy begin", "dispatch"};

}  // namespace

std::string_view to_string(TraceKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "?";
}

}  // namespace rtgpu
