#include "taskset/json.h"
#include "taskset/json_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

enum class Layout : std::uint8_t { one_line, member_a_line };

// Writes nested arrays and objects.
class JsonOutput {
 public:
  explicit JsonOutput(JsonStyle style) : pretty_(style == JsonStyle::pretty) {}

  void begin(char bracket, Layout layout) {
    out_ += bracket;
    open_.push_back({bracket, layout == Layout::member_a_line && pretty_});
  }
  void end() {
    const Level level = open_.back();
    open_.pop_back();
    if (level.lines && !level.empty) new_line();
    out_ += level.bracket == '{' ? '}' : ']';
  }

  // Starts the next element of an array.
  void element() {
    Level& level = open_.back();
    if (!level.empty) out_ += ',';
    if (level.lines) {
      new_line();
    } else if (pretty_ && !level.empty) {
      out_ += ' ';
    }
    level.empty = false;
  }
  // Starts the next member of an object.
  void key(std::string_view name) {
    element();
    append_json_string(out_, name);
    out_ += pretty_ ? ": " : ":";
  }

  void text(std::string_view value) { append_json_string(out_, value); }
  void number(std::int64_t value) { out_ += std::to_string(value); }
  void literal(std::string_view value) { out_ += value; }

  std::string take() && {
    if (pretty_) out_ += '\n';
    return std::move(out_);
  }

 private:
  struct Level {
    char bracket;
    bool lines;
    bool empty = true;
  };

  void new_line() {
    out_ += '\n';
    out_.append(2 * open_.size(), ' ');
  }

  bool pretty_;
  std::string out_;
  std::vector<Level> open_;
};

void write_time(JsonOutput& out, Duration time) {
  if (time == Duration()) return out.number(0);
  out.text(to_string(time));
}

void write_execution(JsonOutput& out, const ExecutionTime& time) {
  if (time.min == time.max) return write_time(out, time.max);
  out.begin('{', Layout::one_line);
  out.key("min");
  write_time(out, time.min);
  out.key("max");
  write_time(out, time.max);
  out.end();
}

void write_memory(JsonOutput& out, std::int64_t bytes) {
  static constexpr std::array<std::string_view, 5> kMemoryUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kMemoryUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  if (unit == 0) return out.number(bytes);
  out.text(fmt::format("{}{}", bytes, kMemoryUnits[unit]));
}

// Members that are left out if they have the default value.
void member(JsonOutput& out, std::string_view key, Duration time, Duration default_value = {}) {
  if (time == default_value) return;
  out.key(key);
  write_time(out, time);
}

void member(JsonOutput& out, std::string_view key, int value, int default_value) {
  if (value == default_value) return;
  out.key(key);
  out.number(value);
}

void member(JsonOutput& out, std::string_view key, const std::optional<std::int64_t>& memory) {
  if (!memory) return;
  out.key(key);
  write_memory(out, *memory);
}

void member(JsonOutput& out, std::string_view key, const std::optional<int>& value) {
  if (!value) return;
  out.key(key);
  out.number(*value);
}

void write_overheads(JsonOutput& out, const Overheads& overheads) {
  if (overheads == Overheads{}) return;
  out.key("overheads");
  out.begin('{', Layout::one_line);
  member(out, "runlist_update", overheads.runlist_update);
  member(out, "context_switch", overheads.context_switch);
  member(out, "time_slice", overheads.time_slice);
  member(out, "launch", overheads.launch);
  member(out, "lock", overheads.lock);
  out.end();
}

void write_gpu(JsonOutput& out, const Gpu& gpu, std::size_t index) {
  out.begin('{', Layout::one_line);
  if (gpu.name != fmt::format("gpu{}", index)) {
    out.key("name");
    out.text(gpu.name);
  }
  member(out, "sms", gpu.sms);
  member(out, "copy_engines", gpu.copy_engines, Gpu{}.copy_engines);
  member(out, "memory", gpu.memory);
  member(out, "stream_priorities", gpu.stream_priorities);
  member(out, "server_cpu", gpu.server_cpu, Gpu{}.server_cpu);
  write_overheads(out, gpu.overheads);
  out.end();
}

void write_platform(JsonOutput& out, const Platform& platform) {
  out.begin('{', Layout::member_a_line);
  out.key("cpus");
  out.number(platform.cpus);
  if (platform.gpus != Platform{}.gpus) {
    out.key("gpus");
    out.begin('[', Layout::member_a_line);
    for (std::size_t i = 0; i < platform.gpus.size(); ++i) {
      out.element();
      write_gpu(out, platform.gpus[i], i);
    }
    out.end();
  }
  out.end();
}

void write_exec(JsonOutput& out, const GpuSegment& segment) {
  if (segment.exec) {
    out.key("exec");
    write_execution(out, *segment.exec);
  }
  if (segment.exec_by_sms.empty()) return;
  out.key("exec");
  out.begin('{', Layout::one_line);
  out.key("by_sms");
  out.begin('{', Layout::one_line);
  for (const ExecOnSms& entry : segment.exec_by_sms) {
    out.key(std::to_string(entry.sms));
    write_execution(out, entry.time);
  }
  out.end();
  out.end();
}

