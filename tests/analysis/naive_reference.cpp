#include "tests/analysis/naive_reference.h"

#include <algorithm>
#include <functional>
#include <variant>
#include <vector>

namespace rtgpu::testing {
namespace {

struct Sums {
  std::string name;
  std::int64_t t, d, j, c = 0, gm = 0, ge = 0, eta = 0;
  int priority, cpu;
  bool best_effort, gpu = false;
  std::vector<std::int64_t> execs;
};

std::vector<Sums> sums_of(const Taskset& taskset) {
  std::vector<Sums> all;
  const std::int64_t launch = taskset.platform.gpus[0].overheads.launch.count();
  for (const Task& task : taskset.tasks) {
    Sums s{task.name,
           task.period.count(),
           task.deadline.count(),
           task.jitter.count(),
           0,
           0,
           0,
           0,
           task.priority,
           task.cpu,
           task.best_effort,
           false,
           {}};
    for (const Segment& segment : task.segments) {
      if (const auto* cpu = std::get_if<CpuSegment>(&segment)) s.c += cpu->time.max.count();
      if (const auto* gpu = std::get_if<GpuSegment>(&segment)) {
        const std::int64_t exec = gpu->exec->max.count() + (gpu->slices - 1) * launch;
        s.gm += gpu->misc.max.count();
        s.ge += exec;
        s.eta += 1;
        s.gpu = true;
        s.execs.push_back(exec);
      }
    }
    all.push_back(s);
  }
  return all;
}

std::int64_t ceil_of(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
std::int64_t jobs(std::int64_t r, std::int64_t j, std::int64_t t) {
  return ceil_of(r + j, t);
}

// R = f(R) from 0, nullopt above the cap.
std::optional<std::int64_t> iterate(const std::function<std::int64_t(std::int64_t)>& f, std::int64_t cap) {
  for (std::int64_t r = 0;;) {
    const std::int64_t next = f(r);
    if (next > cap) return std::nullopt;
    if (next == r) return r;
    r = next;
  }
}

// Solves task after task from the highest priority; `right_side(i, R, response)` may ask for R_h or D_h of those
// before, which is nullopt if h failed.
using Response = std::function<std::int64_t(const Sums&)>;
using RightSide = std::function<std::int64_t(const Sums& i, std::int64_t r, const Response& response)>;

NaiveBounds solve_all(std::vector<Sums> tasks, JitterSource jitter, const RightSide& right_side) {
  std::ranges::sort(tasks, std::greater<>(), &Sums::priority);
  NaiveBounds bounds;
  for (const Sums& i : tasks) {
    if (i.best_effort) continue;
    bool depends_on_failed = false;
    const Response response = [&](const Sums& h) {
      if (!bounds.at(h.name)) depends_on_failed = true;
      return jitter == JitterSource::deadline || depends_on_failed ? h.d : *bounds.at(h.name);
    };
    auto bound = iterate([&](std::int64_t r) { return right_side(i, r, response); }, i.d - i.j);
    if (bound) *bound += i.j;
    bounds[i.name] = depends_on_failed ? std::nullopt : bound;
  }
  return bounds;
}

}  // namespace

NaiveBounds naive_gcaps(const Taskset& taskset, bool busy, JitterSource jitter) {
  const std::vector<Sums> tasks = sums_of(taskset);
  const std::int64_t eps = taskset.platform.gpus[0].overheads.runlist_update.count();
  return solve_all(tasks, jitter, [&](const Sums& i, std::int64_t r, const Response& response) {
    std::int64_t sum = i.c + i.gm + i.ge + 2 * eps * i.eta + (i.eta + 1) * eps;
    for (const Sums& h : tasks) {
      if (h.best_effort || h.priority <= i.priority) continue;
      const std::int64_t gm_star = h.gm + 2 * eps * h.eta;
      const std::int64_t ge_star = h.ge + 2 * eps * h.eta;
      if (h.cpu == i.cpu && !h.gpu) sum += jobs(r, h.j, h.t) * h.c;
      if (h.cpu == i.cpu && h.gpu && busy) sum += jobs(r, h.j, h.t) * (h.c + h.gm + ge_star);
      if (h.cpu == i.cpu && h.gpu && !busy) sum += jobs(r, response(h) - (h.c + h.gm), h.t) * (h.c + gm_star);
      if (h.cpu == i.cpu && h.gpu && !busy && i.gpu) sum += jobs(r, response(h) - h.ge, h.t) * h.ge;
      if (h.cpu != i.cpu && h.gpu && (busy || i.gpu)) sum += jobs(r, response(h) - h.ge, h.t) * ge_star;
    }
    return sum;
  });
}

NaiveBounds naive_tsg_rr(const Taskset& taskset, bool busy, JitterSource jitter) {
  const std::vector<Sums> tasks = sums_of(taskset);
  const std::int64_t slice = taskset.platform.gpus[0].overheads.time_slice.count();
  const std::int64_t turn = slice + taskset.platform.gpus[0].overheads.context_switch.count();
  const auto interleaved = [&](std::int64_t others, const Sums& task) {
    std::int64_t sum = 0;
    for (const std::int64_t exec : task.execs) sum += turn * others * ceil_of(exec, slice);
    return sum;
  };
  return solve_all(tasks, jitter, [&](const Sums& i, std::int64_t r, const Response& response) {
    const auto is_hpp = [&](const Sums& h) { return !h.best_effort && h.cpu == i.cpu && h.priority > i.priority; };
    const auto users = std::ranges::count_if(tasks, &Sums::gpu);
    const auto users_outside = std::ranges::count_if(tasks, [&](const Sums& k) { return k.gpu && !is_hpp(k); });
    std::int64_t sum = i.c + i.gm + i.ge + interleaved(users - 1, i);
    for (const Sums& h : tasks) {
      if (!is_hpp(h)) continue;
      if (!h.gpu) sum += jobs(r, h.j, h.t) * h.c;
      if (h.gpu && !busy) sum += jobs(r, response(h) - (h.c + h.gm), h.t) * (h.c + h.gm);
      if (h.gpu && busy) sum += jobs(r, h.j, h.t) * (h.c + h.gm + interleaved(users_outside + 1, h));
    }
    return sum;
  });
}

}  // namespace rtgpu::testing
