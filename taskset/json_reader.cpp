#include "taskset/json.h"
#include "taskset/json_document.h"
#include "taskset/json_locate.h"
#include "taskset/json_origin.h"
#include "taskset/json_report.h"
#include "taskset/json_segments.h"
#include "taskset/json_syntax.h"
#include "taskset/json_values.h"
#include "taskset/validate.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// A taskset as far as it could be read.
struct Draft {
  Taskset taskset;
  RuleScope scope;
  std::vector<bool> priority_given;
  std::vector<bool> gpu_priority_given;
  std::vector<NodeId> nodes;  // of the tasks
};

// --- platform

template <Duration Overheads::*member>
void read_overhead(JsonValues& values, JsonValue value, Overheads& overheads) {
  values.read_time(value, overheads.*member, Rounding::up);
}

constexpr std::array kOverheadFields = {Field<Overheads>{"runlist_update", read_overhead<&Overheads::runlist_update>},
                                        Field<Overheads>{"context_switch", read_overhead<&Overheads::context_switch>},
                                        Field<Overheads>{"time_slice", read_overhead<&Overheads::time_slice>},
                                        Field<Overheads>{"launch", read_overhead<&Overheads::launch>},
                                        Field<Overheads>{"lock", read_overhead<&Overheads::lock>}};

void read_overheads(JsonValues& values, JsonValue object, Gpu& gpu) {
  if (!values.expect(object, JsonKind::object, "an object of times")) return;
  read_fields(values, object, kOverheadFields, gpu.overheads);
}

// Which cores there are is a rule of the model.
constexpr IntRange kAnyCpu{0, kMaxCpus - 1};

constexpr std::array kGpuFields = {
    Field<Gpu>{"name", [](JsonValues& v, JsonValue j, Gpu& g) { v.read_string(j, g.name); }},
    Field<Gpu>{"sms", [](JsonValues& v, JsonValue j, Gpu& g) { v.read_integer(j, g.sms.emplace(), kSmsRange); }},
    Field<Gpu>{"copy_engines",
               [](JsonValues& v, JsonValue j, Gpu& g) { v.read_integer(j, g.copy_engines, kCopyEnginesRange); }},
    Field<Gpu>{"memory", [](JsonValues& v, JsonValue j, Gpu& g) { v.read_memory(j, g.memory.emplace()); }},
    Field<Gpu>{"stream_priorities",
               [](JsonValues& v, JsonValue j, Gpu& g) {
                 v.read_integer(j, g.stream_priorities.emplace(), kStreamPrioritiesRange);
               }},
    Field<Gpu>{"server_cpu", [](JsonValues& v, JsonValue j, Gpu& g) { v.read_integer(j, g.server_cpu, kAnyCpu); }},
    Field<Gpu>{"overheads", read_overheads}};

void read_gpus(JsonValues& values, JsonValue array, Draft& draft) {
  const std::size_t errors = values.report().size();
  if (values.expect(array, JsonKind::array, "an array of GPUs")) {
    std::vector<Gpu>& gpus = draft.taskset.platform.gpus;
    gpus.clear();
    for (const JsonValue value : array) {
      Gpu& gpu = gpus.emplace_back();
      gpu.name = fmt::format("gpu{}", gpus.size() - 1);
      if (values.expect(value, JsonKind::object, "an object that describes a GPU")) {
        read_fields(values, value, kGpuFields, gpu);
      }
    }
  }
  draft.scope.gpus = values.report().size() == errors;
}

void read_cpus(JsonValues& values, JsonValue value, Draft& draft) {
  const std::size_t errors = values.report().size();
  values.read_integer(value, draft.taskset.platform.cpus, kCpuCountRange);
  draft.scope.cpus = values.report().size() == errors;
}

constexpr std::size_t kCpusField = 0;
constexpr std::array kPlatformFields = {Field<Draft>{"cpus", read_cpus, "the number of cores"},
                                        Field<Draft>{"gpus", read_gpus}};

void read_platform(JsonValues& values, JsonValue object, Draft& draft) {
  if (!values.expect(object, JsonKind::object, "an object with cpus and gpus")) {
    draft.scope.cpus = draft.scope.gpus = false;
    return;
  }
  const auto seen = read_fields(values, object, kPlatformFields, draft);
  if (!seen[kCpusField]) draft.scope.cpus = false;
}

// --- tasks

constexpr std::array kWaitModes = {Choice<WaitMode>{"suspend", WaitMode::suspend},
                                   Choice<WaitMode>{"busy", WaitMode::busy}};
