#include "analysis/rta/federated_published.h"

#include "analysis/multi_segment.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// The shortest times of a task: on its core before each device stage and after the last, and of the stages.
struct ShortestTimes {
  std::vector<Duration> host;
  std::vector<Duration> devices;
};

ShortestTimes shortest_times(const Task& task, bool best_cases) {
  ShortestTimes shortest;
  shortest.host.emplace_back();
  const auto best = [&](const ExecutionTime& time) { return best_cases ? time.min : Duration(); };
  for (const Segment& segment : task.segments) {
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
      shortest.host.back() += best(cpu->time);
      continue;
    }
    if (const auto* copy = std::get_if<CopySegment>(&segment)) {
      shortest.devices.push_back(best(copy->time));
    } else {
      const auto& gpu = std::get<GpuSegment>(segment);
      shortest.host.back() += best(gpu.misc);
      shortest.devices.push_back(best(*gpu.exec));
    }
    shortest.host.emplace_back();
  }
  return shortest;
}

// Where a recurrence of one window ended, and what each charged task adds to it.
struct ChargedWindow {
  Duration length;  // infinite above the cap or without budget
  std::vector<Duration> charged;
};

class FederatedPublished {
 public:
  FederatedPublished(const StagedModel& model, const Taskset& taskset, const AnalysisOptions& options,
                     WorkBudget& budget)
      : model_(model), taskset_(taskset), options_(options), budget_(budget) {
    const bool best_cases = gives_best_cases(taskset);
    for (const Task& task : taskset.tasks) shortest_.push_back(shortest_times(task, best_cases));
    copies_.resize(model.size());
    for (TaskIndex task = 0; task < model.size(); ++task) {
      for (int engine = 0; engine < kEngines; ++engine) copies_[task].push_back(copies_on(task, engine));
    }
    for (TaskIndex task = 0; task < model.size(); ++task) copy_responses_.push_back(responses_of_copies(task));
    for (TaskIndex task = 0; task < model.size(); ++task) on_core_.push_back(workload_on_core(task));
    results_.resize(model.size());
  }

  std::vector<TaskResult> run() {
    for (const TaskIndex task : model_.order().cpu_order()) bound(task);
    withdraw();
    std::vector<TaskResult> results;
    for (TaskIndex task = 0; task < model_.size(); ++task) {
      if (!model_.task(task).best_effort) results.push_back(std::move(results_[task]));
    }
    return results;
  }

 private:
  static constexpr int kEngines = 2;

  Duration wrap_of(TaskIndex task) const { return model_.task(task).period - model_.task(task).deadline; }
  Duration cap_of(TaskIndex task) const {
    const RtaTask& sums = model_.task(task);
    return (options_.beyond_deadline ? sums.period : sums.deadline) - sums.release_jitter;
  }
  Duration on_host(TaskIndex task, std::size_t stage) const {
    const StagedTask& staged = model_.staged(task);
    return staged.host[stage] + (stage < staged.devices.size() ? staged.devices[stage].misc : Duration());
  }

  // --- workloads

  MultiSegmentWorkload copies_on(TaskIndex task, int engine) const {
    const StagedTask& staged = model_.staged(task);
    const ShortestTimes& shortest = shortest_[task];
    std::vector<SeparatedSegment> copies;
    Duration wrap = wrap_of(task);  // with what is before the first and after the last
    for (std::size_t stage = 0; stage < staged.devices.size(); ++stage) {
      const auto count = [&](Duration time) { (copies.empty() ? wrap : copies.back().separation) += time; };
      count(shortest.host[stage]);
      if (staged.devices[stage].is_copy && staged.devices[stage].copy_engine == engine) {
        copies.push_back({staged.devices[stage].work, {}});
      } else {
        count(shortest.devices[stage]);
      }
    }
    if (!copies.empty()) wrap += std::exchange(copies.back().separation, Duration()) + shortest.host.back();
    return {std::move(copies), model_.task(task).period, wrap};
  }

