#include "tests/runtime/read_chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace rtgpu::testing {
namespace {

using nlohmann::json;

// Microseconds with three decimals: a double tells them apart up to some 10^15 ns.
Duration time_of(const json& microseconds) {
  return Duration::nanoseconds(std::llround(microseconds.get<double>() * 1000));
}

JobState state_of(const std::string& name) {
  for (std::size_t state = 0; state < kJobStateCount; ++state) {
    if (to_string(static_cast<JobState>(state)) == name) return static_cast<JobState>(state);
  }
  throw std::runtime_error("unknown state " + name);
}

// Sorted, with neighbours that are alike made one: the file has them divided.
template <class Interval>
void join(std::vector<Interval>& intervals, auto lane, auto what) {
  const auto by_lane = [&](const Interval& each) { return std::tuple(lane(each), each.begin); };
  std::ranges::sort(intervals, std::ranges::less{}, by_lane);
  std::vector<Interval> joined;
  for (const Interval& each : intervals) {
    if (!joined.empty() && lane(joined.back()) == lane(each) && joined.back().end == each.begin &&
        what(joined.back()) == what(each)) {
      joined.back().end = each.end;
    } else {
      joined.push_back(each);
    }
  }
  std::ranges::sort(joined, std::ranges::less{},
                    [&](const Interval& each) { return std::tuple(each.begin, lane(each)); });
  intervals = joined;
}

class Reader {
 public:
  Schedule read(const json& trace) {
    for (const json& event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") {
        read_interval(event);
      } else if (event.at("name") == "release") {
        read_job(event.at("args"));
      }
    }
    schedule_.end = Duration::nanoseconds(trace.at("otherData").at("end_ns"));
    join(
        schedule_.tasks, [](const TaskInterval& each) { return each.task; },
        [](const TaskInterval& each) { return std::tuple(each.job, each.segment, each.state, each.boosted); });
    join(
        schedule_.cores, [](const CoreInterval& each) { return each.core; },
        [](const CoreInterval& each) { return each.task; });
    join(
        schedule_.copies, [](const CopyInterval& each) { return each.engine; },
        [](const CopyInterval& each) { return each.task; });
    return schedule_;
  }

 private:
  void read_interval(const json& event) {
    const Duration begin = time_of(event.at("ts"));
    const Duration end = begin + time_of(event.at("dur"));
    const json& args = event.at("args");
    const TaskIndex task = args.at("task");
    const std::string category = event.at("cat");
    if (category == "task") {
      schedule_.tasks.push_back({task, args.at("job"), args.at("segment"), state_of(args.at("job_state")),
                                 args.value("boosted", false), begin, end});
    } else if (category == "core") {
      schedule_.cores.push_back({args.at("core"), task, begin, end});
    } else if (category == "gpu") {
      schedule_.gpu.push_back({task, args.at("switching"), begin, end});
    } else if (category == "copy") {
      schedule_.copies.push_back({args.at("engine"), task, begin, end});
    }
  }

  void read_job(const json& args) {
    const auto time = [&args](const char* key) { return Duration::nanoseconds(args.at(key)); };
    schedule_.jobs.push_back({args.at("task"), args.at("job"), time("nominal_ns"), time("release_ns"),
                              args.contains("completion_ns") ? time("completion_ns") : Duration::infinite(),
                              args.at("missed")});
  }

  Schedule schedule_;
};

}  // namespace

Schedule read_chrome_trace(const std::string& text) {
  return Reader().read(json::parse(text));
}

}  // namespace rtgpu::testing
