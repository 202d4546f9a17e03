#include "runtime/c/rtgpu.h"

#include "runtime/runtime.h"
#include "taskset/json.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct rtgpu_runtime {
  explicit rtgpu_runtime(rtgpu::RuntimeOptions options) : runtime(std::move(options)) {}

  rtgpu::Runtime runtime;
  std::vector<rtgpu::TaskHandle*> triggered;  // by task; none: not released by triggers
  std::string error;
  std::string text;
  rtgpu::RunReport report;
};

struct rtgpu_job {
  rtgpu::Job& job;
};

namespace {

using rtgpu::Duration;

rtgpu_status status_of(const rtgpu::Errors& errors) {
  const bool all = std::all_of(errors.begin(), errors.end(),
                               [](const rtgpu::Error& error) { return error.code == rtgpu::ErrorCode::environment; });
  return all ? RTGPU_ENVIRONMENT : RTGPU_BAD_SETUP;
}

// Does `work`; what it throws becomes a status and `error`.
template <class Work>
rtgpu_status guarded(std::string& error, const Work& work) noexcept {
  try {
    work();
    return RTGPU_OK;
  } catch (const rtgpu::SetupError& failed) {
    error = failed.what();
    return status_of(failed.errors());
  } catch (const std::exception& defect) {
    error = defect.what();
  } catch (...) {
    error = "an exception that is not a std::exception";
  }
  return RTGPU_DEFECT;
}

std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

rtgpu::RuntimeOptions options_of(const rtgpu_options* given) {
  rtgpu::RuntimeOptions options;
  if (given == nullptr) return options;
  options.device = text_or(given->device, options.device.c_str());
  options.policy = text_or(given->policy, options.policy.c_str());
  options.trace = text_or(given->trace, "");
  options.virtual_time = given->virtual_time != 0;
  options.realtime.allow_degraded = given->allow_degraded != 0;
  if (given->no_real_time != 0) {
    options.realtime.scheduler = rtgpu::Scheduler::normal;
    options.realtime.lock_memory = false;
  }
  return options;
}

rtgpu::Overrun overrun_of(rtgpu_overrun overrun) {
  switch (overrun) {
    case RTGPU_SKIP:
      return rtgpu::Overrun::skip;
    case RTGPU_ABORT:
      return rtgpu::Overrun::abort;
    case RTGPU_KEEP_ON:
      break;
  }
  return rtgpu::Overrun::keep_on;
}

rtgpu::TaskSetup setup_of(const rtgpu_task& task) {
  rtgpu::TaskSetup setup;
  setup.name = text_or(task.name, "");
  setup.period = Duration::nanoseconds(task.period_ns);
  setup.deadline = Duration::nanoseconds(task.deadline_ns);
  setup.priority = task.priority;
  if (task.gpu_priority != 0) setup.gpu_priority = task.gpu_priority;
  setup.cpu = task.cpu;
  setup.wait = task.busy_wait != 0 ? rtgpu::WaitMode::busy : rtgpu::WaitMode::suspend;
  setup.best_effort = task.best_effort != 0;
  if (task.triggered != 0) setup.released_by = rtgpu::ReleasedBy::trigger;
  setup.overrun = overrun_of(task.overrun);
  if (task.cpu_budget_ns != 0) setup.cpu_budget = Duration::nanoseconds(task.cpu_budget_ns);
  if (task.watchdog_ns != 0) setup.watchdog = Duration::nanoseconds(task.watchdog_ns);
  if (task.memory != 0) setup.memory = task.memory;
  return setup;
}

rtgpu_gpu_status status_of(rtgpu::GpuStatus status) {
  return static_cast<rtgpu_gpu_status>(status);
}

}  // namespace

rtgpu_runtime* rtgpu_create(const rtgpu_options* options, char* error, size_t size) {
  std::unique_ptr<rtgpu_runtime> made;
  std::string why;
  const rtgpu_status status = guarded(why, [&] { made = std::make_unique<rtgpu_runtime>(options_of(options)); });
  if (status != RTGPU_OK && error != nullptr && size > 0) {
    const std::size_t length = std::min(size - 1, why.size());
    std::memcpy(error, why.data(), length);
    error[length] = '\0';
  }
  return made.release();
}

void rtgpu_destroy(rtgpu_runtime* runtime) {
  const std::unique_ptr<rtgpu_runtime> gone(runtime);
}

const char* rtgpu_last_error(const rtgpu_runtime* runtime) {
  return runtime->error.c_str();
}

rtgpu_status rtgpu_add_task(rtgpu_runtime* runtime, const rtgpu_task* task, rtgpu_job_function function, void* user) {
  return guarded(runtime->error, [&] {
    rtgpu::Runtime::Body body;
    if (function != nullptr) {
      body = [function, user](rtgpu::Job& job) {
        rtgpu_job handed{job};
        function(&handed, user);
      };
    }
    rtgpu::TaskHandle& added = runtime->runtime.add_task(setup_of(*task), std::move(body));
    runtime->triggered.push_back(task->triggered != 0 ? &added : nullptr);
  });
}

