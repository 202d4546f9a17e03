#include "analysis/search/cores.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

constexpr std::int64_t kMaxExhaustiveMappings = 1024;
constexpr std::int64_t kFullCore = 1'000'000'000'000;  // utilisations are in 10^-12, rounded up

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

Duration time_on_core(const Segment& segment, bool busy, std::optional<int> sms) {
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) return cpu->time.max;
  if (const auto* copy = std::get_if<CopySegment>(&segment)) return busy ? copy->time.max : Duration();
  const auto& gpu = std::get<GpuSegment>(segment);
  return gpu.misc.max + (busy ? whole_gpu_exec(gpu, sms).value_or(Duration()) : Duration());
}

std::int64_t core_utilisation(const Task& task, WaitChoice wait, std::optional<int> sms) {
  const bool busy = wait == WaitChoice::busy || (wait == WaitChoice::file && task.wait == WaitMode::busy);
  Duration sum;
  for (const Segment& segment : task.segments) sum += time_on_core(segment, busy, sms);
  const Int128 parts = (Int128{sum.count()} * kFullCore + task.period.count() - 1) / task.period.count();
  return static_cast<std::int64_t>(std::min<Int128>(parts, Int128{2} * kFullCore));
}

class Bins {
 public:
  Bins(std::size_t cores, Fit fit) : load_(cores), fit_(fit) {}

  std::size_t place(std::int64_t utilisation) {
    std::size_t chosen = static_cast<std::size_t>(std::ranges::min_element(load_) - load_.begin());
    if (fit_ != Fit::worst) {
      bool fits = false;
      for (std::size_t core = 0; core < load_.size(); ++core) {
        if (load_[core] + utilisation > kFullCore) continue;
        if (!fits || (fit_ == Fit::best && load_[core] > load_[chosen])) chosen = core;
        fits = true;
        if (fit_ == Fit::first) break;
      }
    }
    load_[chosen] += utilisation;
    return chosen;
  }

 private:
  std::vector<std::int64_t> load_;
  Fit fit_;
};

// Gives each bin in turn the core that most of its tasks come from, if that is free; then the first free one.
std::vector<int> number_bins(const Taskset& taskset, const std::vector<TaskIndex>& tasks,
                             const std::vector<std::size_t>& bin_of, std::size_t bins) {
  std::vector<std::map<int, int>> from(bins);  // by bin: how many tasks come from which core
  for (const TaskIndex task : tasks) ++from[bin_of[task]][taskset.tasks[task].cpu];
  std::vector<int> core_of(bins, -1);
  std::vector<char> taken(static_cast<std::size_t>(taskset.platform.cpus));
  for (std::size_t bin = 0; bin < bins; ++bin) {
    int most = 0;
    for (const auto& [core, count] : from[bin]) {
      if (taken[static_cast<std::size_t>(core)] != 0 || count <= most) continue;
      core_of[bin] = core;
      most = count;
    }
    if (most > 0) taken[static_cast<std::size_t>(core_of[bin])] = 1;
  }
  std::size_t free = 0;
  for (int& core : core_of) {
    if (core >= 0) continue;
    while (taken[free] != 0) ++free;
    taken[free] = 1;
    core = static_cast<int>(free);
  }
  return core_of;
}

std::vector<TaskIndex> real_time_tasks(const Taskset& taskset) {
  std::vector<TaskIndex> tasks;
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (!taskset.tasks[task].best_effort) tasks.push_back(task);
  }
  return tasks;
}

class CoreSearch {
 public:
  CoreSearch(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work)
      : file_(taskset), options_(options), work_(work), tasks_(real_time_tasks(taskset)) {}