  MultiSegmentWorkload workload_on_core(TaskIndex task) const {
    const StagedTask& staged = model_.staged(task);
    std::vector<SeparatedSegment> segments;
    for (std::size_t stage = 0; stage <= staged.devices.size(); ++stage) {
      const bool has_device = stage < staged.devices.size();
      segments.push_back({on_host(task, stage), has_device ? shortest_[task].devices[stage] : Duration()});
    }
    if (staged.busy) segments.assign(1, {work_on_core(task) + work_on_devices(task), {}});
    return {std::move(segments), model_.task(task).period, wrap_of(task)};
  }

  Duration work_on_core(TaskIndex task) const { return model_.staged(task).cpu_total + model_.staged(task).misc_total; }
  // Sum of GR and MR.
  Duration work_on_devices(TaskIndex task) const {
    Duration sum = model_.staged(task).gpu_total;
    for (const ChargedWindow& copy : copy_responses_[task]) sum += copy.length;
    return sum;
  }

  // --- recurrences

  // The least fixed point of constants and the workloads of others. Where the work of one of them goes on for sure, the
  // right side rises at least as fast as the window, and no fixed point lies before its end.
  ChargedWindow solve(Duration constants, const std::vector<const MultiSegmentWorkload*>& others, Duration cap) const {
    ChargedWindow window;
    Duration length = constants;
    while (length <= cap && budget_.evaluations > 0) {
      window.charged.clear();
      Duration sum = constants;
      Duration until;
      --budget_.evaluations;
      for (const MultiSegmentWorkload* other : others) {
        const auto most = other->most_in(length);
        budget_.evaluations -= other->steps();
        window.charged.push_back(most.work);
        sum += most.work;
        until = std::max(until, most.until);
      }
      if (sum <= length) {
        window.length = length;
        return window;
      }
      length = std::max(sum, until);
    }
    window.length = Duration::infinite();
    return window;
  }

  std::vector<TaskIndex> above_on_gpu(TaskIndex task) const {
    std::vector<TaskIndex> above;
    if (!has_copies(task) || budget_.evaluations <= 0) return above;
    budget_.evaluations -= static_cast<std::int64_t>(model_.size());
    for (TaskIndex other = 0; other < model_.size(); ++other) {
      if (other != task && model_.is_higher_on_gpu(other, task)) above.push_back(other);
    }
    return above;
  }

  bool has_copies(TaskIndex task) const {
    const StagedTask& staged = model_.staged(task);
    return std::ssize(staged.devices) > staged.gpu_stages;
  }

  Duration longest_copy_below(TaskIndex task, int engine) const {
    Duration longest;
    for (TaskIndex other = 0; other < model_.size(); ++other) {
      if (other == task || model_.is_higher_on_gpu(other, task)) continue;
      for (const DeviceStage& device : model_.staged(other).devices) {
        if (device.is_copy && device.copy_engine == engine) longest = std::max(longest, device.work);
      }
    }
    return longest;
  }

  // MR, by copy.
  std::vector<ChargedWindow> responses_of_copies(TaskIndex task) const {
    std::vector<ChargedWindow> responses;
    const std::vector<TaskIndex> above = above_on_gpu(task);
    for (const DeviceStage& device : model_.staged(task).devices) {
      if (!device.is_copy) continue;
      std::vector<const MultiSegmentWorkload*> workloads;
      for (const TaskIndex other : above) {
        workloads.push_back(&copies_[other][static_cast<std::size_t>(device.copy_engine)]);
      }
      responses.push_back(solve(device.work + longest_copy_below(task, device.copy_engine), workloads, cap_of(task)));
    }
    return responses;
  }

  // R1 or R2, whichever is smaller: sum GR + sum MR + what the core takes.
  ChargedWindow response(TaskIndex task, const std::vector<const MultiSegmentWorkload*>& above) const {
    const Duration devices = work_on_devices(task);
    ChargedWindow whole = solve(devices + work_on_core(task), above, cap_of(task));
    ChargedWindow by_segment{devices, std::vector<Duration>(above.size())};
    for (std::size_t stage = 0; stage <= model_.staged(task).devices.size(); ++stage) {
      const ChargedWindow segment = solve(on_host(task, stage), above, cap_of(task));
      by_segment.length += segment.length;
      if (by_segment.length > cap_of(task)) return whole;
      for (std::size_t other = 0; other < above.size(); ++other) by_segment.charged[other] += segment.charged[other];
    }
    return by_segment.length < whole.length ? by_segment : whole;
  }

