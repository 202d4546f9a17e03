#include "tools/format/run_result.h"

#include "tools/format/report.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace rtgpu {
namespace {

struct ItemGroup {
  RealtimeItem item;
  std::size_t others = 0;
};

bool is_like(const RealtimeItem& a, const RealtimeItem& b) {
  return a.ok == b.ok && a.reason == b.reason && a.mend == b.mend;
}

}  // namespace

bool RunResult::is_yes() const {
  if (!report.is_clean()) return false;
  return !check_bounds || (without_bound().empty() && exceeded().empty());
}

std::vector<std::string> RunResult::without_bound() const {
  std::vector<std::string> names;
  for (const TaskReport& task : report.tasks) {
    if (!task.best_effort && !task.bound) names.push_back(task.name);
  }
  return names;
}

std::vector<std::string> RunResult::exceeded() const {
  std::vector<std::string> names;
  for (const TaskReport& task : report.tasks) {
    if (task.exceeded()) names.push_back(task.name);
  }
  return names;
}

RunOverheads overheads_of(const RunReport& report) {
  RunOverheads all;
  for (const TaskReport& task : report.tasks) {
    all.grant.add(task.seen.grant_latency);
    all.completion.add(task.seen.completion_latency);
  }
  return all;
}

std::string observed_over_bound(const std::optional<Duration>& bound, Duration observed) {
  if (!bound || *bound <= Duration()) return {};
  // NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
  __extension__ using Int128 = __int128;
  const Int128 whole = bound->count();
  const auto thousandths = static_cast<std::int64_t>((Int128{observed.count()} * 1000 + whole - 1) / whole);
  return fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

std::vector<RealtimeItem> not_granted(const RealtimeReport& realtime) {
  std::vector<ItemGroup> groups;
  for (const RealtimeItem& item : realtime.items) {
    // What is granted may still be less than what was asked for, and then says what would mend it.
    if (item.ok && item.mend.empty()) continue;
    const auto like =
        std::find_if(groups.begin(), groups.end(), [&](const ItemGroup& group) { return is_like(group.item, item); });
    if (like == groups.end()) {
      groups.push_back({item, 0});
    } else {
      ++like->others;
    }
  }
  std::vector<RealtimeItem> items;
  for (ItemGroup& group : groups) {
    if (group.others > 0) group.item.what += " and " + count_of(group.others, "other");
    items.push_back(std::move(group.item));
  }
  return items;
}

std::string to_string(const RealtimeItem& item) {
  std::string text = fmt::format("{}: {}: {}, asked for {}", item.ok ? "granted in part" : "not granted", item.what,
                                 item.granted, item.asked);
  if (!item.reason.empty()) text += ": " + item.reason;
  return text;
}

}  // namespace rtgpu
