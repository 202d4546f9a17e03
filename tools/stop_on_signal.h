// Ctrl-C ends a run, and the program says what there was until then.
#pragma once

#include "runtime/runtime.h"

#include <csignal>

namespace rtgpu {

// While it lives, the first SIGINT and the first SIGTERM stop the runtime; the next one ends the process as usual. One
// object at a time, with a runtime that outlives it. A signal that was ignored before stays so.
class StopOnSignal {
 public:
  explicit StopOnSignal(Runtime& runtime);
  // No other thread may run that could be handling a signal.
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  // Whether one came.
  bool stopped() const;

 private:
  struct sigaction interrupt_ {};  // before
  struct sigaction terminate_ {};
};

}  // namespace rtgpu
