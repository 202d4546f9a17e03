// The safe analysis of server: a GPU server task that serves one request at a time, by GPU priority.
//
// Serving a request takes Z = lock + misc + exec + lock: it is taken over, misc runs, the GPU works, the client is
// woken. All but exec, its host parts lock + misc and lock, runs on the server's core above all tasks there. Nothing
// delays a request that is being served.
//
// A request's window with the GPU lasts from the request until the client is woken. It waits for at most one request of
// a task below it on the GPU (best-effort ones included): the one that is being served when it, or the first of the
// higher ones it waits behind, is made. From then on the server takes tasks above it, whose requests count as in any
// window that begins when none of theirs is pending; those that came while the request of i before this one was served
// have waited for it, so arrivals count from its start. In the whole response the requests of i meet different ones of
// tasks below: one that is being served is done before i is. (See mpcp_safe.h; slices are no boundaries here.)
//
// On the core of i, in windows that begin when nothing above i is ready there:
//   - a task h of hpp(i) has its CPU time, ready at its release and at the ends of its requests. If it waits busily it
//     has the core from its release until its completion, as its windows with the GPU say;
//   - on the server's core, the host parts of the requests of all other tasks, whatever their priorities and cores. A
//     request is taken over at most Z before the latest end of its service, and its client woken at most lock before
//     (a bound grows by no less than the demand that is added to it). Host parts for h of hpp(i) that waits busily on
//     this core are part of its time there. A task below i on this core asks for nothing while i is ready: of it, one
//     request may be served in each core window;
//   - on the server's core, the host parts of the request of i itself keep tasks above it from the core before the next
//     core window of i begins: what became ready during them comes in that.
// Where a task elsewhere has no bound, its jobs may pile up, and its requests come one after another: then there is no
// bound for any task on the server's core either, unless the task has no host parts. That is so for best-effort tasks.
//
// Between being woken and going on, i needs its core for an instant, as after every wait.
//
// A job is charged, on the core and with the GPU together, no more than its CPU time and the service of its requests,
// each of which keeps i from the core or from the server at any instant; where it waits busily, its windows with the
// devices in place of the service.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_server_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
