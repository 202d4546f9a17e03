#include "tools/run_taskset.h"

#include "analysis/falsification/counterexample.h"
#include "runtime/runtime.h"
#include "taskset/json.h"
#include "tools/format/live_text.h"
#include "tools/format/report.h"
#include "tools/format/run.h"
#include "tools/format/simulation_report.h"
#include "tools/live_line.h"
#include "tools/messages.h"
#include "tools/stop_on_signal.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

Error input_error(ErrorCode code, const DocumentStream& documents, std::string found, std::string advice) {
  Error error;
  error.code = code;
  error.place.source = documents.name();
  error.found = std::move(found);
  error.expected = "one taskset";
  error.advice = std::move(advice);
  return error;
}

Result<LoadedTaskset> read_one(DocumentStream& documents) {
  const Result<std::optional<DocumentText>> first = documents.next();
  if (!first) return first.errors();
  if (!*first) return input_error(ErrorCode::missing, documents, "no taskset", "");
  if (is_counterexample((*first)->text)) {
    return input_error(ErrorCode::unsupported, documents, "a counterexample",
                       "rtgpu simulate replays it; or give its taskset alone.");
  }
  Result<LoadedTaskset> loaded = TasksetReader().read((*first)->text, documents.name(), (*first)->line);
  if (!loaded) return loaded;
  const Result<std::optional<DocumentText>> second = documents.next();
  if (!second) return second.errors();
  if (*second) {
    return input_error(ErrorCode::conflict, documents, "several tasksets", "Put the one to run in a file of its own.");
  }
  return loaded;
}

// What the taskset has that no run can be made of.
Errors unrunnable(const Taskset& taskset, const std::string& source) {
  Errors errors;
  const auto add = [&](std::string pointer, std::string found, std::string expected, std::string advice) {
    errors.push_back(Error{ErrorCode::unsupported, Place{source, std::move(pointer), 0, 0}, std::move(found),
                           std::move(expected), std::move(advice)});
  };
  if (taskset.platform.gpus.size() != 1) {
    add("/platform/gpus", fmt::format("{} GPUs", taskset.platform.gpus.size()), "one GPU",
        "Run each GPU with its tasks as a taskset of its own.");
    return errors;
  }
  for (std::size_t task = 0; task < taskset.tasks.size(); ++task) {
    const std::vector<Segment>& segments = taskset.tasks[task].segments;
    for (std::size_t place = 0; place < segments.size(); ++place) {
      const auto* gpu = std::get_if<GpuSegment>(&segments[place]);
      if (gpu == nullptr || whole_gpu_exec(*gpu, taskset.platform.gpus.front().sms)) continue;
      add(fmt::format("/tasks/{}/segments/{}/gpu", task, place), "an execution time that depends on the number of SMs",
          "the execution time on the whole GPU", "Give exec, or platform.gpus[0].sms.");
    }
  }
  if (taskset.tasks.empty()) add("/tasks", "no task", "at least one", "");
  return errors;
}

void set_wait(Taskset& taskset, WaitChoice choice) {
  if (choice == WaitChoice::file) return;
  for (Task& task : taskset.tasks) {
    const bool uses_device = std::ranges::any_of(
        task.segments, [](const Segment& segment) { return !std::holds_alternative<CpuSegment>(segment); });
    if (uses_device) task.wait = choice == WaitChoice::busy ? WaitMode::busy : WaitMode::suspend;
  }
}

RuntimeOptions runtime_options(const RunRequest& request, const Taskset& taskset) {
  RuntimeOptions options;
  options.device = request.device;
  options.policy = to_string(request.policy);
  options.trace = request.trace;
  options.gpu = taskset.platform.gpus.front();
  options.realtime = request.realtime;
  options.virtual_time = request.virtual_time;
  options.measure = !request.virtual_time && request.without_bounds().empty();
  return options;
}

