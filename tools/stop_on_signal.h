// Ctrl-C ends long work, and the program says what there was until then.
#pragma once

#include "runtime/runtime.h"

#include <atomic>
#include <csignal>

namespace rtgpu {

// While it lives, the first SIGINT and the first SIGTERM set a flag and stop the runtime, if there is one; the next one
// ends the process as usual. One object at a time, with a runtime that outlives it. A signal that was ignored before
// stays so.
class StopOnSignal {
 public:
  StopOnSignal();
  explicit StopOnSignal(Runtime& runtime);
  // No other thread may run that could be handling a signal.
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  // Whether one came.
  bool stopped() const;
  // The same, for those who look at it now and then.
  const std::atomic<bool>& flag() const;
  // Which came last; 0: none.
  int signal() const;

 private:
  explicit StopOnSignal(Runtime* runtime);

  struct sigaction interrupt_ {};  // before
  struct sigaction terminate_ {};
};

}  // namespace rtgpu
