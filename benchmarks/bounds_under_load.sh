#!/usr/bin/env bash
# Six tasks on two cores under SCHED_FIFO, with a process on every CPU that never rests: is a deadline missed, or a bound
# exceeded? Ends as `rtgpu run --check-bounds` does: 0 if neither.
# Usage: benchmarks/bounds_under_load.sh [SECONDS [POLICY [TASKSET]]]
# RTGPU_PROGRAM: the program; build/release/tools/rtgpu unless given.
set -euo pipefail

root=$(dirname "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)")
program=${RTGPU_PROGRAM:-$root/build/release/tools/rtgpu}

loads=()
for ((cpu = 0; cpu < $(nproc); ++cpu)); do
  while :; do :; done &
  loads+=($!)
done
trap 'kill "${loads[@]}" 2>/dev/null' EXIT

"$program" run "${3:-$root/benchmarks/six-slow-tasks.json}" --policy "${2:-mpcp}" --duration "${1:-60}s" --check-bounds \
  --format table