// Millionths as a decimal number: a millisecond has a million nanoseconds, so this is how times are written.
std::string decimal(std::int64_t millionths) {
  return to_milliseconds(Duration::nanoseconds(millionths));
}

void write_parallel(JsonOutput& out, const ParallelWork& parallel) {
  out.key("work");
  write_execution(out, parallel.work);
  out.key("span");
  write_execution(out, parallel.span);
  if (parallel.interleave_millionths == ParallelWork{}.interleave_millionths) return;
  out.key("interleave");
  out.literal(decimal(parallel.interleave_millionths));
}

void write_segment(JsonOutput& out, const CpuSegment& segment) {
  out.key("cpu");
  write_execution(out, segment.time);
}

void write_segment(JsonOutput& out, const GpuSegment& segment) {
  out.key("gpu");
  out.begin('{', Layout::one_line);
  if (segment.misc != ExecutionTime{}) {
    out.key("misc");
    write_execution(out, segment.misc);
  }
  write_exec(out, segment);
  if (segment.block) {
    out.key("block");
    write_time(out, *segment.block);
  }
  member(out, "slices", segment.slices, GpuSegment{}.slices);
  if (segment.parallel) write_parallel(out, *segment.parallel);
  out.end();
}

void write_segment(JsonOutput& out, const CopySegment& segment) {
  out.key("copy");
  out.begin('{', Layout::one_line);
  out.key("time");
  write_execution(out, segment.time);
  if (segment.direction == CopyDirection::to_host) {
    out.key("to");
    out.text("host");
  }
  out.end();
}

void write_segments(JsonOutput& out, const std::vector<Segment>& segments) {
  out.begin('[', Layout::member_a_line);
  for (const Segment& segment : segments) {
    out.element();
    out.begin('{', Layout::one_line);
    std::visit([&](const auto& kind) { write_segment(out, kind); }, segment);
    out.end();
  }
  out.end();
}

void write_modes(JsonOutput& out, const Task& task) {
  if (task.wait != WaitMode::suspend) {
    out.key("wait");
    out.text(to_string(task.wait));
  }
  if (task.lock_wait != LockWait::suspend) {
    out.key("lock_wait");
    out.text(to_string(task.lock_wait));
  }
  if (task.best_effort) {
    out.key("best_effort");
    out.literal("true");
  }
}

void write_task(JsonOutput& out, const Task& task) {
  out.begin('{', Layout::member_a_line);
  out.key("name");
  out.text(task.name);
  out.key("period");
  write_time(out, task.period);
  if (!task.best_effort) member(out, "deadline", task.deadline, task.period);
  out.key("priority");
  out.number(task.priority);
  member(out, "gpu_priority", task.gpu_priority, task.priority);
  member(out, "cpu", task.cpu, 0);
  write_modes(out, task);
  member(out, "jitter", task.jitter);
  member(out, "memory", task.memory);
  member(out, "sms", task.sms);
  out.key("segments");
  write_segments(out, task.segments);
  out.end();
}

void write_utilisations(JsonOutput& out, std::string_view key, const std::vector<std::int64_t>& millionths) {
  if (millionths.empty()) return;
  out.key(key);
  out.begin('[', Layout::one_line);
  for (const std::int64_t value : millionths) {
    out.element();
    out.literal(decimal(value));
  }
  out.end();
}

void write_origin(JsonOutput& out, const Origin& origin) {
  out.begin('{', Layout::one_line);
  out.key("generator");
  out.text(origin.generator);
  out.key("seed");
  out.literal(std::to_string(origin.seed));
  if (origin.index) {
    out.key("index");
    out.number(*origin.index);
  }
  if (!origin.parameters.empty()) {
    out.key("parameters");
    out.begin('[', Layout::one_line);
    for (const std::string& parameter : origin.parameters) {
      out.element();
      out.text(parameter);
    }
    out.end();
  }
  write_utilisations(out, "requested_utilisation", origin.requested);
  write_utilisations(out, "achieved_utilisation", origin.achieved);
  out.end();
}

}  // namespace

std::string write_taskset(const Taskset& taskset, JsonStyle style) {
  JsonOutput out(style);
  out.begin('{', Layout::member_a_line);
  out.key("rtgpu");
  out.number(1);
  if (taskset.origin) {
    out.key("origin");
    write_origin(out, *taskset.origin);
  }
  out.key("platform");
  write_platform(out, taskset.platform);
  if (taskset.ties == Ties::by_order) {
    out.key("ties");
    out.text("by-order");
  }
  out.key("tasks");
  out.begin('[', Layout::member_a_line);
  for (const Task& task : taskset.tasks) {
    out.element();
    write_task(out, task);
  }
  out.end();
  out.end();
  return std::move(out).take();
}

}  // namespace rtgpu
