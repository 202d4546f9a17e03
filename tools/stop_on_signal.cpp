#include "tools/stop_on_signal.h"

#include <atomic>
#include <cerrno>

namespace rtgpu {
namespace {

// A signal handler has no arguments of its own.
std::atomic<Runtime*> stopped_by_signals = nullptr;
std::atomic<bool> signal_came = false;
std::atomic<int> last_signal = 0;
static_assert(std::atomic<Runtime*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

extern "C" void stop_runtime(int signal) {
  const int before = errno;
  last_signal.store(signal);
  signal_came.store(true);
  if (Runtime* runtime = stopped_by_signals.load()) runtime->stop();
  errno = before;
}

void handle(int signal, struct sigaction& before) {
  sigaction(signal, nullptr, &before);
  if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = stop_runtime;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopOnSignal::StopOnSignal() : StopOnSignal(nullptr) {}

StopOnSignal::StopOnSignal(Runtime& runtime) : StopOnSignal(&runtime) {}

StopOnSignal::StopOnSignal(Runtime* runtime) {
  last_signal.store(0);
  signal_came.store(false);
  stopped_by_signals.store(runtime);
  handle(SIGINT, interrupt_);
  handle(SIGTERM, terminate_);
}

StopOnSignal::~StopOnSignal() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
  stopped_by_signals.store(nullptr);
}

bool StopOnSignal::stopped() const {
  return signal_came.load();
}

const std::atomic<bool>& StopOnSignal::flag() const {
  return signal_came;
}

int StopOnSignal::signal() const {
  return last_signal.load();
}

}  // namespace rtgpu
