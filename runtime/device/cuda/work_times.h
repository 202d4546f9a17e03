// When the device began and ended what it was given, by its own clock, for the trace of a run.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "runtime/device/cuda/clock_correlation.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/event_pairs.h"
#include "runtime/device/cuda/handles.h"
#include "runtime/device/device_times.h"
#include "runtime/trace/event_ring.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace rtgpu::cuda {

// Events are recorded by whoever launches, read by the thread that attends to the device, and turned into times of the
// host when the run is over, since the references on both sides of them are known then. The context is current in all
// threads that call.
class WorkTimes {
 public:
  // `stream` is for the bursts of the clock alone; `now` is the host's clock. Errors (environment): no events can be
  // created.
  static Result<std::unique_ptr<WorkTimes>> create(const Driver& driver, HandleOf<CUstream> stream,
                                                   std::function<Duration()> now);
  ~WorkTimes();
  WorkTimes(const WorkTimes&) = delete;
  WorkTimes& operator=(const WorkTimes&) = delete;

  // For one more stream, or the copies of an engine. Set-up. Lives as long as this object. Null: see `result`.
  EventPairs* add(int engine, CUresult& result);
  // Set-up of a run: what was seen is forgotten, and a first reference taken.
  void restart();
  // Nothing is given back to the driver.
  void forget();

  // Reads what has ended. By the thread that attends. It neither waits nor allocates; while a reference is being put in
  // place, or there is none yet, it leaves what is there for later.
  void read();
  // Collects what was read, and takes a reference now and then. By one other thread, which may wait.
  void collect();
  void follow();

  // After a run. What was seen in it, in times of the host's clock less `start`.
  DeviceTimes take(const HostInterval& start);

 private:
  // What a pair of events says.
  struct Reading {
    JobPlace place;
    int engine = DeviceInterval::kNoEngine;
    DeviceTime begin;
    DeviceTime end;
  };

  WorkTimes(const Driver& driver, HandleOf<CUstream> stream, std::function<Duration()> now, DeviceClock clock);
  CUresult take_reference();
  void read(EventPairs& pairs);

  Driver driver_;
  HandleOf<CUstream> stream_;
  std::function<Duration()> now_;
  std::mutex clock_lock_;  // between read(), which never waits for it, and the placing of a reference
  DeviceClock clock_;
  Duration next_reference_;
  std::vector<std::unique_ptr<EventPairs>> pairs_;
  EventRing<Reading> readings_;
  std::vector<Reading> collected_;
  std::atomic<std::uint64_t> unreadable_ = 0;
  std::uint64_t dropped_before_ = 0;  // by the ring, in earlier runs
};

}  // namespace rtgpu::cuda
