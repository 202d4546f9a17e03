// A GPU access policy as a deterministic state machine: events in, decisions out. No clock, no thread, no I/O, and no
// allocation after construction. The simulator and the runtime drive the same object.
//
// A GPU segment of a task goes through these events:
//
//   enter ──► (waits until granted) ──► entered ──► submit ──► complete ──► leave ──► (waits until granted) ──► left
//             the enter call runs       misc        exec                              the leave call runs
//
// The driver (simulator or runtime) tells what happened; the policy answers who may go on and what the GPU runs. An
// enter or leave call that is granted takes enter_cost() or leave_cost() on the task's core; then the driver reports
// entered or left. (Under the policy server, calls and misc run on another core: see served().) A task may be cancelled
// at any moment, and may leave without having submitted anything.
//
// Not synchronised: one driver at a time.
#pragma once

#include "rtgpu/policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

namespace rtgpu {

// Position of a task among the tasks the policy was made for.
using TaskId = std::uint32_t;
inline constexpr TaskId kNobody = std::numeric_limits<TaskId>::max();

// What a policy knows of a task.
struct PolicyTask {
  // Larger is higher. Equal ones rank in the order of the tasks.
  int gpu_priority = 0;
  // Ranks below every real-time task, whatever its priority.
  bool best_effort = false;
  bool uses_gpu = true;
};

// What a policy is made for.
struct PolicySetup {
  std::vector<PolicyTask> tasks;
  Duration runlist_update;  // epsilon
  Duration context_switch;  // theta
  Duration time_slice;      // L; tsg-rr needs it above 0
  Duration lock;
  int stream_levels = 0;  // stream-priority needs it above 0
};

// Where a task is between two events.
enum class Phase : std::uint8_t {
  idle,           // outside any segment
  enter_waiting,  // asked to enter, not yet granted
  entering,       // granted: its enter call runs
  inside,         // may run misc and submit
  submitted,      // its work is with the GPU: running, or pending
  completed,      // its work is done
  leave_waiting,  // asked to leave, not yet granted
  leaving,        // granted: its leave call runs
};

// When a running work may be interrupted other than at its end.
enum class Boundary : std::uint8_t {
  none,        // at any moment, or never: no boundary event is wanted
  slice,       // at the end of each slice of the segment but the last
  block,       // at the end of a thread block, when wants_boundary() says so
  time_slice,  // after time_slice() of running since it was put on the GPU or since its last boundary
};

// What the GPU does from now on.
struct GpuState {
  TaskId runs = kNobody;  // whose work executes; kNobody: nothing
  // The GPU first moves to another context, which takes context_switch of the setup.
  bool switches = false;
  friend bool operator==(const GpuState&, const GpuState&) = default;
};

// Why an event was refused; the state is then as before.
enum class Misuse : std::uint8_t {
  none,
  unknown_task,    // no such task
  already_inside,  // enter without having left
  not_inside,      // submit, leave, entered or left in a phase that does not allow it
  not_running,     // complete or boundary for work that the GPU does not run
};

struct Decision {
  Misuse misuse = Misuse::none;
  // The task that may run its enter or leave call now. It may be the one that asked, or one that waited.
  TaskId granted = kNobody;
  // Whether gpu() has changed; when its work is switched away from it, a task's work keeps its progress.
  bool gpu_changed = false;
};

class GpuPolicy {
 public:
  virtual ~GpuPolicy() = default;
  GpuPolicy& operator=(const GpuPolicy&) = delete;

  // Events. Each is O(number of tasks) at most, constant where it matters (see the policies).
  Decision enter(TaskId task);     // asks to be let in
  Decision entered(TaskId task);   // the granted enter call has ended
  Decision submit(TaskId task);    // misc is done: exec is ready for the GPU
  Decision boundary(TaskId task);  // the work that runs may be interrupted here
  Decision complete(TaskId task);  // the work that runs, or one that does, has ended
  // As complete(), for work that the GPU does not run as far as the policy knows: hardware that chooses by itself among
  // submitted work may let some overtake. Only of policies that let hardware choose; others answer not_running.
  Decision overtaken(TaskId task);
  Decision leave(TaskId task);   // asks to leave
  Decision left(TaskId task);    // the granted leave call has ended
  Decision cancel(TaskId task);  // the task leaves every queue and set at once, whatever its phase

