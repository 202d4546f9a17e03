// What `rtgpu run` is asked for.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "runtime/machine/realtime.h"
#include "tools/analyze_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line; what is empty was not given.
struct RunArguments {
  std::string file;
  std::vector<std::string> policies;
  std::string device = "host";
  std::string duration = "10s";
  std::string wait = "file";
  std::string releases = "periodic";
  std::string execution = "worst";
  std::string seed = "0";
  std::string trial = "0";
  std::string scheduler = "fifo";
  std::string trace;
  std::string report;
  std::string format;
  bool check_bounds = false;
  bool share_cores = false;
  bool allow_degraded = false;
  bool no_memory_lock = false;
  bool virtual_time = false;
};

// As in the library; it asks nothing of a driver that it does not offer.
inline constexpr Policy kDefaultRunPolicy = Policy::mpcp;

struct RunRequest {
  Policy policy = kDefaultRunPolicy;
  std::string device;
  Duration duration;
  WaitChoice wait = WaitChoice::file;
  TrialChoices choices;
  std::uint64_t trial = 0;
  RealtimeOptions realtime;
  bool check_bounds = false;
  bool virtual_time = false;
  std::string trace;  // empty: none
  std::optional<Format> format;

  // The option by which tasks do not run as the analysis assumes, so that there are no bounds; empty: they do.
  std::string_view without_bounds() const;
};

// All errors of the options at once.
Result<RunRequest> make_request(const RunArguments& arguments);

}  // namespace rtgpu
