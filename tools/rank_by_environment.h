// What mpirun tells a process before MPI is begun.
#pragma once

#include <optional>

namespace rtgpu {

struct RankPlace {
  int rank = 0;
  int size = 1;
};

// Open MPI's variables, or those of MPICH and its relatives. Nothing if the process was started alone.
std::optional<RankPlace> rank_by_environment();

}  // namespace rtgpu
