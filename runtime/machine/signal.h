// Where one thread waits and others wake it.
#pragma once

#include <atomic>
#include <cstdint>

namespace rtgpu {

// A binary signal: it is set or not; setting it twice is setting it once; the thread that waits takes it. One thread
// waits at a time. The words are those of RealMachine, which sleeps on `word` with a futex; VirtualMachine only sets
// and takes it.
struct Signal {
  static constexpr std::uint32_t kClear = 0;
  static constexpr std::uint32_t kSet = 1;
  static constexpr std::uint32_t kAwaited = 2;  // clear, and a thread sleeps until it is set

  std::atomic<std::uint32_t> word = kClear;

  bool take() {
    std::uint32_t expected = kSet;
    return word.compare_exchange_strong(expected, kClear, std::memory_order_acq_rel);
  }
};

}  // namespace rtgpu
