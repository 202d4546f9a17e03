// The published recurrence of a GPU server, written out request by request.
#include "tests/analysis/naive_reference.h"

#include <algorithm>
#include <functional>
#include <variant>
#include <vector>

namespace rtgpu::testing {
namespace {

struct Client {
  std::string name;
  std::int64_t t = 0, d = 0, j = 0, c = 0, s = 0;
  int rank = 0, cpu = 0;  // best-effort ones have rank -1
  std::vector<std::int64_t> requests = {};

  bool is_above(const Client& other) const { return rank > other.rank; }
};

std::vector<Client> clients_of(const Taskset& taskset) {
  const Overheads& overheads = taskset.platform.gpus[0].overheads;
  std::vector<Client> all;
  for (const Task& task : taskset.tasks) {
    Client client{task.name, task.period.count(), task.deadline.count(), task.jitter.count()};
    client.rank = task.best_effort ? -1 : task.priority;
    client.cpu = task.cpu;
    for (const Segment& segment : task.segments) {
      if (const auto* cpu = std::get_if<CpuSegment>(&segment)) client.c += cpu->time.max.count();
      const auto* gpu = std::get_if<GpuSegment>(&segment);
      if (gpu == nullptr) continue;
      const std::int64_t on_core = gpu->misc.max.count() + 2 * overheads.lock.count();
      client.s += on_core;
      client.requests.push_back(on_core + gpu->exec->max.count() + (gpu->slices - 1) * overheads.launch.count());
    }
    all.push_back(client);
  }
  std::ranges::sort(all, std::greater<>(), &Client::rank);
  return all;
}

std::int64_t jobs_of(std::int64_t window, std::int64_t jitter, std::int64_t t) {
  return (window + std::max<std::int64_t>(jitter, 0) + t - 1) / t;
}

// The longest request of a task below.
std::int64_t longest_below(const std::vector<Client>& clients, const Client& i) {
  std::int64_t longest = 0;
  for (const Client& l : clients) {
    if (&l == &i || l.is_above(i)) continue;
    for (const std::int64_t request : l.requests) longest = std::max(longest, request);
  }
  return longest;
}

// What a request waits for in a wait of length `wait`.
std::int64_t waited_for(const std::vector<Client>& clients, const Client& i, std::int64_t wait) {
  std::int64_t sum = longest_below(clients, i);
  for (const Client& h : clients) {
    if (!h.is_above(i)) continue;
    for (const std::int64_t request : h.requests) sum += (jobs_of(wait, 0, h.t) + 1) * request;
  }
  return sum;
}

// B_i, or more than ten periods.
std::int64_t handling(const std::vector<Client>& clients, const Client& i) {
  std::int64_t sum = 0;
  for (const std::int64_t own : i.requests) {
    std::int64_t wait = longest_below(clients, i);
    for (std::int64_t before = -1; wait != before && wait <= 10 * i.t;) {
      before = wait;
      wait = waited_for(clients, i, before);
    }
    sum += wait + own;
  }
  return sum;
}

// What another task, whose response is `response`, takes of the core of i in a response of r.
std::int64_t on_core_of(const std::vector<Client>& clients, const Client& i, const Client& h, std::int64_t r, bool busy,
                        std::int64_t response, bool serves_here) {
  const bool is_above_here = h.is_above(i) && h.cpu == i.cpu;
  if (is_above_here && busy && !h.requests.empty()) {
    return jobs_of(r, h.j, h.t) * (h.c + handling(clients, h));
  }
  std::int64_t sum = is_above_here ? jobs_of(r, response - h.c, h.t) * h.c : 0;
  if (serves_here) sum += jobs_of(r, h.d - h.s, h.t) * h.s;
  return sum;
}

}  // namespace

NaiveBounds naive_server(const Taskset& taskset, bool busy, JitterSource jitter) {
  const std::vector<Client> clients = clients_of(taskset);
  NaiveBounds bounds;
  const auto fails = [&](const Client& i) {
    return std::ranges::any_of(clients, [&](const Client& h) {
      const bool needs_response = h.is_above(i) && h.cpu == i.cpu && !(busy && !h.requests.empty());
      return needs_response && !bounds.at(h.name);
    });
  };
  const auto response_of = [&](const Client& h) {
    return jitter == JitterSource::response && bounds.contains(h.name) ? bounds.at(h.name).value_or(h.d) : h.d;
  };
  for (const Client& i : clients) {
    if (i.rank < 0) continue;
    const bool serves_here = i.cpu == taskset.platform.gpus[0].server_cpu;
    const std::int64_t own = i.c + handling(clients, i);
    std::int64_t r = -1;
    for (std::int64_t next = own; next != r && r <= i.d - i.j;) {
      r = next;
      next = own;
      for (const Client& h : clients) {
        if (&h != &i) next += on_core_of(clients, i, h, r, busy, response_of(h), serves_here);
      }
    }
    bounds[i.name] = fails(i) || r > i.d - i.j ? std::nullopt : std::optional(r + i.j);
  }
  return bounds;
}

}  // namespace rtgpu::testing
