// An experiment: how many of random tasksets are schedulable under each of several approaches, over a parameter of
// their generator.
//
// All approaches judge the same tasksets. The taskset `index` of a point is the one that the generator gives for that
// seed and index with the parameters of the point, so it can be made again alone:
//   rtgpu generate --preset PRESET --set PARAMETER=VALUE --seed SEED --first INDEX
// Points have the same seed on purpose: what differs between them is the parameter, and a point gives the same counts
// whatever other points there are.
//
// The work is divided into chunks: some tasksets of one point each, numbered from 0. Counts are sums over chunks, so
// they do not depend on the order of the chunks, on who counts them, or on their size.
#pragma once

#include "analysis/experiments/approach.h"
#include "analysis/experiments/chunk_set.h"
#include "analysis/judge.h"
#include "rtgpu/error.h"
#include "rtgpu/result.h"
#include "taskset/generators/preset.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

inline constexpr std::int64_t kMaxTasksetsPerPoint = 1'000'000'000;
inline constexpr std::size_t kMaxPoints = 10'000;

struct SweepExperiment {
  std::string preset = "gcaps-table3";     // a generator, see Preset::names()
  std::vector<std::string> settings = {};  // "key=value" of its other parameters, in the order they are set in
  std::string parameter;                   // the key that is varied
  std::vector<std::string> values;         // of it, as Preset::set() takes them; a point each
  std::int64_t tasksets = 1'000;           // a point; 1 ... kMaxTasksetsPerPoint
  std::uint64_t seed = 0;
  std::vector<Approach> approaches;
  std::int64_t chunk_size = 10;  // tasksets; at least 1; of no consequence for the counts
  friend bool operator==(const SweepExperiment&, const SweepExperiment&) = default;
};

struct ApproachCounts {
  std::int64_t schedulable = 0;
  std::int64_t not_covered = 0;  // tasksets that the analysis does not cover; not schedulable either
  friend bool operator==(const ApproachCounts&, const ApproachCounts&) = default;
};

struct PointCounts {
  std::int64_t tasksets = 0;               // judged so far
  std::vector<ApproachCounts> approaches;  // in the order of the experiment
  friend bool operator==(const PointCounts&, const PointCounts&) = default;
};

// What has been counted of an experiment; the size does not depend on the number of tasksets.
struct SweepCounts {
  std::vector<PointCounts> points;  // in the order of the values
  ChunkSet done;                    // whose tasksets the points count
  friend bool operator==(const SweepCounts&, const SweepCounts&) = default;

  std::int64_t tasksets() const;  // of all points
};

// The experiment with its counts: what tables and charts show.
struct SweepResult {
  SweepExperiment experiment;
  std::vector<PointCounts> points;

  bool complete() const;  // every point has all of its tasksets
};

// Some tasksets of a point.
struct SweepChunk {
  std::size_t point = 0;
  std::int64_t first = 0;  // index
  std::int64_t count = 0;
};

// An experiment that has been checked. A value; use from several threads is safe.
class Sweep {
 public:
  // All that is wrong with the experiment, with its member as the source of the place: an unknown preset or key, a
  // value that it does not take, parameters that contradict each other at a point, an approach that has no analysis or
  // is there twice, a number out of its range.
  static Result<Sweep> of(SweepExperiment experiment);

  const SweepExperiment& experiment() const { return experiment_; }
  std::int64_t chunks() const;                  // 0 ... chunks() - 1, point by point
  SweepChunk chunk(std::int64_t number) const;  // 0 <= number < chunks()
  std::int64_t tasksets_of(const ChunkSet& chunks) const;

  // The taskset of a point, 0 <= index < tasksets. Errors: see Preset::generate().
  Result<Taskset> taskset(std::size_t point, std::int64_t index) const;

  // Judges the tasksets of one chunk, on this thread. Errors: a taskset that cannot be made. The counts do not depend
  // on what the judge has seen before.
  Result<PointCounts> count(const SweepChunk& chunk, Judge& judge) const;

  // Nothing counted yet.
  SweepCounts no_counts() const;
  // Adds what count() gave for the chunk of that number, which is not done yet.
  void add(SweepCounts& counts, std::int64_t number, const PointCounts& of_chunk) const;
  // Adds what was counted elsewhere, by another process for instance. An error (conflict), and no change, if both have
  // counted the same chunk.
  std::optional<Error> merge(SweepCounts& counts, const SweepCounts& others) const;

 private:
  Sweep(SweepExperiment experiment, std::vector<Preset> points);

  std::int64_t chunks_per_point() const;

  SweepExperiment experiment_;
  std::vector<Preset> points_;  // the generator with the parameters of each
};

}  // namespace rtgpu
