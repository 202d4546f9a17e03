// What a GPU segment hands to a device: kernels over block indices, or declared durations, in slices.
#pragma once

#include "rtgpu/time.h"
#include "runtime/device/slicing.h"
#include "runtime/job_place.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rtgpu {

class Stream;

// A thread block of a kernel that runs on the host.
struct Block {
  std::int64_t index = 0;  // within the whole grid, whatever slice it is in
  int sm = 0;              // the SM it runs on
};

// A function over blocks that is stored in place, so that launching one allocates nothing. What it captures is copied:
// at most 64 bytes, trivially copyable (pointers, spans, numbers).
class BlockKernel {
 public:
  static constexpr std::size_t kCapacity = 64;

  BlockKernel() = default;
  template <class Function>
  requires std::is_invocable_v<const Function&, const Block&>
  // NOLINTNEXTLINE(google-explicit-constructor): a lambda is meant to convert.
  BlockKernel(const Function& function) : call_(&call<Function>) {
    static_assert(sizeof(Function) <= kCapacity, "a kernel captures at most 64 bytes: capture a pointer");
    static_assert(std::is_trivially_copyable_v<Function>, "a kernel captures pointers, spans and numbers");
    static_assert(alignof(Function) <= alignof(std::max_align_t));
    ::new (static_cast<void*>(storage_.data())) Function(function);
  }

  explicit operator bool() const { return call_ != nullptr; }
  void operator()(const Block& block) const { call_(storage_.data(), block); }

 private:
  template <class Function>
  static void call(const std::byte* storage, const Block& block) {
    (*std::launder(reinterpret_cast<const Function*>(storage)))(block);
  }

  alignas(std::max_align_t) std::array<std::byte, kCapacity> storage_{};
  void (*call_)(const std::byte*, const Block&) = nullptr;
};

// One launch: a part of a kernel's grid, or work that takes a declared time.
struct Launch {
  BlockKernel kernel = {};  // none: the launch takes `time`
  std::int64_t first_block = 0;
  std::int64_t blocks = 0;
  Duration time = {};
};

// How a device is to cut declared work.
struct TimedWork {
  Duration time;          // of the whole, launches of further slices included; infinite: it hangs
  Duration slice_length;  // longest run between two ends of slices; 0: in one piece
  Duration block;         // longest thread block; 0: not known
};

// Launches slices of a grid when the device asks for them. Refers to a function, which has to outlive it.
class SliceLauncher {
 public:
  // A function of (Stream, Slice).
  template <class Work>
  static SliceLauncher of(Work& work) {
    SliceLauncher launcher;
    launcher.work_ = reinterpret_cast<std::uintptr_t>(std::addressof(work));
    launcher.call_ = [](std::uintptr_t function, const Stream& stream, const Slice& slice) {
      (*reinterpret_cast<Work*>(function))(stream, slice);
    };
    return launcher;
  }
  void operator()(const Stream& stream, const Slice& slice) const { call_(work_, stream, slice); }

 private:
  std::uintptr_t work_ = 0;
  void (*call_)(std::uintptr_t, const Stream&, const Slice&) = nullptr;
};

// A grid whose slices are launched one by one, each when the one before has ended and the policy lets it go on.
struct SlicedLaunches {
  Sliced grid;
  SliceLauncher launch;
};

// All that one GPU segment submits. Filled by the task's thread, read by the device from submission to completion.
// Keeps its storage: nothing is allocated after construction.
class WorkBatch {
 public:
  // Room for this many launches.
  explicit WorkBatch(std::size_t capacity) {
    launches_.reserve(capacity);
    slice_ends_.reserve(capacity);
  }

  void clear() {
    launches_.clear();
    slice_ends_.clear();
    timed_ = {};
    sliced_.reset();
  }
  // Whether there was room for it.
  bool add(Launch launch) {
    if (launches_.size() == launches_.capacity()) return false;
    launches_.push_back(launch);
    timed_.time += launch.time;
    return true;
  }
  // What has been added since the last slice ended is a slice.
  void end_slice() {
    const std::size_t begin = slice_ends_.empty() ? 0 : slice_ends_.back();
    if (launches_.size() > begin) slice_ends_.push_back(launches_.size());
  }

  std::size_t slices() const { return slice_ends_.size(); }
  std::span<const Launch> slice(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : slice_ends_[index - 1];
    return std::span(launches_).subspan(begin, slice_ends_[index] - begin);
  }
  std::span<const Launch> launches() const { return launches_; }
  TimedWork& timed() { return timed_; }
  const TimedWork& timed() const { return timed_; }
  void set_sliced(const SlicedLaunches& sliced) { sliced_ = sliced; }
  const std::optional<SlicedLaunches>& sliced() const { return sliced_; }
  // Whose work it is, and whether some of it has been launched already, since its segment began. Kept by clear().
  void set_place(const JobPlace& place, bool has_begun) {
    place_ = place;
    has_begun_ = has_begun;
  }
  const JobPlace& place() const { return place_; }
  bool has_begun() const { return has_begun_; }

 private:
  std::vector<Launch> launches_;
  std::vector<std::size_t> slice_ends_;
  TimedWork timed_;
  std::optional<SlicedLaunches> sliced_;
  JobPlace place_;
  bool has_begun_ = false;
};

}  // namespace rtgpu
