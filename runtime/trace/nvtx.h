// Ranges of NVTX, by which a profiler shows on a thread's timeline what the thread is about. They are there if the
// headers of NVTX 3 were when the runtime was built, and do nothing otherwise. NVTX loads a profiler's library, whose
// path the profiler puts in the environment, once in a process; without a profiler a range costs two calls that return
// at once.
#pragma once

#include <cstddef>
#include <string_view>

namespace rtgpu {

// Whether the runtime was built with NVTX.
bool has_nvtx();

// Loads the profiler's library if that has not been done. Set-up: the first range would do it otherwise.
void attach_nvtx();

// A range as long as this object. Ranges nest within a thread: one is closed by the thread that opened it, and after
// all that were opened within it. Allocates nothing and never throws.
class NvtxRange {
 public:
  // Ends in a 0, and is passed on as it is. None: an empty name.
  explicit NvtxRange(const char* name);
  // NVTX wants a 0 at the end: at most kLongestName bytes go through a buffer on the stack. The rest is cut off.
  explicit NvtxRange(std::string_view name);
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange();

  static constexpr std::size_t kLongestName = 63;
};

}  // namespace rtgpu
