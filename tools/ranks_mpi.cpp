#include "tools/rank_by_environment.h"
#include "tools/ranks.h"

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <mpi.h>
#include <stdexcept>

namespace rtgpu {
namespace {

int rank_in(MPI_Comm ranks) {
  int rank = 0;
  MPI_Comm_rank(ranks, &rank);
  return rank;
}

int size_of(MPI_Comm ranks) {
  int size = 0;
  MPI_Comm_size(ranks, &size);
  return size;
}

int size_on_this_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  const int size = size_of(machine);
  MPI_Comm_free(&machine);
  return size;
}

// MPI from its beginning to its end.
class MpiLibrary {
 public:
  MpiLibrary() {
    // The counting has threads of its own, which do not call MPI.
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  ~MpiLibrary() { MPI_Finalize(); }
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;
};

// What MPI's functions return is not looked at: unless told otherwise, MPI ends all processes at an error.
class MpiRanks final : public Ranks {
 public:
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int on_this_machine() const override { return on_this_machine_; }

  void send(int to, std::string_view text) override {
    if (text.size() > INT_MAX) throw std::length_error("a message of more than 2 GiB");
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, 0, MPI_COMM_WORLD);
  }

  std::optional<RankMessage> receive() override {
    int is_there = 0;
    MPI_Status status = {};
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    RankMessage message;
    message.from = status.MPI_SOURCE;
    message.text.resize(static_cast<std::size_t>(size));
    MPI_Recv(message.text.data(), size, MPI_CHAR, message.from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return message;
  }

  [[noreturn]] void abort(ExitStatus status) override {
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(status));
    std::abort();
  }

 private:
  MpiLibrary library_;  // before what is asked of it
  int rank_ = rank_in(MPI_COMM_WORLD);
  int size_ = size_of(MPI_COMM_WORLD);
  int on_this_machine_ = size_on_this_machine();
};

}  // namespace

Result<std::unique_ptr<Ranks>> join_ranks() {
  if (!rank_by_environment()) return std::unique_ptr<Ranks>();
  return std::unique_ptr<Ranks>(std::make_unique<MpiRanks>());
}

}  // namespace rtgpu
