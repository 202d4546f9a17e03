// What `rtgpu falsify` found, and its forms.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/policy.h"
#include "rtgpu/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// The schedule that came closest to a bound, or went furthest beyond.
struct FalsificationWorst {
  std::int64_t index = 0;  // of the taskset
  std::string task;
  Duration bound;
  Duration observed;
  std::string file;  // of the counterexample, if it is one
};

// One analysis.
struct FalsificationRow {
  Policy policy = Policy::gcaps;
  std::string_view wait;
  Variant variant = Variant::safe;
  std::int64_t tasksets = 0;     // that the analysis covers
  std::int64_t schedulable = 0;  // of these
  std::int64_t bounds = 0;       // attacked
  std::int64_t runs = 0;
  std::int64_t exceeded = 0;  // tasksets with a bound that was exceeded
  std::optional<FalsificationWorst> worst;

  // Keeps the worse one.
  void note(FalsificationWorst other);
};

struct FalsificationReport {
  std::string source;
  std::int64_t documents = 0;    // read or made
  std::int64_t tasksets = 0;     // attacked
  std::int64_t schedulable = 0;  // under at least one of the analyses
  std::vector<FalsificationRow> rows;

  std::int64_t exceeded() const;
  // The row that has the worst of all; null if no bound was attacked.
  const FalsificationRow* worst() const;
};

void append_table(std::string& out, const FalsificationReport& report);
void append_json(std::string& out, const FalsificationReport& report);

}  // namespace rtgpu
