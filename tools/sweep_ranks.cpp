#include "tools/sweep_ranks.h"

#include "analysis/experiments/sweep_state.h"
#include "analysis/judge.h"
#include "runtime/machine/cpu_set.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

// Between two looks for messages. MPI's own way to wait would keep a core busy.
constexpr auto kLookPause = 1ms;

// How long chunks that are handed out together should take: long beside a message, short beside the whole.
constexpr auto kShortWork = 100ms;
constexpr auto kLongWork = 400ms;

std::string range_text(ChunkRange range) {
  return fmt::format("{} {}", range.first, range.end);
}

ChunkRange range_in(std::string_view text) {
  ChunkRange range;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc() || first.ptr == end) throw std::logic_error("a message that is no range of chunks");
  const auto second = std::from_chars(first.ptr + 1, end, range.end);
  if (second.ec != std::errc() || second.ptr != end) throw std::logic_error("a message that is no range of chunks");
  return range;
}

// Counts chunks on other threads, so that this one can look for messages.
class ChunksInBackground {
 public:
  ChunksInBackground(const Sweep& sweep, int jobs) : sweep_(sweep), jobs_(jobs) {}
  // Waits for the chunks that are begun.
  ~ChunksInBackground() { stop(); }
  ChunksInBackground(const ChunksInBackground&) = delete;
  ChunksInBackground& operator=(const ChunksInBackground&) = delete;

  // Not while others are counted.
  void begin(ChunkRange range) {
    counts_ = std::async(std::launch::async, [this, range] {
      SweepCounts counts = sweep_.no_counts();
      RunChunksOptions options;
      options.jobs = jobs_;
      options.stop = &stop_;
      // An error is where chunks are missing.
      run_chunks(sweep_, ChunkSet(range.first, range.end), options, counts);
      return counts;
    });
  }

  // No chunk is begun any more.
  void stop() { stop_ = true; }
  // Whether there are counts that have not been got.
  bool is_busy() const { return counts_.valid(); }
  SweepCounts get() { return counts_.get(); }

  // Waits, but not longer than a pause. Passes on what counting has thrown.
  std::optional<SweepCounts> wait() {
    if (!is_busy()) {
      std::this_thread::sleep_for(kLookPause);
      return std::nullopt;
    }
    if (counts_.wait_for(kLookPause) != std::future_status::ready) return std::nullopt;
    return counts_.get();
  }

 private:
  const Sweep& sweep_;
  int jobs_;
  std::atomic<bool> stop_ = false;
  std::future<SweepCounts> counts_;  // its end waits for the thread
};

// One of the processes as the leader sees it.
struct CountingRank {
  bool waits = false;
  ChunkRange range = {};  // what it counts
  std::int64_t size = 1;  // of its next range
  std::chrono::steady_clock::time_point begun = {};
};

// One SweepLeader::count().
class LedCount {
 public:
  LedCount(Ranks& ranks, const Sweep& sweep, int jobs, const RunChunksOptions& options, SweepCounts& counts)
      : ranks_(ranks),
        sweep_(sweep),
        jobs_(jobs),
        options_(options),
        counts_(counts),
        before_(counts.done),
        own_(sweep, jobs),
        workers_(static_cast<std::size_t>(ranks.size())) {
    for (CountingRank& worker : workers_) worker.size = jobs_;
    workers_.front().waits = true;
  }

  Errors run(const std::function<void()>& stopping) {
    while (errors_.empty()) {
      if (options_.stop != nullptr && options_.stop->load()) {
        end_early(stopping);
        return {};
      }
      hand_out();
      if (is_done()) break;
      while (const std::optional<RankMessage> message = ranks_.receive()) take(*message);
      if (const std::optional<SweepCounts> counted = own_.wait()) add(0, *counted);
    }
    if (errors_.empty() && failed_) errors_ = errors_of(*failed_);
    return errors_;
  }

 private:
  // The next chunks that nobody has, at most so many; none after a failure: the first one counts, and all before it are
  // handed out.
  std::optional<ChunkRange> next(std::int64_t size) {
    if (failed_) return std::nullopt;
    ChunkRange range{next_, sweep_.chunks()};
    for (const ChunkRange& done : before_.ranges()) {
      if (done.end <= range.first) continue;
      if (done.first > range.first) {
        range.end = done.first;
        break;
      }
      range.first = done.end;
    }
    // Small ones in the end, so that all are done at about the same time.
    const std::int64_t left = sweep_.chunks() - range.first;
    size = std::min(size, left / (2 * static_cast<std::int64_t>(workers_.size())));
    range.end = std::min(range.end, range.first + std::max(size, std::int64_t{1}));
    if (range.first >= sweep_.chunks()) return std::nullopt;
    next_ = range.end;
    return range;
  }

  void end_early(const std::function<void()>& stopping) {
    if (stopping) stopping();
    own_.stop();
    if (own_.is_busy()) add_counts_of(0, own_.get());
  }