constexpr std::array kLockWaits = {Choice<LockWait>{"suspend", LockWait::suspend},
                                   Choice<LockWait>{"spin", LockWait::spin}};
constexpr std::size_t kDeadlineField = 2;
constexpr std::size_t kPriorityField = 3;
constexpr std::size_t kGpuPriorityField = 4;
constexpr std::array kTaskFields = {
    Field<Task>{"name", [](JsonValues& v, JsonValue j, Task& t) { v.read_string(j, t.name); }, "a name"},
    Field<Task>{"period", [](JsonValues& v, JsonValue j, Task& t) { v.read_time(j, t.period, Rounding::down); },
                "the time between releases"},
    Field<Task>{"deadline", [](JsonValues& v, JsonValue j, Task& t) { v.read_time(j, t.deadline, Rounding::down); }},
    Field<Task>{"priority", [](JsonValues& v, JsonValue j, Task& t) { v.read_integer(j, t.priority, kPriorityRange); }},
    Field<Task>{"gpu_priority",
                [](JsonValues& v, JsonValue j, Task& t) { v.read_integer(j, t.gpu_priority, kPriorityRange); }},
    Field<Task>{"cpu", [](JsonValues& v, JsonValue j, Task& t) { v.read_integer(j, t.cpu, kAnyCpu); }},
    Field<Task>{"wait", [](JsonValues& v, JsonValue j, Task& t) { v.read_choice(j, t.wait, kWaitModes); }},
    Field<Task>{"lock_wait", [](JsonValues& v, JsonValue j, Task& t) { v.read_choice(j, t.lock_wait, kLockWaits); }},
    Field<Task>{"best_effort", [](JsonValues& v, JsonValue j, Task& t) { v.read_boolean(j, t.best_effort); }},
    Field<Task>{"jitter", [](JsonValues& v, JsonValue j, Task& t) { v.read_time(j, t.jitter, Rounding::up); }},
    Field<Task>{"memory", [](JsonValues& v, JsonValue j, Task& t) { v.read_memory(j, t.memory.emplace()); }},
    Field<Task>{"sms", [](JsonValues& v, JsonValue j, Task& t) { v.read_integer(j, t.sms.emplace(1), kSmsRange); }},
    Field<Task>{"segments", [](JsonValues& v, JsonValue j, Task& t) { read_segments(v, j, t.segments); },
                "an array of at least one segment"}};

static_assert(kTaskFields[kDeadlineField].key == "deadline" && kTaskFields[kPriorityField].key == "priority" &&
              kTaskFields[kGpuPriorityField].key == "gpu_priority");

using TaskFields = std::bitset<kTaskFields.size()>;

void reject_deadline(JsonValues& values, JsonValue object) {
  for (const JsonValue member : object) {
    if (member.key() != "deadline") continue;
    return values.reject(member, ErrorCode::conflict, "no deadline, as the task is best-effort",
                         "Remove the deadline, or best_effort.");
  }
}

// Gives what could not be read a value that breaks no rule, so that the rules apply to the rest of the task and nothing
// is reported twice. The document is refused in any case.
void repair(Task& task, const TaskFields& faulty, std::size_t index) {
  const auto is_faulty = [&](std::string_view key) {
    return faulty[static_cast<std::size_t>(std::ranges::find(kTaskFields, key, &Field<Task>::key) -
                                           kTaskFields.begin())];
  };
  if (is_faulty("name")) task.name = fmt::format("\n{}", index);  // hardly the name of another task
  if (is_faulty("period")) task.period = kMaxTime;
  if (is_faulty("deadline")) task.deadline = task.period;
  if (is_faulty("segments")) task.segments.assign(1, CpuSegment{});
}

void read_task(JsonValues& values, JsonValue object, Draft& draft) {
  Task& task = draft.taskset.tasks.emplace_back();
  TaskFields seen;
  TaskFields faulty;
  const bool is_object = values.expect(object, JsonKind::object, "an object that describes a task");
  if (is_object) {
    seen = read_fields(values, object, kTaskFields, task, &faulty);
    if (task.best_effort && seen[kDeadlineField]) reject_deadline(values, object);
  }
  if (faulty.any()) repair(task, faulty, draft.nodes.size());
  if (!seen[kDeadlineField] || task.best_effort) task.deadline = task.period;
  draft.priority_given.push_back(seen[kPriorityField] && !faulty[kPriorityField]);
  draft.gpu_priority_given.push_back(seen[kGpuPriorityField] && !faulty[kGpuPriorityField]);
  draft.nodes.push_back(object.id());
  draft.scope.sound.push_back(is_object);
}

