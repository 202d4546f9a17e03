// The published recurrences of mpcp and fmlp+, with every critical section written out, request by request.
#include "tests/analysis/naive_reference.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

namespace rtgpu::testing {
namespace {

struct LockTask {
  std::string name;
  std::int64_t t = 0, d = 0, j = 0, c = 0, gm = 0, g = 0;
  int priority = 0, cpu = 0;
  bool best_effort = false;
  std::vector<std::int64_t> miscs = {};
  std::vector<std::int64_t> sections = {};

  std::int64_t requests() const { return std::ssize(sections); }
};

std::vector<LockTask> lock_tasks(const Taskset& taskset) {
  const Overheads& overheads = taskset.platform.gpus[0].overheads;
  std::vector<LockTask> all;
  for (const Task& task : taskset.tasks) {
    LockTask lock{task.name, task.period.count(), task.deadline.count(), task.jitter.count()};
    lock.priority = task.best_effort ? -1 : task.priority;
    lock.cpu = task.cpu;
    lock.best_effort = task.best_effort;
    for (const Segment& segment : task.segments) {
      if (const auto* cpu = std::get_if<CpuSegment>(&segment)) lock.c += cpu->time.max.count();
      const auto* gpu = std::get_if<GpuSegment>(&segment);
      if (gpu == nullptr) continue;
      const std::int64_t misc = overheads.lock.count() + gpu->misc.max.count();
      const std::int64_t exec = gpu->exec->max.count() + (gpu->slices - 1) * overheads.launch.count();
      lock.miscs.push_back(misc);
      lock.sections.push_back(misc + exec);
      lock.gm += misc;
      lock.g += misc + exec;
    }
    all.push_back(lock);
  }
  std::ranges::sort(all, std::greater<>(), &LockTask::priority);
  return all;
}

std::int64_t count_of(std::int64_t window, std::int64_t jitter, std::int64_t t) {
  return (window + jitter + t - 1) / t;
}

// The sum of the `count` longest.
std::int64_t longest(std::vector<std::int64_t> lengths, std::int64_t count) {
  std::ranges::sort(lengths, std::greater<>());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < lengths.size() && std::cmp_less(i, count); ++i) sum += lengths[i];
  return sum;
}

void append(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& lengths, std::int64_t copies) {
  for (; copies > 0; --copies) to.insert(to.end(), lengths.begin(), lengths.end());
}

// What is known when the blocking of a task is computed.
struct LockView {
  const std::vector<LockTask>& tasks;
  const LockTask& i;
  std::function<std::int64_t(const LockTask&)> response;  // R_h or D_h
};
using Blocking = std::function<std::int64_t(const LockView&, std::int64_t r)>;

// Tasks from the highest priority; those that ask for the response of a task without a bound have none.
NaiveBounds solve_locks(const Taskset& taskset, bool busy, JitterSource jitter, const Blocking& blocking) {
  const std::vector<LockTask> tasks = lock_tasks(taskset);
  NaiveBounds bounds;
  for (const LockTask& i : tasks) {
    if (i.best_effort) continue;
    bool fails = false;
    const LockView view{tasks, i, [&](const LockTask& h) {
                          if (!bounds.at(h.name)) fails = true;
                          return jitter == JitterSource::response ? bounds.at(h.name).value_or(h.d) : h.d;
                        }};
    std::int64_t r = -1;
    for (std::int64_t next = 0; next != r && next <= i.d - i.j;) {
      r = next;
      next = i.c + i.g + blocking(view, r);
      for (const LockTask& h : tasks) {
        if (h.cpu != i.cpu || h.priority <= i.priority) continue;
        const std::int64_t cost = h.c + (busy ? h.g : h.gm);
        next += count_of(r, view.response(h) - cost, h.t) * cost;
      }
      if (next > i.d - i.j) fails = true;
    }
    bounds[i.name] = fails ? std::nullopt : std::optional(r + i.j);
  }
  return bounds;
}

// Br_i of mpcp; nullopt above the deadline.
std::optional<std::int64_t> request_driven(const LockView& view) {
  std::int64_t below = 0;
  for (const LockTask& l : view.tasks) {
    if (l.priority < view.i.priority || (l.best_effort && &l != &view.i))
      below = std::max(below, longest(l.sections, 1));
  }
  for (std::int64_t b = below;;) {
    std::int64_t next = below;
    for (const LockTask& h : view.tasks) {
      if (h.priority <= view.i.priority || h.sections.empty()) continue;
      next += (count_of(b, view.response(h) - (h.c + h.gm), h.t) + 1) * h.g;
    }
    if (next > view.i.d) return std::nullopt;
    if (next == b) return b;
    b = next;
  }
}

std::int64_t mpcp_blocking(const LockView& view, std::int64_t r) {
  const LockTask& i = view.i;
  const std::optional<std::int64_t> request = i.sections.empty() ? std::nullopt : request_driven(view);
  std::int64_t sum = 0;
  std::vector<std::int64_t> below;
  for (const LockTask& k : view.tasks) {
    if (&k == &i || k.sections.empty()) continue;
    if (k.priority > i.priority) {
      if (i.sections.empty()) continue;
      const std::int64_t jitter = view.response(k) - (k.c + k.gm);
      std::int64_t met = count_of(r, jitter, k.t);
      if (request) met = std::min(met, i.requests() * (count_of(*request, jitter, k.t) + 1));
      sum += met * k.g;
      continue;
    }
    const std::int64_t copies = count_of(r, k.d - (k.c + k.gm), k.t);
    append(below, k.sections, copies);
    std::vector<std::int64_t> boosts;
    append(boosts, k.miscs, copies);
    if (k.cpu == i.cpu) sum += longest(boosts, i.requests() + 1);
  }
  return sum + longest(below, i.requests());
}

std::int64_t fmlp_plus_blocking(const LockView& view, std::int64_t r) {
  const LockTask& i = view.i;
  std::int64_t sum = 0;
  std::int64_t met = 0;
  const auto requests_of = [&](const LockTask& x) {
    const std::int64_t count = count_of(r, x.d, x.t) * x.requests();
    return std::vector<std::int64_t>(static_cast<std::size_t>(count), longest(x.sections, 1));
  };
  for (const LockTask& x : view.tasks) {
    if (x.cpu == i.cpu || x.sections.empty() || i.sections.empty()) continue;
    const auto requests = requests_of(x);
    sum += longest(requests, i.requests());
    met += std::min(i.requests(), std::ssize(requests));
  }
  for (const LockTask& l : view.tasks) {
    if (&l == &i || l.cpu != i.cpu || l.sections.empty() || l.priority > i.priority) continue;
    sum += longest(requests_of(l), 1 + std::min(i.requests(), met));
  }
  return sum;
}

}  // namespace

NaiveBounds naive_mpcp(const Taskset& taskset, bool busy, JitterSource jitter) {
  return solve_locks(taskset, busy, jitter, mpcp_blocking);
}

NaiveBounds naive_fmlp_plus(const Taskset& taskset, bool busy, JitterSource jitter) {
  return solve_locks(taskset, busy, jitter, fmlp_plus_blocking);
}

}  // namespace rtgpu::testing
