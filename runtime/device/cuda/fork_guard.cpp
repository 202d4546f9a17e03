#include "runtime/device/cuda/fork_guard.h"

#include <atomic>
#include <pthread.h>

namespace rtgpu::cuda {
namespace {

// Of the process: that is what is forked.
std::atomic<std::uint32_t>& fork_count() {
  static std::atomic<std::uint32_t> count = 0;
  return count;
}

void count_fork() {
  fork_count().fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint32_t forks_so_far() {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, count_fork);
  static_cast<void>(kRegistered);
  return fork_count().load(std::memory_order_relaxed);
}

}  // namespace rtgpu::cuda