bool is_too_many_cores(const Error& error) {
  return error.code == ErrorCode::limit && error.place.pointer == "/platform/cpus";
}

// Why there was no run. A device that is not there cannot be done without.
ExitStatus refuse(Errors errors, const std::string& source, bool has_device) {
  bool environment = false;
  bool privileges = false;
  for (Error& error : errors) {
    if (error.place.source.empty() && !error.place.pointer.empty()) error.place.source = source;
    environment = environment || error.code == ErrorCode::environment || is_too_many_cores(error);
    privileges = privileges || (has_device && error.code == ErrorCode::environment);
    if (is_too_many_cores(error)) {
      error.advice = "Use fewer cores, or --share-cores, with which no bound holds; --virtual-time needs none.";
    }
  }
  print_errors(errors);
  if (privileges) print_hint("--allow-degraded runs without; --scheduler normal and --virtual-time need no privileges");
  return environment ? ExitStatus::environment : ExitStatus::usage;
}

Format format_of(const RunRequest& request, const StandardOutput& output) {
  return request.format.value_or(output.is_terminal() ? Format::table : Format::json);
}

void append(std::string& out, Format format, const RunResult& result) {
  switch (format) {
    case Format::table:
      return append_table(out, result);
    case Format::csv:
      return append_csv(out, result);
    case Format::json:
    case Format::ndjson:
      return append_json(out, result);
  }
}

class TasksetRun {
 public:
  // All outlive the object. Both may throw SetupError.
  TasksetRun(const RunRequest& request, LoadedTaskset loaded, const std::string& source);
  ExitStatus run(StandardOutput& output);

 private:
  bool find_bounds();
  void find_bounds_as_measured();
  // Returns when it has ended; ExitStatus::environment if its trace could not be written.
  ExitStatus execute();
  std::string live_text(std::chrono::steady_clock::time_point start) const;
  void tell(Format format) const;

  const RunRequest& request_;
  Runtime runtime_;
  RunResult result_;
  std::vector<std::optional<Duration>> bounds_;
};

TasksetRun::TasksetRun(const RunRequest& request, LoadedTaskset loaded, const std::string& source)
    : request_(request), runtime_(runtime_options(request, loaded.taskset)) {
  result_.source = source;
  result_.loaded = std::move(loaded);
  result_.device = request.device;
  result_.duration = request.duration;
  result_.choices = request.choices;
  result_.trial = request.trial;
  result_.check_bounds = request.check_bounds;
  result_.notes = notes(result_.loaded);
  Taskset& taskset = result_.loaded.taskset;
  set_wait(taskset, request.wait);
  result_.wait = wait_label(taskset, WaitChoice::file);
  runtime_.add_taskset(taskset, scenario_of_trial(taskset, request.choices, request.trial));
}

ExitStatus TasksetRun::run(StandardOutput& output) {
  if (!find_bounds()) return ExitStatus::usage;
  const ExitStatus written = execute();
  find_bounds_as_measured();
  result_.report = runtime_.report();
  for (const std::string& note : result_.report.notes) result_.notes.push_back(note);
  const Format format = format_of(request_, output);
  tell(format);
  append(output.buffer(), format, result_);
  output.flush();
  if (written != ExitStatus::yes) return written;
  return result_.is_yes() ? ExitStatus::yes : ExitStatus::no;
}

// False if they are to be checked and the taskset is not covered, which has been told then.
bool TasksetRun::find_bounds() {
  bounds_.resize(runtime_.task_count());
  if (const std::string_view option = request_.without_bounds(); !option.empty()) {
    result_.notes.push_back(
        fmt::format("no bound is claimed: with {} tasks do not run as the analysis assumes", option));
    return true;
  }
  Admission admission = runtime_.admit();
  for (std::size_t task = 0; task < bounds_.size(); ++task) bounds_[task] = admission.bound(task);
  result_.declared_bounds = bounds_;
  result_.analysis = std::move(admission.analysis);
  if (!admission.errors.empty()) {
    for (Error& error : admission.errors) error.place.source = result_.source;
    if (request_.check_bounds) {
      print_errors(admission.errors);
      return false;
    }
    for (const Error& error : admission.errors) result_.notes.push_back("no bounds: " + to_string(error));
  }
  return true;
}

