#include "taskset/importers/schedcat_xml.h"

#include "taskset/importers/xml.h"
#include "taskset/json_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::array<std::string_view, 7> kTaskAttributes = {"id",        "period", "wcet",         "deadline",
                                                             "partition", "wss",    "response_time"};
constexpr IntRange kRequestCount{0, static_cast<std::int64_t>(kMaxSegments) / 2};

ExecutionTime fixed_time(Duration time) {
  return {time, time};
}

// Several critical sections of one length.
struct Requests {
  std::int64_t count = 0;
  Duration length;
};

class SchedcatReader {
 public:
  SchedcatReader(FileValues& values, const ImportOptions& options) : values_(values), options_(options) {}

  std::vector<Taskset> read(const XmlElement& root);
  std::vector<std::string> notes() const;

 private:
  Taskset read_taskset_of(const XmlElement& element);
  Task read_task(const XmlElement& element, std::size_t index);
  void read_name(const XmlElement& element, std::size_t index, Task& task);
  void read_segments_of(const XmlElement& element, Duration wcet, Task& task);
  std::vector<Requests> read_requests(const XmlElement& element);
  void read_request(const XmlElement& requirement, std::vector<Requests>& gpu);
  Requests read_lengths(const XmlElement& requirement, const char* count, const char* length, std::int64_t fallback);
  void place(const XmlElement& element, Taskset& taskset);

  const XmlAttribute* required(const XmlElement& element, const char* key);
  Duration time(const XmlElement& element, const char* key, Rounding rounding, Duration least);
  void note_dropped(const XmlElement& element);

  FileValues& values_;
  const ImportOptions& options_;
  std::set<std::string> names_;
  std::set<std::string> dropped_;
  std::size_t other_sections_ = 0;
  std::size_t stretched_ = 0;
  bool uses_gpu_ = false;
  bool placed_ = false;
};

std::vector<Taskset> SchedcatReader::read(const XmlElement& root) {
  std::vector<Taskset> tasksets;
  if (root.name == "taskset") {
    tasksets.push_back(read_taskset_of(root));
  } else if (root.name == "testpoint") {
    for (const XmlElement& child : root.children) {
      if (child.name == "taskset") tasksets.push_back(read_taskset_of(child));
    }
  } else {
    values_.reject(place_of(root), ErrorCode::value, fmt::format("the element {}", in_quotes(root.name)),
                   "taskset or testpoint");
    return tasksets;
  }
  if (tasksets.empty()) values_.reject(place_of(root), ErrorCode::missing, "no taskset", "at least one");
  return tasksets;
}

Taskset SchedcatReader::read_taskset_of(const XmlElement& element) {
  Taskset taskset;
  names_.clear();
  for (const XmlElement& child : element.children) {
    if (child.name == "task") {
      taskset.tasks.push_back(read_task(child, taskset.tasks.size()));
    } else if (child.name != "properties") {
      dropped_.insert("<" + child.name + ">");
    }
  }
  if (taskset.tasks.empty()) values_.reject(place_of(element), ErrorCode::missing, "no task", "at least one");
  if (!values_.sound()) return taskset;
  const std::vector<bool> none(taskset.tasks.size());
  assign_missing_priorities(taskset, none, none);
  place(element, taskset);
  return taskset;
}

const XmlAttribute* SchedcatReader::required(const XmlElement& element, const char* key) {
  const XmlAttribute* attribute = element.attribute(key);
  if (attribute == nullptr) {
    values_.reject(place_of(element), ErrorCode::missing, fmt::format("no {} of the {}", key, element.name),
                   fmt::format("{}=\"...\"", key));
  }
  return attribute;
}

Duration SchedcatReader::time(const XmlElement& element, const char* key, Rounding rounding, Duration least) {
  const XmlAttribute* attribute = required(element, key);
  return attribute == nullptr ? least : values_.time(value_of(*attribute), key, rounding, least);
}

Task SchedcatReader::read_task(const XmlElement& element, std::size_t index) {
  Task task;
  read_name(element, index, task);
  note_dropped(element);
  task.period = time(element, "period", Rounding::down, Duration::nanoseconds(1));
  task.deadline = task.period;
  const Duration wcet = time(element, "wcet", Rounding::up, {});
  if (const XmlAttribute* deadline = element.attribute("deadline")) {
    task.deadline = values_.time(value_of(*deadline), "deadline", Rounding::down, Duration::nanoseconds(1));
    if (task.deadline > task.period && values_.sound()) {
      values_.reject(value_of(*deadline), ErrorCode::unsupported, value_as(value_of(*deadline), "deadline"),
                     fmt::format("at most the period, {}", to_string(task.period)),
                     "Deadlines longer than periods are not covered.");
    }
  }
  read_segments_of(element, wcet, task);
  return task;
}

void SchedcatReader::read_name(const XmlElement& element, std::size_t index, Task& task) {
  const XmlAttribute* id = element.attribute("id");
  task.name = "task" + (id == nullptr ? std::to_string(index + 1) : id->text);
  if (!names_.insert(task.name).second) {
    values_.reject(id == nullptr ? place_of(element) : value_of(*id), ErrorCode::conflict,
                   fmt::format("{} a second time", in_quotes(task.name)), "an id of its own for each task");
  }
  if (!is_utf8(task.name)) {
    values_.reject(place_of(element), ErrorCode::value, "an id that is not UTF-8", "text in UTF-8");
  }
}

void SchedcatReader::note_dropped(const XmlElement& element) {
  for (const XmlAttribute& attribute : element.attributes) {
    const bool known = std::ranges::find(kTaskAttributes, attribute.name) != kTaskAttributes.end();
    if (!known || attribute.name == "wss" || attribute.name == "response_time") dropped_.insert(attribute.name);
  }
}

