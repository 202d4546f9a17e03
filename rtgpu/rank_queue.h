// Tasks that wait, served by a key. Fixed capacity: no allocation after construction.
#pragma once

#include "rtgpu/gpu_policy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

// A binary heap of tasks; the smallest key is served first. A task is in it at most once.
class RankQueue {
 public:
  explicit RankQueue(std::size_t capacity) { entries_.reserve(capacity); }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  TaskId front() const { return entries_.front().task; }
  std::uint64_t front_key() const { return entries_.front().key; }

  void push(TaskId task, std::uint64_t key) {
    entries_.push_back({key, task});
    std::ranges::push_heap(entries_, later);
  }
  TaskId pop() {
    std::ranges::pop_heap(entries_, later);
    const TaskId task = entries_.back().task;
    entries_.pop_back();
    return task;
  }
  // Takes a task out wherever it is. O(size).
  void remove(TaskId task) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.task == task; });
    std::ranges::make_heap(entries_, later);
  }

  // The tasks in the order in which they will be served.
  void append_order(std::vector<std::uint64_t>& order) const {
    std::vector<Entry> sorted = entries_;
    std::ranges::sort(sorted, {}, &Entry::key);
    for (const Entry& entry : sorted) order.push_back(entry.task);
  }
  // How many are served before one of this key.
  std::uint64_t count_before(std::uint64_t key) const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(entries_, [&](const Entry& entry) { return entry.key < key; }));
  }

 private:
  struct Entry {
    std::uint64_t key;
    TaskId task;
  };
  static bool later(const Entry& a, const Entry& b) { return a.key > b.key; }
  std::vector<Entry> entries_;
};

}  // namespace rtgpu