  SearchedTaskset run() {
    SearchedTaskset searched;
    searched.taskset = file_;
    const std::optional<Candidate> given = try_taskset(file_, options_, work_);
    if (!given) return searched;
    nearest_ = *given;
    if (given->passes()) {
      searched.outcome = SearchOutcome::not_needed;
      searched.exact = true;
    } else {
      searched.exact = look();
      searched.outcome = found_                  ? SearchOutcome::found
                         : work_.is_incomplete() ? SearchOutcome::limit_reached
                                                 : SearchOutcome::none;
    }
    const Candidate& result = found_ ? *found_ : nearest_;
    searched.taskset = result.taskset;
    searched.shortfall = result.shortfall;
    return searched;
  }

 private:
  // Whether the result is exact.
  bool look() {
    if (file_.platform.cpus == 1) return true;
    if (ways() <= kMaxExhaustiveMappings) return look_everywhere();
    const Candidate given = nearest_;
    climb(given);
    // Moves of one task come first: what one of them found cannot be better.
    if (found_ && changes(*found_) == 1) return true;
    for (const Fit fit : {Fit::worst, Fit::best, Fit::first}) {
      Taskset fitted = file_;
      const std::vector<int> cores = fit_decreasing(file_, options_.wait, fit);
      for (const TaskIndex task : tasks_) fitted.tasks[task].cpu = cores[task];
      if (const std::optional<Candidate> start = attempt(fitted)) climb(*start);
    }
    return false;
  }

  // In how many ways the tasks can be put on cores, or more than kMaxExhaustiveMappings.
  std::int64_t ways() const {
    std::int64_t ways = 1;
    for (std::size_t task = 0; task < tasks_.size() && ways <= kMaxExhaustiveMappings; ++task) {
      ways *= file_.platform.cpus;
    }
    return ways;
  }

  bool look_everywhere() {
    for (std::size_t changed = 1; changed <= tasks_.size() && !found_; ++changed) {
      Taskset mapped = file_;
      change_from(mapped, 0, changed);
      if (work_.ended()) return false;
    }
    return !work_.is_incomplete();
  }

  // All ways to put `changed` tasks from place `from` on on other cores. The best of those that pass is kept.
  void change_from(Taskset& mapped, std::size_t from, std::size_t changed) {
    if (changed == 0) {
      if (const auto candidate = attempt(mapped)) keep(*candidate);
      return;
    }
    for (std::size_t place = from; place + changed <= tasks_.size() && !work_.ended(); ++place) {
      Task& task = mapped.tasks[tasks_[place]];
      const int before = task.cpu;
      for (int core = 0; core < file_.platform.cpus; ++core) {
        if (core == before) continue;
        task.cpu = core;
        change_from(mapped, place + 1, changed - 1);
      }
      task.cpu = before;
    }
  }

  // Goes on with the best neighbour while that is nearer to passing.
  void climb(Candidate at) {
    if (at.passes()) return keep(move_back(std::move(at)));
    for (;;) {
      std::optional<Candidate> next = best_neighbour(at);
      if (!next || !(next->shortfall < at.shortfall)) return;
      at = *std::move(next);
      if (!at.passes()) continue;
      return keep(move_back(std::move(at)));
    }
  }

  std::optional<Candidate> best_neighbour(const Candidate& at) {
    std::optional<Candidate> best;
    const auto consider = [&](const Taskset& mapped) {
      std::optional<Candidate> candidate = attempt(mapped);
      if (candidate && (!best || candidate->shortfall < best->shortfall)) best = std::move(candidate);
    };
    Taskset mapped = at.taskset;
    for (const TaskIndex task : tasks_) {
      if (work_.ended()) return best;
      const int before = mapped.tasks[task].cpu;
      for (const int core : worth_trying(at.taskset, before)) {
        mapped.tasks[task].cpu = core;
        consider(mapped);
      }
      mapped.tasks[task].cpu = before;
    }
    if (best && best->shortfall < at.shortfall) return best;
    exchange_two(mapped, consider);
    return best;
  }

