// When a device did what it did, by its own clock, in times of the host's.
#pragma once

#include "rtgpu/time.h"
#include "runtime/job_place.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rtgpu {

// A moment that is known to lie between two times of the host's clock.
struct HostInterval {
  Duration earliest;
  Duration latest;
};

// A slice of a job's work, all of its work if that is not sliced, or a part of a copy.
//
// `begin` is when the job's stream came to it: nothing of it ran before. Kernels that wait for SMs which others have
// begin later. What the application launches itself (Stream::cuda()) begins with its segment, when the policy has let
// the job in and its stream is empty. `end` is when the stream came to what was put there after it: all of it had
// ended. That is later than its end if the thread that launched it was interrupted before it could mark the end.
struct DeviceInterval {
  static constexpr int kNoEngine = -1;

  JobPlace place;
  int engine = kNoEngine;  // of a copy
  HostInterval begin;
  HostInterval end;
};

struct DeviceTimes {
  std::vector<DeviceInterval> intervals;  // by task in the order of their ends
  std::uint64_t missed = 0;               // what was done, but is not among them
  // How the clocks run, and within how much every interval is known: "device clock: 12 ppm fast, times in the trace
  // within 3.2 us". Empty: the device has no clock of its own.
  std::string statement;
};

}  // namespace rtgpu