  void hand_out() {
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      CountingRank& worker = workers_[rank];
      if (!worker.waits) continue;
      const std::optional<ChunkRange> range = next(worker.size);
      if (!range) return;
      worker.waits = false;
      worker.range = *range;
      worker.begun = std::chrono::steady_clock::now();
      if (rank == 0) {
        own_.begin(*range);
      } else {
        ranks_.send(static_cast<int>(rank), range_text(*range));
      }
    }
  }

  // Nobody has chunks. A worker that has never been heard of has none either.
  bool is_done() const {
    return std::ranges::all_of(workers_, [](const CountingRank& worker) { return worker.range == ChunkRange(); });
  }

  void take(const RankMessage& message) {
    const Result<SweepCounts> counted = read_sweep_state(sweep_, message.text);
    if (counted) return add(message.from, *counted);
    errors_ = counted.errors();
    for (Error& error : errors_) error.place.source = fmt::format("process {}", message.from);
  }

  void add(int rank, const SweepCounts& counted) {
    CountingRank& worker = workers_[static_cast<std::size_t>(rank)];
    const std::int64_t done = counted.done.size();
    const std::int64_t wanted = worker.range.end - worker.range.first;
    if (done < wanted) {
      // Chunks are counted in order.
      const std::int64_t missing = worker.range.first + done;
      failed_ = std::min(failed_.value_or(missing), missing);
    }
    if (wanted > 0) fit(worker);
    worker.waits = true;
    worker.range = {};
    add_counts_of(rank, counted);
  }

  void add_counts_of(int rank, const SweepCounts& counted) {
    if (counted.done.size() == 0) return;
    if (sweep_.merge(counts_, counted)) throw std::logic_error(fmt::format("process {} counts chunks again", rank));
    if (options_.after_chunk) options_.after_chunk(counts_);
  }

  void fit(CountingRank& worker) const {
    const auto took = std::chrono::steady_clock::now() - worker.begun;
    if (took < kShortWork) worker.size = std::min(worker.size * 2, sweep_.chunks());
    // No thread of a process should be without a chunk.
    if (took > kLongWork) worker.size = std::max(worker.size / 2, std::int64_t{jobs_});
  }

  // Who could not count a chunk has not said why: it is the same here.
  Errors errors_of(std::int64_t chunk) const {
    Judge judge;
    const Result<PointCounts> counts = sweep_.count(sweep_.chunk(chunk), judge);
    if (counts) throw std::logic_error(fmt::format("one process has not counted chunk {}, another one can", chunk));
    return counts.errors();
  }

  Ranks& ranks_;
  const Sweep& sweep_;
  int jobs_;
  const RunChunksOptions& options_;
  SweepCounts& counts_;
  ChunkSet before_;  // done before anything was handed out
  std::int64_t next_ = 0;
  std::optional<std::int64_t> failed_;  // the first chunk that could not be counted
  Errors errors_;
  ChunksInBackground own_;
  std::vector<CountingRank> workers_;  // by rank
};

}  // namespace

int usual_jobs(const Ranks& ranks) {
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  // mpirun may have bound this process to some of them.
  const auto allowed = static_cast<int>(CpuSet::of_calling_thread().cpus().size());
  return std::max(std::min(cores / ranks.on_this_machine(), allowed), 1);
}

SweepLeader::SweepLeader(Ranks& ranks, const Sweep& sweep, int jobs) : ranks_(ranks), sweep_(sweep), jobs_(jobs) {}

SweepLeader::~SweepLeader() {
  for (int rank = 1; rank < ranks_.size(); ++rank) ranks_.send(rank, "");
  // A worker may have been sending its counts meanwhile, which have to be received for it to go on.
  for (int left = ranks_.size() - 1; left > 0;) {
    const std::optional<RankMessage> message = ranks_.receive();
    if (!message) {
      std::this_thread::sleep_for(kLookPause);
    } else if (message->text.empty()) {
      --left;
    }
  }
}

Errors SweepLeader::count(const RunChunksOptions& options, const std::function<void()>& stopping, SweepCounts& counts) {
  return LedCount(ranks_, sweep_, jobs_, options, counts).run(stopping);
}

bool work_for_leader(Ranks& ranks, const Sweep& sweep, int jobs, const std::atomic<bool>& stop) {
  {
    ChunksInBackground chunks(sweep, jobs);
    ranks.send(0, write_sweep_state(sweep, sweep.no_counts()));
    std::optional<std::chrono::steady_clock::time_point> last;  // to stay until
    while (true) {
      const auto now = std::chrono::steady_clock::now();
      if (stop && !last) {
        chunks.stop();
        last = now + kWorkerStays;
      }
      if (last && now > *last) return false;
      if (const std::optional<RankMessage> message = ranks.receive()) {
        if (message->text.empty()) break;
        if (!last) chunks.begin(range_in(message->text));
      }
      // Counts that are not of all the chunks would be an error to the leader.
      const std::optional<SweepCounts> counted = chunks.wait();
      if (counted && !last) ranks.send(0, write_sweep_state(sweep, *counted));
    }
  }
  ranks.send(0, "");
  return true;
}

}  // namespace rtgpu
