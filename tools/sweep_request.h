// What `rtgpu sweep` is asked for.
#pragma once

#include "analysis/experiments/sweep.h"
#include "rtgpu/result.h"
#include "tools/analyze_request.h"
#include "tools/approach_choices.h"

#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line; what is empty was not given.
struct SweepArguments {
  std::string preset;
  std::string vary;                   // key=a:b:step
  std::vector<std::string> settings;  // key=value of the generator
  ApproachArguments approaches;
  std::string tasksets;
  std::string seed = "0";
  std::string jobs;
  std::string csv;
  bool resume = false;
  std::string plot;
  std::string format;
};

struct SweepRequest {
  std::string name;  // the preset as asked for
  Sweep sweep;
  int jobs = 0;     // 0: as many as there are cores
  std::string csv;  // empty: none is written
  bool resume = false;
  std::string plot;                // a .svg or .html file; empty: none is drawn
  std::optional<Format> format;    // table, json or csv; nothing: by where the output goes
  std::vector<std::string> notes;  // where the request could not be followed to the letter
};

// All errors of the options at once.
Result<SweepRequest> make_request(const SweepArguments& arguments);

}  // namespace rtgpu
