/* The runtime for C, and for languages that call C: a thin layer over runtime/runtime.h, which says what everything
 * means. Times are nanoseconds. Functions that can fail return an rtgpu_status; rtgpu_last_error() then says what,
 * where, what was expected and what to do. Nothing throws. One thread sets a runtime up and runs it; rtgpu_stop() and
 * rtgpu_trigger() may be called from any thread and from signal handlers. */
#ifndef RTGPU_C_RTGPU_H
#define RTGPU_C_RTGPU_H

/* The names and declarations of C.
 * NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using,readability-identifier-naming) */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* of the CUDA driver: CUstream and cudaStream_t are pointers to it */

typedef struct rtgpu_runtime rtgpu_runtime;
typedef struct rtgpu_job rtgpu_job;

typedef enum rtgpu_status {
  RTGPU_OK = 0,
  RTGPU_BAD_SETUP = 1,   /* what was asked for makes no sense, or does not fit */
  RTGPU_ENVIRONMENT = 2, /* the machine or its settings do not allow it */
  RTGPU_DEFECT = 70      /* of rtgpu itself */
} rtgpu_status;

/* How a call of a job ended; the order of rtgpu::GpuStatus. */
typedef enum rtgpu_gpu_status {
  RTGPU_GPU_OK = 0,
  RTGPU_GPU_NOT_INSIDE,
  RTGPU_GPU_ALREADY_INSIDE,
  RTGPU_GPU_NOT_OWN_JOB,
  RTGPU_GPU_ABORTED,
  RTGPU_GPU_FAILED,
  RTGPU_GPU_DEVICE_LOST,
  RTGPU_GPU_TOO_MUCH_WORK,
  RTGPU_GPU_NOT_SUPPORTED,
  RTGPU_GPU_FORKED
} rtgpu_gpu_status;

typedef enum rtgpu_overrun { RTGPU_KEEP_ON = 0, RTGPU_SKIP = 1, RTGPU_ABORT = 2 } rtgpu_overrun;

/* 0 and NULL mean the default everywhere. */
typedef struct rtgpu_options {
  const char* device; /* "host"; "host:compute", "cuda", "cuda:1", ... */
  const char* policy; /* "mpcp" */
  const char* trace;  /* file for a Chrome trace */
  int allow_degraded; /* run even if real-time scheduling is refused */
  int no_real_time;   /* ask for the default scheduler, and lock no memory */
  int virtual_time;
} rtgpu_options;

typedef struct rtgpu_task {
  const char* name;
  int64_t period_ns;
  int64_t deadline_ns; /* 0: the period */
  int priority;
  int cpu;
  int gpu_priority; /* 0: the priority */
  int busy_wait;    /* keeps its core while its GPU work is pending */
  int best_effort;
  int triggered; /* released by rtgpu_trigger(), at least a period apart */
  rtgpu_overrun overrun;
  int64_t cpu_budget_ns; /* 0: none */
  int64_t watchdog_ns;   /* 0: none */
  int64_t memory;        /* bytes of device memory */
} rtgpu_task;

typedef struct rtgpu_task_report {
  const char* name; /* valid until the next call of rtgpu_task_report_of() */
  int64_t jobs, misses, skipped, aborted, gpu_failures, faults, misuses;
  int64_t min_response_ns, mean_response_ns, max_response_ns;
  int64_t bound_ns; /* of the response time; -1: none */
} rtgpu_task_report;

typedef void (*rtgpu_job_function)(rtgpu_job* job, void* user);
/* A kernel of a host device: called for each block, on the SM with that number. */
typedef void (*rtgpu_kernel)(void* user, int64_t block, int sm);

/* NULL: failed, and `error` (may be NULL) holds why, cut to `size`. */
rtgpu_runtime* rtgpu_create(const rtgpu_options* options, char* error, size_t size);
void rtgpu_destroy(rtgpu_runtime* runtime);
/* Of the last call that failed. Valid until the next one that does. */
const char* rtgpu_last_error(const rtgpu_runtime* runtime);

/* `task` may go after the call. Tasks count from 0 in the order in which they are added. */
rtgpu_status rtgpu_add_task(rtgpu_runtime* runtime, const rtgpu_task* task, rtgpu_job_function function, void* user);
/* Every task of a taskset file's text, doing what its segments declare. */
rtgpu_status rtgpu_add_taskset(rtgpu_runtime* runtime, const char* json);
/* Whether every deadline holds; rtgpu_last_error() explains a no. */
rtgpu_status rtgpu_admit(rtgpu_runtime* runtime, int* schedulable);
rtgpu_status rtgpu_run_for(rtgpu_runtime* runtime, int64_t time_ns);
void rtgpu_stop(rtgpu_runtime* runtime);
void rtgpu_trigger(rtgpu_runtime* runtime, size_t task);

/* Of the last run. The text is valid until the next call. */
const char* rtgpu_report(rtgpu_runtime* runtime);
rtgpu_status rtgpu_task_report_of(rtgpu_runtime* runtime, size_t task, rtgpu_task_report* report);

/* For the function of a job, on its thread. */
int64_t rtgpu_job_number(const rtgpu_job* job);
int64_t rtgpu_job_release_ns(const rtgpu_job* job);
int64_t rtgpu_job_deadline_ns(const rtgpu_job* job);
int64_t rtgpu_job_now_ns(const rtgpu_job* job);
int rtgpu_job_aborted(const rtgpu_job* job);
/* A CPU segment that takes this long. */
void rtgpu_job_spend(rtgpu_job* job, int64_t time_ns);
/* A GPU segment: enter, launch or run, leave. leave hands the work to the device and waits for its end. */
rtgpu_gpu_status rtgpu_job_enter(rtgpu_job* job, const char* name);
void rtgpu_job_launch(rtgpu_job* job, int64_t blocks, rtgpu_kernel kernel, void* user);
void rtgpu_job_run(rtgpu_job* job, int64_t time_ns);
/* Between enter and leave: the task's own CUDA stream, for what is launched into it as Stream::cuda() says. On a device
 * that is not CUDA: NULL, and leave answers RTGPU_GPU_NOT_SUPPORTED. */
struct CUstream_st* rtgpu_job_cuda_stream(rtgpu_job* job);
/* What is launched from here on is the next slice. What goes into a CUDA stream is there at once, and is in none. */
void rtgpu_job_end_slice(rtgpu_job* job);
rtgpu_gpu_status rtgpu_job_leave(rtgpu_job* job);
rtgpu_gpu_status rtgpu_job_copy(rtgpu_job* job, int to_host, void* to, const void* from, size_t bytes);
const char* rtgpu_gpu_status_text(rtgpu_gpu_status status);

/* NOLINTEND(modernize-deprecated-headers,modernize-use-using,readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
