// How the CUDA device is to be used.
#pragma once

#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace rtgpu {

// What a thread does that waits for the device in a call of its own (cudaStreamSynchronize and the like; the runtime
// itself makes no such call on a job's path). It is a property of the primary context, which the whole process shares.
enum class ContextWait : std::uint8_t { block, spin };

// A driver whose work takes its time on a clock that does not go by itself, for runs in virtual time.
class CudaClock {
 public:
  CudaClock() = default;
  CudaClock(const CudaClock&) = delete;
  CudaClock& operator=(const CudaClock&) = delete;
  virtual ~CudaClock() = default;
  // A run begins: time 0 of it is now.
  virtual void start() = 0;
  // It is now that late in the run; not before the time of an earlier call.
  virtual void reach(Duration now) = 0;
  // When the next thing that was submitted ends; infinite: none does.
  virtual Duration next_end() = 0;
};

struct CudaOptions {
  std::string library = {};  // the driver's; libcuda.so.1 if empty
  ContextWait context_wait = ContextWait::block;
  // Work in flight is looked at again after an eighth of the time that it has run, but not before `look_least` nor
  // later than `look_most`: its end is seen within `look_most`, or for short work within an eighth of its length or
  // `look_least`, whichever is more. A look takes a call of the driver, above all tasks of a CPU. Above 0.
  Duration look_least = Duration::microseconds(10);
  Duration look_most = Duration::microseconds(50);
  // Copies go in parts of at most this many bytes, one at a time. Above 0.
  std::size_t copy_chunk = std::size_t{4} << 20U;
  // Whether SM partitions keep together the SMs that can run a thread block cluster.
  bool keep_coscheduled_sms = true;
  // None: the driver's work takes real time.
  std::shared_ptr<CudaClock> clock = {};
};

}  // namespace rtgpu