rtgpu_status rtgpu_add_taskset(rtgpu_runtime* runtime, const char* json) {
  return guarded(runtime->error, [&] {
    const auto loaded = rtgpu::read_taskset(json);
    if (!loaded) throw rtgpu::SetupError(loaded.errors());
    runtime->runtime.add_taskset(loaded->taskset);
    runtime->triggered.resize(runtime->runtime.taskset().tasks.size(), nullptr);
  });
}

rtgpu_status rtgpu_admit(rtgpu_runtime* runtime, int* schedulable) {
  return guarded(runtime->error, [&] {
    const rtgpu::Admission admission = runtime->runtime.admit();
    *schedulable = admission.schedulable ? 1 : 0;
    if (!admission.schedulable) runtime->error = admission.explain();
  });
}

rtgpu_status rtgpu_run_for(rtgpu_runtime* runtime, int64_t time_ns) {
  return guarded(runtime->error, [&] { runtime->runtime.run_for(Duration::nanoseconds(time_ns)); });
}

void rtgpu_stop(rtgpu_runtime* runtime) {
  runtime->runtime.stop();
}

void rtgpu_trigger(rtgpu_runtime* runtime, size_t task) {
  if (task < runtime->triggered.size() && runtime->triggered[task] != nullptr) runtime->triggered[task]->trigger();
}

const char* rtgpu_report(rtgpu_runtime* runtime) {
  guarded(runtime->error, [&] { runtime->text = to_string(runtime->runtime.report()); });
  return runtime->text.c_str();
}

rtgpu_status rtgpu_task_report_of(rtgpu_runtime* runtime, size_t task, rtgpu_task_report* report) {
  return guarded(runtime->error, [&] {
    runtime->report = runtime->runtime.report();
    if (task >= runtime->report.tasks.size()) {
      throw rtgpu::SetupError({rtgpu::Error{rtgpu::ErrorCode::value,
                                            rtgpu::Place{},
                                            "task " + std::to_string(task),
                                            "one below " + std::to_string(runtime->report.tasks.size()),
                                            {}}});
    }
    const rtgpu::TaskReport& of = runtime->report.tasks[task];
    const rtgpu::TaskStatistics& seen = of.seen;
    *report = {of.name.c_str(),
               seen.jobs,
               seen.misses,
               seen.skipped,
               seen.aborted,
               seen.gpu_failures,
               seen.faults,
               seen.misuses,
               seen.response.min().count(),
               seen.response.mean().value_or(Duration()).count(),
               seen.response.max().count(),
               of.bound ? of.bound->count() : -1};
  });
}

int64_t rtgpu_job_number(const rtgpu_job* job) {
  return job->job.number();
}
int64_t rtgpu_job_release_ns(const rtgpu_job* job) {
  return job->job.release().count();
}
int64_t rtgpu_job_deadline_ns(const rtgpu_job* job) {
  return job->job.deadline().count();
}
int64_t rtgpu_job_now_ns(const rtgpu_job* job) {
  return job->job.now().count();
}
int rtgpu_job_aborted(const rtgpu_job* job) {
  return job->job.aborted() ? 1 : 0;
}
void rtgpu_job_spend(rtgpu_job* job, int64_t time_ns) {
  job->job.spend(Duration::nanoseconds(time_ns));
}
rtgpu_gpu_status rtgpu_job_enter(rtgpu_job* job, const char* name) {
  return status_of(job->job.enter(name == nullptr ? "" : name));
}
void rtgpu_job_launch(rtgpu_job* job, int64_t blocks, rtgpu_kernel kernel, void* user) {
  job->job.stream().launch(blocks, [kernel, user](const rtgpu::Block& block) { kernel(user, block.index, block.sm); });
}
void rtgpu_job_run(rtgpu_job* job, int64_t time_ns) {
  job->job.stream().run(Duration::nanoseconds(time_ns));
}
CUstream_st* rtgpu_job_cuda_stream(rtgpu_job* job) {
  return job->job.stream().cuda();
}
void rtgpu_job_end_slice(rtgpu_job* job) {
  job->job.end_slice();
}
rtgpu_gpu_status rtgpu_job_leave(rtgpu_job* job) {
  return status_of(job->job.leave());
}
rtgpu_gpu_status rtgpu_job_copy(rtgpu_job* job, int to_host, void* to, const void* from, size_t bytes) {
  rtgpu::CopyRequest request;
  request.to = static_cast<std::byte*>(to);
  request.from = static_cast<const std::byte*>(from);
  request.bytes = bytes;
  request.direction = to_host != 0 ? rtgpu::CopyDirection::to_host : rtgpu::CopyDirection::to_device;
  return status_of(job->job.copy("copy", request));
}
const char* rtgpu_gpu_status_text(rtgpu_gpu_status status) {
  return to_string(static_cast<rtgpu::GpuStatus>(status)).data();
}