  void exchange_two(Taskset& mapped, const auto& consider) {
    for (std::size_t a = 0; a < tasks_.size(); ++a) {
      for (std::size_t b = a + 1; b < tasks_.size() && !work_.ended(); ++b) {
        int& first = mapped.tasks[tasks_[a]].cpu;
        int& second = mapped.tasks[tasks_[b]].cpu;
        if (first == second) continue;
        std::swap(first, second);
        consider(mapped);
        std::swap(first, second);
      }
    }
  }

  // The other cores; of those without tasks the first alone, for they are alike.
  std::vector<int> worth_trying(const Taskset& mapped, int but) const {
    std::vector<char> used(static_cast<std::size_t>(mapped.platform.cpus));
    for (const Task& task : mapped.tasks) used[static_cast<std::size_t>(task.cpu)] = 1;
    std::vector<int> cores;
    bool any_empty = false;
    for (int core = 0; core < mapped.platform.cpus; ++core) {
      const bool empty = used[static_cast<std::size_t>(core)] == 0;
      if (core == but || (empty && any_empty)) continue;
      any_empty = any_empty || empty;
      cores.push_back(core);
    }
    return cores;
  }

  Candidate move_back(Candidate found) {
    for (const TaskIndex task : tasks_) {
      if (found.taskset.tasks[task].cpu == file_.tasks[task].cpu) continue;
      Taskset back = found.taskset;
      back.tasks[task].cpu = file_.tasks[task].cpu;
      std::optional<Candidate> candidate = attempt(back);
      if (candidate && candidate->passes()) found = *std::move(candidate);
    }
    return found;
  }

  std::optional<Candidate> attempt(const Taskset& mapped) {
    std::optional<Candidate> candidate = try_taskset(mapped, options_, work_);
    if (candidate && candidate->shortfall < nearest_.shortfall) nearest_ = *candidate;
    return candidate;
  }

  std::size_t changes(const Candidate& candidate) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        tasks_, [&](TaskIndex task) { return candidate.taskset.tasks[task].cpu != file_.tasks[task].cpu; }));
  }

  // The fewest changes, then the largest slack.
  void keep(const Candidate& candidate) {
    if (!candidate.passes()) return;
    const auto rank = [&](const Candidate& each) { return std::pair(changes(each), each.shortfall.worst); };
    if (!found_ || rank(candidate) < rank(*found_)) found_ = candidate;
  }

  const Taskset& file_;
  const AnalysisOptions& options_;
  SearchWork& work_;
  std::vector<TaskIndex> tasks_;  // real-time
  Candidate nearest_;
  std::optional<Candidate> found_;
};

}  // namespace

std::vector<int> fit_decreasing(const Taskset& taskset, WaitChoice wait, Fit fit) {
  std::vector<TaskIndex> tasks = real_time_tasks(taskset);
  std::vector<std::int64_t> utilisation(taskset.tasks.size());
  const std::optional<int> sms = taskset.platform.gpus.front().sms;
  for (const TaskIndex task : tasks) utilisation[task] = core_utilisation(taskset.tasks[task], wait, sms);
  std::vector<TaskIndex> order = tasks;
  std::ranges::stable_sort(order, [&](TaskIndex a, TaskIndex b) { return utilisation[a] > utilisation[b]; });

  // More are never used.
  const std::size_t bin_count = std::min(static_cast<std::size_t>(taskset.platform.cpus), tasks.size());
  Bins bins(bin_count, fit);
  std::vector<std::size_t> bin_of(taskset.tasks.size());
  for (const TaskIndex task : order) bin_of[task] = bins.place(utilisation[task]);
  const std::vector<int> core_of = number_bins(taskset, tasks, bin_of, bin_count);
  std::vector<int> cores;
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    cores.push_back(taskset.tasks[task].best_effort ? taskset.tasks[task].cpu : core_of[bin_of[task]]);
  }
  return cores;
}

SearchedTaskset find_cores(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work) {
  return CoreSearch(taskset, options, work).run();
}

}  // namespace rtgpu
