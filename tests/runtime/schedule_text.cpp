#include "tests/runtime/schedule_text.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace rtgpu::testing {
namespace {

std::string task_of(TaskIndex task) {
  return "task " + std::to_string(task) + ' ';
}

std::string span_of(Duration begin, Duration end) {
  return to_string(begin) + " to " + to_string(end);
}

std::string line_of(const TaskInterval& each) {
  return task_of(each.task) + "job " + std::to_string(each.job) + " segment " + std::to_string(each.segment) + ' ' +
         std::string(to_string(each.state)) + (each.boosted ? " boosted " : " ") + span_of(each.begin, each.end);
}
std::string line_of(const CoreInterval& each) {
  return "core " + std::to_string(each.core) + ' ' + task_of(each.task) + span_of(each.begin, each.end);
}
std::string line_of(const GpuInterval& each) {
  return (each.switching ? "switch to " : "") + task_of(each.task) + span_of(each.begin, each.end);
}
std::string line_of(const CopyInterval& each) {
  return "engine " + std::to_string(each.engine) + ' ' + task_of(each.task) + span_of(each.begin, each.end);
}
std::string line_of(const JobRecord& each) {
  return task_of(each.task) + "job " + std::to_string(each.job) + " released " + to_string(each.nominal_release) +
         ", actually " + to_string(each.release) + ", complete " + to_string(each.completion) +
         (each.missed ? ", missed" : "");
}

template <class Each>
std::string difference(std::string_view kind, const std::vector<Each>& expected, const std::vector<Each>& actual) {
  const auto line = [](const std::vector<Each>& all, std::size_t index) {
    return index < all.size() ? line_of(all[index]) : std::string("nothing");
  };
  for (std::size_t index = 0; index < expected.size() || index < actual.size(); ++index) {
    if (index < expected.size() && index < actual.size() && expected[index] == actual[index]) continue;
    return std::string(kind) + " number " + std::to_string(index) + ": expected " + line(expected, index) + "; got " +
           line(actual, index);
  }
  return {};
}

}  // namespace

std::string first_difference(const Schedule& expected, const Schedule& actual) {
  std::string text = difference("task interval", expected.tasks, actual.tasks);
  if (text.empty()) text = difference("core interval", expected.cores, actual.cores);
  if (text.empty()) text = difference("GPU interval", expected.gpu, actual.gpu);
  if (text.empty()) text = difference("copy interval", expected.copies, actual.copies);
  if (text.empty()) text = difference("job", expected.jobs, actual.jobs);
  if (text.empty() && expected.end != actual.end) {
    text = "end: expected " + to_string(expected.end) + "; got " + to_string(actual.end);
  }
  return text;
}

}  // namespace rtgpu::testing