std::vector<Requests> SchedcatReader::read_requests(const XmlElement& element) {
  std::vector<Requests> gpu;
  for (const XmlElement& child : element.children) {
    if (child.name != "resources") {
      dropped_.insert("<" + child.name + ">");
      continue;
    }
    for (const XmlElement& requirement : child.children) {
      if (requirement.name == "requirement") read_request(requirement, gpu);
    }
  }
  return gpu;
}

// What SchedCAT assumes of attributes that are not there: a single write of length 1.
Requests SchedcatReader::read_lengths(const XmlElement& requirement, const char* count, const char* length,
                                      std::int64_t fallback) {
  Requests requests;
  const XmlAttribute* number = requirement.attribute(count);
  requests.count = number == nullptr ? fallback : values_.integer(value_of(*number), count, kRequestCount);
  if (requests.count == 0) return requests;
  requests.length = time(requirement, length, Rounding::up, {});
  return requests;
}

void SchedcatReader::read_request(const XmlElement& requirement, std::vector<Requests>& gpu) {
  const XmlAttribute* id = required(requirement, "res_id");
  const std::int64_t resource = id == nullptr ? 0 : values_.integer(value_of(*id), "res_id", kIndexRange);
  const Requests writes = read_lengths(requirement, "max_writes", "max_write_length", 1);
  const Requests reads = read_lengths(requirement, "max_reads", "max_read_length", 0);
  if (options_.gpu_resource != resource) {
    other_sections_ += static_cast<std::size_t>(writes.count + reads.count);
    return;
  }
  gpu.push_back(writes);
  gpu.push_back(reads);
}

void SchedcatReader::read_segments_of(const XmlElement& element, Duration wcet, Task& task) {
  std::vector<Duration> sections;
  Duration held;
  for (const Requests& requests : read_requests(element)) {
    if (sections.size() + static_cast<std::size_t>(requests.count) > static_cast<std::size_t>(kRequestCount.high)) {
      return values_.reject(place_of(element), ErrorCode::limit, "a task with too many critical sections on the GPU",
                            fmt::format("at most {}", kRequestCount.high));
    }
    sections.insert(sections.end(), static_cast<std::size_t>(requests.count), requests.length);
    held += requests.length * requests.count;
  }
  // Each section is bounded by itself there, and all together by wcet too.
  if (held > wcet) ++stretched_;
  uses_gpu_ = uses_gpu_ || !sections.empty();
  if (!values_.sound()) return;
  const auto parts = static_cast<std::int64_t>(sections.size()) + 1;
  const std::int64_t on_core = std::max(wcet - held, Duration()).count();
  task.segments = {CpuSegment{fixed_time(Duration::nanoseconds(on_core / parts + on_core % parts))}};
  for (const Duration section : sections) {
    GpuSegment segment;
    segment.exec = fixed_time(section);
    task.segments.emplace_back(std::move(segment));
    task.segments.emplace_back(CpuSegment{fixed_time(Duration::nanoseconds(on_core / parts))});
  }
}

void SchedcatReader::place(const XmlElement& element, Taskset& taskset) {
  std::vector<const XmlElement*> tasks;
  for (const XmlElement& child : element.children) {
    if (child.name == "task") tasks.push_back(&child);
  }
  const auto has_partition = [](const XmlElement* task) { return task->attribute("partition") != nullptr; };
  if (std::ranges::none_of(tasks, has_partition)) {
    placed_ = true;
    return place_in_order(taskset, options_.cpus);
  }
  taskset.platform.cpus = options_.cpus;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const XmlAttribute* partition = tasks[i]->attribute("partition");
    if (partition == nullptr) {
      values_.reject(place_of(*tasks[i]), ErrorCode::missing, "no partition of the task",
                     "one, since other tasks have theirs");
      continue;
    }
    const std::int64_t cpu = values_.integer(value_of(*partition), "partition", IntRange{0, kMaxCpus - 1});
    taskset.tasks[i].cpu = static_cast<int>(cpu);
    taskset.platform.cpus = std::max(taskset.platform.cpus, static_cast<int>(cpu) + 1);
  }
}

std::vector<std::string> SchedcatReader::notes() const {
  std::vector<std::string> notes = {"the format has no priorities: assigned deadline-monotonically"};
  if (placed_) {
    notes.push_back(fmt::format("tasks without a partition are placed on {} {} worst-fit, in the order of the file",
                                options_.cpus, options_.cpus == 1 ? "core" : "cores"));
  }
  if (uses_gpu_) {
    notes.emplace_back(
        "the format does not say when the GPU is used: the rest of the time is in equal parts around it");
  }
  if (other_sections_ > 0) {
    notes.push_back(
        fmt::format("{} critical sections are time on the core like any other: resources have no counterpart "
                    "besides the GPU (--gpu-resource)",
                    other_sections_));
  }
  if (stretched_ > 0) {
    notes.push_back(
        fmt::format("the critical sections of {} tasks together are longer than wcet: taken as they are", stretched_));
  }
  if (!dropped_.empty()) notes.push_back(fmt::format("left out, without a counterpart: {}", fmt::join(dropped_, ", ")));
  return notes;
}

}  // namespace

Result<Imported> import_schedcat_xml(std::string_view text, const std::string& source, const ImportOptions& options) {
  const Result<XmlElement> root = read_xml(text, source);
  if (!root) return root.errors();
  FileValues values(source, options.unit);
  SchedcatReader reader(values, options);
  std::vector<Taskset> tasksets = reader.read(*root);
  if (!values.sound()) return values.take();
  return imported(std::move(tasksets), reader.notes(), source);
}

}  // namespace rtgpu
