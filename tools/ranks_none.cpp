// In place of ranks_mpi.cpp where there is no MPI.
#include "tools/rank_by_environment.h"
#include "tools/ranks.h"

#include <fmt/format.h>

namespace rtgpu {

Result<std::unique_ptr<Ranks>> join_ranks() {
  const std::optional<RankPlace> place = rank_by_environment();
  if (!place) return std::unique_ptr<Ranks>();
  Error error;
  error.code = ErrorCode::environment;
  error.found = fmt::format("{} processes, and an rtgpu that was built without MPI", place->size);
  error.expected = "one that was built with it, or a single process";
  error.advice = "Install libopenmpi-dev and configure with -DRTGPU_MPI=ON, or start it without mpirun.";
  return error;
}

}  // namespace rtgpu
