// The processes that mpirun has started together, and the texts that they send each other.
//
// Only `rtgpu sweep` is one program on several processes. MPI is behind this header alone, and not begun before it is
// needed.
#pragma once

#include "rtgpu/result.h"
#include "tools/exit_status.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rtgpu {

struct RankMessage {
  int from = 0;
  std::string text;
};

// This process as one of them. For the thread that has joined, and no other. What MPI itself finds wrong ends all of
// the processes.
class Ranks {
 public:
  Ranks() = default;
  // Waits until each of the others does the same.
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  virtual int rank() const = 0;  // 0 ... size() - 1
  virtual int size() const = 0;
  virtual int on_this_machine() const = 0;  // how many of them
  // What goes from one process to another arrives in order. May wait until the other one receives.
  virtual void send(int to, std::string_view text) = 0;
  // Does not wait: nothing if no message is there.
  virtual std::optional<RankMessage> receive() = 0;
  // Ends all of the processes, with that status.
  [[noreturn]] virtual void abort(ExitStatus status) = 0;
};

// Whether mpirun has started this process as another than the first. By its environment, also where there is no MPI:
// what holds for all of the processes is told by the first one alone.
bool is_other_rank();

// This process among those that mpirun has started; null if it was started alone. At most once in a process. Errors:
// it is one of several, and the program was built without MPI (environment).
Result<std::unique_ptr<Ranks>> join_ranks();

}  // namespace rtgpu
