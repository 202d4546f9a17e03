// Tells whether this process has been forked off one that used CUDA: the driver does not work in the child.
#pragma once

#include <cstdint>

namespace rtgpu::cuda {

// How often this process, or an ancestor since it first asked, was forked off. Thread-safe, and a plain load from the
// second call on.
std::uint32_t forks_so_far();

// Remembers the process that made it.
class ForkGuard {
 public:
  ForkGuard() : made_in_(forks_so_far()) {}
  bool is_in_child() const { return forks_so_far() != made_in_; }

 private:
  std::uint32_t made_in_;
};

}  // namespace rtgpu::cuda
