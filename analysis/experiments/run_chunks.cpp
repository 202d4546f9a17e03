#include "analysis/experiments/run_chunks.h"

#include "analysis/judge.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#include <utility>

namespace rtgpu {
namespace {

// The chunks of one set that are not in another, in order.
class RemainingChunks {
 public:
  RemainingChunks(ChunkSet which, ChunkSet done) : which_(std::move(which)), done_(std::move(done)) {}

  std::optional<std::int64_t> next() {
    for (; range_ < which_.ranges().size(); ++range_) {
      const ChunkRange& range = which_.ranges()[range_];
      number_ = std::max(number_, range.first);
      while (number_ < range.end && done_.contains(number_)) ++number_;
      if (number_ < range.end) return number_++;
    }
    return std::nullopt;
  }

 private:
  ChunkSet which_;
  ChunkSet done_;
  std::size_t range_ = 0;
  std::int64_t number_ = 0;
};

struct CountedChunk {
  std::int64_t number = 0;
  Result<PointCounts> counts = PointCounts();
  std::exception_ptr thrown = {};
};

// Chunks begun but not yet added, for each thread: enough that none waits for a slow one.
constexpr std::size_t kChunksPerThread = 4;

// Chunk numbers one by one, counted on several threads, added one by one. No exception gets to the pipeline itself,
// which would leave behind the chunks that are on their way.
class Pipeline {
 public:
  Pipeline(const Sweep& sweep, const ChunkSet& which, const RunChunksOptions& options, SweepCounts& counts)
      : sweep_(sweep), options_(options), counts_(counts), remaining_(which, counts.done) {}

  Errors run(std::size_t threads) {
    tbb::parallel_pipeline(
        threads * kChunksPerThread,
        tbb::make_filter<void, std::int64_t>(tbb::filter_mode::serial_in_order, [this](tbb::flow_control& control) {
          return begin(control);
        }) & tbb::make_filter<std::int64_t, CountedChunk>(tbb::filter_mode::parallel, [this](std::int64_t number) {
          return count(number);
        }) & tbb::make_filter<CountedChunk, void>(tbb::filter_mode::serial_in_order, [this](const CountedChunk& chunk) {
          end(chunk);
        }));
    if (thrown_) std::rethrow_exception(thrown_);
    return errors_;
  }

 private:
  CountedChunk count(std::int64_t number) {
    try {
      return {number, sweep_.count(sweep_.chunk(number), judges_.local()), {}};
    } catch (...) {
      return {number, PointCounts(), std::current_exception()};
    }
  }

  std::int64_t begin(tbb::flow_control& control) {
    const bool stopped = failed_ || (options_.stop != nullptr && options_.stop->load());
    const std::optional<std::int64_t> number = stopped ? std::nullopt : remaining_.next();
    if (!number) control.stop();
    return number.value_or(0);
  }

  // In the order of their numbers, so that the first error is the same whatever the number of threads.
  void end(const CountedChunk& chunk) {
    if (failed_) return;
    try {
      add(chunk);
    } catch (...) {
      thrown_ = std::current_exception();
      failed_ = true;
    }
  }

  void add(const CountedChunk& chunk) {
    if (chunk.thrown) std::rethrow_exception(chunk.thrown);
    if (!chunk.counts) {
      errors_ = chunk.counts.errors();
      failed_ = true;
      return;
    }
    sweep_.add(counts_, chunk.number, *chunk.counts);
    if (options_.after_chunk) options_.after_chunk(counts_);
  }

  const Sweep& sweep_;
  const RunChunksOptions& options_;
  SweepCounts& counts_;
  RemainingChunks remaining_;
  tbb::enumerable_thread_specific<Judge> judges_;
  Errors errors_;
  std::exception_ptr thrown_;
  std::atomic<bool> failed_ = false;  // set at one end of the pipeline, read at the other
};

}  // namespace

Errors run_chunks(const Sweep& sweep, const ChunkSet& which, const RunChunksOptions& options, SweepCounts& counts) {
  const int threads = options.jobs > 0 ? options.jobs : tbb::info::default_concurrency();
  // More threads than there are cores, if that is what is asked for.
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  return arena.execute([&] { return Pipeline(sweep, which, options, counts).run(static_cast<std::size_t>(threads)); });
}

}  // namespace rtgpu