void read_tasks(JsonValues& values, JsonValue array, Draft& draft) {
  draft.scope.tasks = false;
  if (!values.expect(array, JsonKind::array, "an array of tasks")) return;
  const std::size_t count = array.size();
  if (count > kMaxTasks) {
    return values.report().add(array, ErrorCode::limit, fmt::format("{} tasks", count),
                               fmt::format("at most {} tasks", kMaxTasks));
  }
  draft.scope.tasks = true;
  draft.taskset.tasks.reserve(count);
  draft.nodes.reserve(count);
  for (const JsonValue task : array) read_task(values, task, draft);
}

// --- document

// The values of the top-level keys. They are read in an order of their own, as the time unit concerns all others.
struct TopLevel {
  std::optional<JsonValue> version, time_unit, platform, ties, tasks, origin;
};

template <std::optional<JsonValue> TopLevel::*member>
void keep(JsonValues& /*values*/, JsonValue value, TopLevel& top) {
  top.*member = value;
}

constexpr std::array kTopFields = {
    Field<TopLevel>{"rtgpu", keep<&TopLevel::version>, "1, the version of the format"},
    Field<TopLevel>{"time_unit", keep<&TopLevel::time_unit>},
    Field<TopLevel>{"platform", keep<&TopLevel::platform>, "an object with cpus and gpus"},
    Field<TopLevel>{"ties", keep<&TopLevel::ties>},
    Field<TopLevel>{"tasks", keep<&TopLevel::tasks>, "an array of tasks"},
    Field<TopLevel>{"origin", keep<&TopLevel::origin>}};

constexpr std::array kTimeUnits = {Choice<TimeUnit>{"ns", TimeUnit::ns}, Choice<TimeUnit>{"us", TimeUnit::us},
                                   Choice<TimeUnit>{"ms", TimeUnit::ms}, Choice<TimeUnit>{"s", TimeUnit::s}};
constexpr std::array kTies = {Choice<Ties>{"error", Ties::error}, Choice<Ties>{"by-order", Ties::by_order}};

void read_version(JsonValues& values, JsonValue value) {
  if (value.kind() == JsonKind::number && value.text() == "1") return;
  values.reject(value, value.kind() == JsonKind::number ? ErrorCode::value : ErrorCode::type, "1",
                "This program reads version 1 of the format.");
}

// Whether the time unit is known; without it the rules about times would compare what cannot be compared.
bool read_unit(JsonValues& values, JsonValue value) {
  const std::size_t errors = values.report().size();
  TimeUnit unit = TimeUnit::ms;
  values.read_choice(value, unit, kTimeUnits);
  values.set_unit(unit);
  return values.report().size() == errors;
}

void read_document(JsonValues& values, JsonValue root, Draft& draft) {
  TopLevel top;
  read_fields(values, root, kTopFields, top);
  if (top.version) read_version(values, *top.version);
  const bool unit_known = !top.time_unit || read_unit(values, *top.time_unit);
  draft.scope.cpus = draft.scope.gpus = top.platform.has_value();
  if (top.platform) read_platform(values, *top.platform, draft);
  if (top.ties) {
    const std::size_t errors = values.report().size();
    values.read_choice(*top.ties, draft.taskset.ties, kTies);
    // What the author wanted is not known, so that ties are not reported as well.
    if (values.report().size() != errors) draft.taskset.ties = Ties::by_order;
  }
  if (top.origin) read_origin(values, *top.origin, draft.taskset.origin);
  draft.scope.tasks = false;
  if (top.tasks) read_tasks(values, *top.tasks, draft);
  if (!unit_known) draft.scope.sound.assign(draft.scope.sound.size(), false);
}

void report_duplicates(JsonReport& report, const JsonDocument& document) {
  for (const NodeId id : document.duplicates()) {
    const JsonValue member = document.value(id);
    report.add(member, ErrorCode::duplicate_key, in_quotes(member.key()) + " for a second time", "each key once");
  }
}

NodeId node_of(std::string_view pointer, const JsonDocument& document, const Draft& draft) {
  constexpr std::string_view kTasks = "/tasks/";
  if (!pointer.starts_with(kTasks)) return document.resolve(pointer);
  std::string_view rest = pointer.substr(kTasks.size());
  std::size_t index = 0;
  const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), index);
  rest.remove_prefix(static_cast<std::size_t>(number.ptr - rest.data()));
  return document.resolve(rest, draft.nodes[index]);
}