// What the machine took meanwhile is part of what has to hold. Does nothing where nothing was measured.
void TasksetRun::find_bounds_as_measured() {
  if (!runtime_.measured()) return;
  Duration window;
  for (const Task& task : result_.loaded.taskset.tasks) window = std::max(window, task.deadline);
  result_.notes.push_back("bounds count what the machine took: " + describe(*runtime_.measured(), window));
  Admission admission = runtime_.admit_as_measured();
  for (const Error& error : admission.errors) result_.notes.push_back("no bounds: " + to_string(error));
  result_.analysis = std::move(admission.analysis);
}

ExitStatus TasksetRun::execute() {
  const StopOnSignal signals(runtime_);
  if (!request_.virtual_time) {
    print_hint(fmt::format("running {} under {} on {} for {}", result_.source, to_string(request_.policy),
                           request_.device, to_string(request_.duration)));
  }
  ExitStatus status = ExitStatus::yes;
  try {
    const auto start = std::chrono::steady_clock::now();
    const LiveLine line(std::cerr, isatty(STDERR_FILENO) == 1, {request_.virtual_time ? 1000ms : 250ms, 250ms},
                        [this, start] { return live_text(start); });
    runtime_.run_for(request_.duration);
  } catch (const SetupError& error) {
    // The run was, but could not be written: it is told all the same.
    if (error.errors().front().code != ErrorCode::io) throw;
    print_errors(error.errors());
    status = ExitStatus::environment;
  }
  result_.interrupted = signals.stopped();
  return status;
}

std::string TasksetRun::live_text(std::chrono::steady_clock::time_point start) const {
  std::vector<LiveTask> tasks;
  for (std::size_t index = 0; index < runtime_.task_count(); ++index) {
    const TaskHandle& task = runtime_.task(index);
    tasks.push_back({task.name(), task.jobs(), task.misses(), task.max_response(), bounds_[index]});
  }
  std::optional<Duration> elapsed;
  if (!request_.virtual_time) {
    elapsed = Duration::nanoseconds(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  }
  return rtgpu::live_text(tasks, elapsed, request_.duration);
}

// What has no place in the rows.
void TasksetRun::tell(Format format) const {
  const bool normal = !request_.virtual_time && request_.realtime.scheduler == Scheduler::normal;
  if (request_.check_bounds && (normal || !result_.report.realtime.all_granted())) {
    print_note(normal ? "the bounds assume real-time scheduling, which was not asked for"
                      : "not all that was asked of the machine was granted: the bounds hold only where it is");
  }
  if (format != Format::csv) return;
  for (const std::string& note : result_.notes) print_note(note);
  for (const RealtimeItem& item : not_granted(result_.report.realtime)) print_note(to_string(item) + ". " + item.mend);
}

}  // namespace

ExitStatus run_taskset(const RunRequest& request, DocumentStream& documents, StandardOutput& output) {
  Result<LoadedTaskset> loaded = read_one(documents);
  const Errors errors = loaded ? unrunnable(loaded->taskset, documents.name()) : loaded.errors();
  if (!errors.empty()) {
    print_errors(errors);
    return ExitStatus::usage;
  }
  std::optional<TasksetRun> run;
  try {
    run.emplace(request, *std::move(loaded), documents.name());
    return run->run(output);
  } catch (const SetupError& error) {
    return refuse(error.errors(), documents.name(), run.has_value());
  } catch (const std::system_error& error) {
    print_error(fmt::format("cannot run: {}", error.what()));
    return ExitStatus::environment;
  }
}

}  // namespace rtgpu