  // Back to the state after construction.
  void reset();

  // Whose work the GPU runs; nobody's where it runs all that is submitted.
  const GpuState& gpu() const { return gpu_; }
  // Whether all submitted work runs at once, from its submission until it is complete: each task has SMs of its own.
  virtual bool runs_all_submitted() const { return false; }
  // The task that runs above every normal priority of its core, if any.
  virtual TaskId boosted() const { return kNobody; }
  // With a server: the task whose enter call, misc or leave call is to run now, above every priority of the server's
  // core. The task itself does as its wait mode says from its request until it has left.
  virtual TaskId served() const { return kNobody; }
  // Which boundaries the running work has to report.
  virtual Boundary boundary_kind() const { return Boundary::none; }
  // With Boundary::block and Boundary::time_slice: whether something waits for the running work's boundary. Without
  // that a boundary changes nothing and need not be reported.
  virtual bool wants_boundary() const { return false; }
  Duration time_slice() const { return setup_.time_slice; }
  Duration context_switch() const { return setup_.context_switch; }
  virtual Duration enter_cost() const { return {}; }
  virtual Duration leave_cost() const { return {}; }
  // The stream level of a task, 0 the highest; 0 for all where the policy has none.
  virtual int level(TaskId /*task*/) const { return 0; }

  // 0 is the highest: real-time tasks by GPU priority, then best-effort ones; ties by position.
  std::uint32_t rank(TaskId task) const { return ranks_[task]; }
  Phase phase(TaskId task) const { return phases_[task]; }
  std::size_t task_count() const { return phases_.size(); }

  // All that decides what the policy will do, as numbers: two policies of one kind and setup with the same state answer
  // the same events alike. For exploring them and for diagnosis; allocates.
  std::vector<std::uint64_t> state() const;

 protected:
  explicit GpuPolicy(PolicySetup setup);
  // The policies themselves can be copied.
  GpuPolicy(const GpuPolicy&) = default;

  // What the policies implement. The phase is already the new one when these are called, except for on_cancel, which is
  // called with the phase the task was in; it is idle afterwards. on_enter and on_leave call grant() for the task
  // itself or leave it waiting.
  virtual void on_enter(TaskId task) = 0;
  virtual void on_entered(TaskId task) = 0;
  virtual void on_submit(TaskId task) = 0;
  virtual void on_boundary(TaskId /*task*/) {}
  virtual void on_complete(TaskId task) = 0;
  virtual bool lets_hardware_choose() const { return false; }
  virtual void on_overtaken(TaskId /*task*/) {}
  virtual void on_leave(TaskId task) = 0;
  virtual void on_left(TaskId task) = 0;
  virtual void on_cancel(TaskId task, Phase was) = 0;
  // Every task has been cancelled: what else the policy remembers goes back to its start.
  virtual void on_reset() {}
  // What the policy remembers beyond phases and gpu(); where the order of requests counts, their order and no counter.
  virtual void append_state(std::vector<std::uint64_t>& state) const = 0;

  // Moves a waiting task on: enter_waiting -> entering, leave_waiting -> leaving. At most once an event.
  void grant(TaskId task);
  // Decides what the GPU runs; kNobody: nothing. Charges a context switch if `with_switch`.
  void run_on_gpu(TaskId task, bool with_switch = false);

  const PolicySetup& setup() const { return setup_; }

 private:
  template <class Act>
  Decision event(TaskId task, std::initializer_list<Phase> allowed, Misuse otherwise, Act act);

  PolicySetup setup_;
  std::vector<std::uint32_t> ranks_;
  std::vector<Phase> phases_;
  GpuState gpu_;
  Decision decision_;
};

// The state machine of a policy. Errors (unsupported): a setup it cannot work with.
Result<std::unique_ptr<GpuPolicy>> make_policy(Policy policy, PolicySetup setup);

}  // namespace rtgpu