void report_rules(JsonReport& report, const JsonDocument& document, const Draft& draft) {
  RuleErrors broken = check_rules(draft.taskset, draft.scope);
  report.add_uncounted(broken.count - broken.errors.size());
  for (Error& error : broken.errors) {
    const NodeId node = node_of(error.place.pointer, document, draft);
    report.add_at(node, std::move(error));
  }
}

std::vector<std::string> names_of_assigned(const Draft& draft) {
  std::vector<const Task*> assigned;
  for (std::size_t i = 0; i < draft.taskset.tasks.size(); ++i) {
    if (!draft.priority_given[i]) assigned.push_back(&draft.taskset.tasks[i]);
  }
  std::sort(assigned.begin(), assigned.end(), [](const Task* a, const Task* b) {
    return a->best_effort != b->best_effort ? b->best_effort : a->priority > b->priority;
  });
  std::vector<std::string> names;
  for (const Task* task : assigned) names.push_back(task->name);
  return names;
}

// --- texts that are not JSON

Error error_at(const TextPlace& place, const TextOrigin& origin, ErrorCode code) {
  Error error;
  error.code = code;
  error.place = {std::string(origin.source), "", origin.first_line - 1 + place.line, place.column};
  return error;
}

Error syntax_error(std::string_view text, const JsonFailure& failure, const TextOrigin& origin) {
  SyntaxProblem problem = explain_syntax(text, failure.bytes_read);
  Error error = error_at(place_of(text, problem.offset), origin, ErrorCode::syntax);
  error.found = std::move(problem.found);
  error.expected = std::move(problem.expected);
  error.advice = std::move(problem.advice);
  return error;
}

// A value that stopped the parser although it is JSON.
Error value_error(std::string_view text, const JsonFailure& failure, const JsonDocument& document,
                  const TextOrigin& origin) {
  Error error = error_at(locate(text, {failure.node}).front(), origin, ErrorCode::limit);
  error.place.pointer = document.pointer(failure.node);
  if (failure.kind == JsonFailure::Kind::depth) {
    error.found = fmt::format("a value {} levels deep", kMaxDepth + 1);
    error.expected = fmt::format("at most {} levels of arrays and objects", kMaxDepth);
  } else {
    error.found = describe(document.value(failure.node));
    error.expected = "a number below 1.8e308";
  }
  return error;
}

Error empty_document(const TextOrigin& origin) {
  Error error = error_at({}, origin, ErrorCode::syntax);
  error.found = "nothing";
  error.expected = "a taskset";
  error.advice = "The document is empty.";
  return error;
}

Error too_large(std::size_t size, const TextOrigin& origin) {
  Error error = error_at({}, origin, ErrorCode::limit);
  error.found = fmt::format("a document of {} bytes", size);
  error.expected = fmt::format("at most {} bytes", kMaxDocumentBytes);
  return error;
}

bool is_blank_document(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

struct TasksetReader::State {
  JsonDocument document;
};

TasksetReader::TasksetReader() : state_(std::make_unique<State>()) {}
TasksetReader::~TasksetReader() = default;
TasksetReader::TasksetReader(TasksetReader&&) noexcept = default;
TasksetReader& TasksetReader::operator=(TasksetReader&&) noexcept = default;

Result<LoadedTaskset> TasksetReader::read(std::string_view text, std::string_view source, std::size_t first_line) {
  const TextOrigin origin{source, first_line};
  if (text.size() > kMaxDocumentBytes) return too_large(text.size(), origin);
  if (is_blank_document(text.substr(byte_order_mark(text)))) return empty_document(origin);
  JsonDocument& document = state_->document;
  if (const auto failure = document.parse(text)) {
    if (failure->kind == JsonFailure::Kind::syntax) return syntax_error(text, *failure, origin);
    return value_error(text, *failure, document, origin);
  }
  JsonReport report(document);
  report_duplicates(report, document);
  JsonValues values(report, TimeUnit::ms);
  Draft draft;
  if (values.expect(document.root(), JsonKind::object, "an object: a taskset")) {
    read_document(values, document.root(), draft);
    assign_missing_priorities(draft.taskset, draft.priority_given, draft.gpu_priority_given);
    report_rules(report, document, draft);
  }
  if (report.size() > 0) return report.take(text, origin);
  std::vector<std::string> assigned = names_of_assigned(draft);
  return LoadedTaskset{std::move(draft.taskset), std::move(assigned)};
}

Result<LoadedTaskset> read_taskset(std::string_view text, std::string_view source) {
  return TasksetReader().read(text, source);
}

}  // namespace rtgpu
