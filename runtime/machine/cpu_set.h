// CPUs by number, as many as a machine has.
#pragma once

#include <cstddef>
#include <vector>

namespace rtgpu {

// The kernel's mask of CPUs, one bit for each.
class CpuSet {
 public:
  CpuSet() = default;
  static CpuSet of_calling_thread();

  void add(int cpu);
  // Lets the calling thread run on these only. 0, or the error.
  int apply_to_calling_thread() const;
  // In ascending order.
  std::vector<int> cpus() const;

 private:
  static constexpr std::size_t kBits = 8 * sizeof(unsigned long);

  std::vector<unsigned long> words_;
};

}  // namespace rtgpu