  void bound(TaskIndex task) {
    TaskResult& result = results_[task];
    result.task = task;
    std::vector<const MultiSegmentWorkload*> above;
    for (const TaskIndex h : model_.higher_on_core(task)) above.push_back(&on_core_[h]);
    const ChargedWindow window = response(task, above);
    if (budget_.evaluations <= 0) {
      result.outcome = Outcome::limit_reached;
      result.reason = fmt::format("stopped after {} evaluations of a charge", kMaxChargeEvaluations);
      return;
    }
    const RtaTask& sums = model_.task(task);
    if (window.length > cap_of(task)) {
      result.outcome = Outcome::not_schedulable;
      result.reason = fmt::format("the recurrence passes the {}, {}", options_.beyond_deadline ? "period" : "deadline",
                                  to_string(cap_of(task) + sums.release_jitter));
      return;
    }
    result.bound = window.length + sums.release_jitter;
    result.outcome = *result.bound <= sums.deadline ? Outcome::bound : Outcome::not_schedulable;
    if (!result.schedulable()) {
      result.reason = fmt::format("the bound is past the deadline, {}", to_string(sums.deadline));
    }
    fill_terms(task, window, result);
  }

  void add(TaskResult& result, Term term, TaskIndex whose, Duration amount) const {
    result.terms[static_cast<std::size_t>(term)] += amount;
    if (options_.explain && amount != Duration()) result.contributions.push_back({term, whose, 1, amount});
  }

  void fill_terms(TaskIndex task, const ChargedWindow& window, TaskResult& result) const {
    const StagedTask& staged = model_.staged(task);
    Duration launches;
    Duration own = work_on_core(task) + staged.gpu_total + model_.task(task).release_jitter;
    const std::vector<TaskIndex> above = above_on_gpu(task);
    std::size_t copy = 0;
    for (const DeviceStage& device : staged.devices) {
      launches += device.launches;
      if (!device.is_copy) continue;
      const ChargedWindow& wait = copy_responses_[task][copy++];
      own += device.work;
      add(result, Term::copy, kNoTask, longest_copy_below(task, device.copy_engine));
      for (std::size_t other = 0; other < above.size(); ++other) {
        add(result, Term::copy, above[other], wait.charged[other]);
      }
    }
    add(result, Term::own, task, own - launches);
    add(result, Term::overhead, task, launches);
    const auto higher = model_.higher_on_core(task);
    for (std::size_t place = 0; place < higher.size(); ++place) {
      add(result, Term::cpu_preemption, higher[place], window.charged[place]);
    }
  }

  // --- deadlines that were taken on trust

  std::optional<TaskIndex> broken_trust(TaskIndex task) const {
    for (const TaskIndex h : model_.higher_on_core(task)) {
      if (!results_[h].schedulable()) return h;
    }
    for (const TaskIndex h : above_on_gpu(task)) {
      if (has_copies(h) && !results_[h].schedulable()) return h;
    }
    return std::nullopt;
  }

  void withdraw() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const TaskIndex task : model_.order().cpu_order()) {
        if (!results_[task].bound) continue;
        const auto broken = broken_trust(task);
        if (!broken) continue;
        results_[task] = TaskResult{};
        results_[task].task = task;
        results_[task].outcome = Outcome::unknown;
        results_[task].reason =
            fmt::format("depends on the response time of {}, which has no bound at or below its deadline",
                        taskset_.tasks[*broken].name);
        changed = true;
      }
    }
  }

  const StagedModel& model_;
  const Taskset& taskset_;
  const AnalysisOptions& options_;
  WorkBudget& budget_;
  std::vector<ShortestTimes> shortest_;                     // by task
  std::vector<std::vector<MultiSegmentWorkload>> copies_;   // by task and engine
  std::vector<std::vector<ChargedWindow>> copy_responses_;  // by task and copy
  std::vector<MultiSegmentWorkload> on_core_;               // by task
  std::vector<TaskResult> results_;                         // by task
};

}  // namespace

std::vector<TaskResult> bound_federated_published(const StagedModel& model, const Taskset& taskset,
                                                  const AnalysisOptions& options, WorkBudget& budget) {
  return FederatedPublished(model, taskset, options, budget).run();
}

}  // namespace rtgpu
