// The fake CUDA driver's hardware in time: which operation has the SMs and the copy engines, and until when. It has no
// threads: what has come to its end is found when time is told.
//
// The SMs of a device fall into those of each green context and the rest. Each of these runs one wave of blocks at a
// time. When a wave has ended, the kernel of the highest priority goes on that is ready, the one submitted first among
// equals. A copy engine serves ready copies in order of submission, one at a time.
#pragma once

#include "tests/support/fake_driver/operation.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

namespace rtgpu::cuda::fake {

class Timeline {
 public:
  // Nothing goes on, and it is this time.
  void restart(std::uint64_t now);
  std::uint64_t now() const { return now_; }
  // Without a clock: time goes by with each operation.
  void pass(std::uint64_t duration) { now_ += duration; }

  // To be told when something was submitted or has changed; what can begin then begins, what takes no time is done.
  void settle(Model& model);
  // The same at every end up to `time`, in order. Time does not go back.
  void advance(Model& model, std::uint64_t time);
  // When the next of what goes on ends; none: nothing does, or it hangs.
  std::optional<std::uint64_t> next_end() const;

 private:
  struct HardwareUnit {
    CUdevice device = 0;
    Uses uses = Uses::nothing;
    std::uint64_t partition = 0;
    auto operator<=>(const HardwareUnit&) const = default;
  };
  struct Occupancy {
    OperationPtr operation;
    std::uint64_t until = kNever;
  };
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  static HardwareUnit unit_of(const Model& model, const Operation& operation);
  static bool goes_before(const Operation& operation, const Operation& other);
  bool end_what_is_due(Model& model);
  void end_what_takes_no_time(Model& model) const;
  void begin_what_can(Model& model);
  void serve(Model& model, Occupancy& occupancy, const OperationPtr& operation) const;

  std::uint64_t now_ = 0;
  std::map<HardwareUnit, Occupancy> occupied_;  // what each unit serves
};

}  // namespace rtgpu::cuda::fake
