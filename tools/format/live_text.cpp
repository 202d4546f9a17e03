#include "tools/format/live_text.h"

#include "tools/format/printable.h"
#include "tools/format/report.h"
#include "tools/format/run_result.h"

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool is_nearer(const LiveTask& a, const LiveTask& b) {
  // NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
  __extension__ using Int128 = __int128;
  return Int128{a.max_response.count()} * b.bound->count() > Int128{b.max_response.count()} * a.bound->count();
}

// Of those with a bound, the one whose longest response is nearest to it.
const LiveTask* nearest_to_its_bound(std::span<const LiveTask> tasks) {
  const LiveTask* found = nullptr;
  for (const LiveTask& task : tasks) {
    if (!task.bound || *task.bound <= Duration() || task.jobs == 0) continue;
    if (found == nullptr || is_nearer(task, *found)) found = &task;
  }
  return found;
}

}  // namespace

std::string live_text(std::span<const LiveTask> tasks, std::optional<Duration> elapsed, Duration duration) {
  std::int64_t jobs = 0;
  std::int64_t misses = 0;
  for (const LiveTask& task : tasks) {
    jobs += task.jobs;
    misses += task.misses;
  }
  std::string text;
  if (elapsed) {
    const std::int64_t tenths = elapsed->count() / 100'000'000;
    text = fmt::format("{}.{}s of {}  ", tenths / 10, tenths % 10, to_string(duration));
  }
  text += fmt::format("{}  {} missed", count_of(static_cast<std::size_t>(jobs), "job"), misses);
  if (const LiveTask* task = nearest_to_its_bound(tasks)) {
    text += fmt::format("  largest max/bound {} ({})", observed_over_bound(task->bound, task->max_response),
                        printable(task->name));
  }
  return text;
}

}  // namespace rtgpu
