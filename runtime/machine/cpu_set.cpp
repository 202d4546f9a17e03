#include "runtime/machine/cpu_set.h"

#include <algorithm>
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace rtgpu {

// The system calls, not their wrappers: their masks have the size that the kernel needs.
CpuSet CpuSet::of_calling_thread() {
  CpuSet set;
  constexpr std::size_t kFewest = 1024;
  constexpr std::size_t kMost = 1024UL * 1024;
  for (std::size_t cpus = kFewest; cpus <= kMost; cpus *= 2) {
    set.words_.assign(cpus / kBits, 0);
    // EINVAL: the kernel has more.
    if (syscall(SYS_sched_getaffinity, 0, cpus / 8, set.words_.data()) >= 0 || errno != EINVAL) break;
  }
  return set;
}

void CpuSet::add(int cpu) {
  const auto bit = static_cast<std::size_t>(cpu);
  words_.resize(std::max(words_.size(), bit / kBits + 1), 0);
  words_[bit / kBits] |= 1UL << (bit % kBits);
}

int CpuSet::apply_to_calling_thread() const {
  const long result = syscall(SYS_sched_setaffinity, 0, words_.size() * sizeof(unsigned long), words_.data());
  return result == 0 ? 0 : errno;
}

std::vector<int> CpuSet::cpus() const {
  std::vector<int> numbers;
  for (std::size_t bit = 0; bit < words_.size() * kBits; ++bit) {
    if ((words_[bit / kBits] >> (bit % kBits) & 1UL) != 0) numbers.push_back(static_cast<int>(bit));
  }
  return numbers;
}

}  // namespace rtgpu
