// The sweeps of the GCAPS paper (ECRTS 2024), figures 8 and 9.
#pragma once

#include "analysis/experiments/sweep.h"

#include <optional>
#include <span>
#include <string_view>

namespace rtgpu {

// "gcaps-fig8a" ... "gcaps-fig8f", "gcaps-fig9a" ... "gcaps-fig9f".
std::span<const std::string_view> paper_sweep_names();

// Over tasksets of gcaps-table3, drawn as the published program draws them (drawn_as=program, which can be set
// otherwise):
//   a  tasks                2 ... 20 in all, by 2; the utilisation of each is drawn by itself
//   b  utilisation_per_cpu  0.1 ... 0.9, by 0.1
//   c  cpus                 1 ... 10
//   d  gpu_share            0.1 ... 1, by 0.1: tasks that use the GPU
//   e  gpu_to_cpu           0 ... 2, by 0.2: G / C
//   f  best_effort_share    0.1 ... 0.9, by 0.1, of 6 tasks per CPU
// The ranges are the paper's. The steps, the number of tasks per CPU in f, and how tasks are drawn in a are those of
// the programs that were published with it.
//
// Figure 8 compares gcaps, tsg-rr, mpcp and fmlp+. Figure 9 is taken to repeat the six sweeps of figure 8 for gcaps
// with the GPU priorities of the tasksets (gcaps) and with separate ones where those fail (gcaps+search). Both: the
// published analyses, for tasks that suspend and for tasks that wait busily, 1000 tasksets a point.
//
// The published programs search for GPU priorities in figure 8 as well; here gcaps is without, and a search can be
// asked for. Their analyses of mpcp and of tsg-rr with busy waiting have faults, so those curves differ from what the
// published recurrences give (docs/reproduction.md).
//
// nullopt for another name.
std::optional<SweepExperiment> paper_sweep(std::string_view name);

}  // namespace rtgpu
