#!/usr/bin/env bash
# Runs a taskset in the runtime for a long time, again and again, and looks for what only shows then: deadlines missed,
# bounds exceeded, jobs that fail, events of the trace that are lost, memory that grows.
# Usage: tools/soak.sh [SECONDS [POLICY...]]      (an hour under every policy in turn without arguments)
# RTGPU_PROGRAM: the program; build/release/tools/rtgpu unless given. RTGPU_TASKSET: the taskset.
# RTGPU_SOAK_TIMING=ignored: deadlines and bounds do not count, for machines that others use as well.
# RTGPU_RUN_OPTIONS: further options of `rtgpu run`, such as "--scheduler normal" where real-time scheduling is refused.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
seconds=${1:-3600}
(($# > 0)) && shift
policies=("$@")
((${#policies[@]} > 0)) || policies=(mpcp fmlp+ gcaps gcaps-wc tsg-rr stream-priority)
program=${RTGPU_PROGRAM:-$root/build/release/tools/rtgpu}
taskset=${RTGPU_TASKSET:-$root/examples/two-cores-six-tasks.json}
read -r -a options <<<"${RTGPU_RUN_OPTIONS:-}"

[[ -x $program ]] || {
  echo "soak: there is no $program: build it with cmake --preset release && cmake --build --preset release" >&2
  exit 3
}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || {
  echo "soak: '$seconds' is no number of seconds" >&2
  exit 2
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The most memory that process $1 has while it runs, in KiB, at each look: written to $2.
watch_memory() {
  while [[ -d /proc/$1 ]]; do
    awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2>/dev/null >>"$2" || true
    sleep 1
  done
}

status=0
each=$((seconds / ${#policies[@]}))
((each > 0)) || each=1
for policy in "${policies[@]}"; do
  echo "== $policy, $each s"
  "$program" run "$taskset" --policy "$policy" --duration "${each}s" --format table "${options[@]}" \
    >"$folder/result" 2>"$folder/log" &
  run=$!
  : >"$folder/memory"
  watch_memory "$run" "$folder/memory"
  answer=0
  wait "$run" || answer=$?
  cat "$folder/result"
  if ((answer > 1)); then
    cat "$folder/log" >&2
    exit "$answer"
  fi
  if ((answer == 1)) && [[ ${RTGPU_SOAK_TIMING:-counts} != ignored ]]; then status=1; fi
  # Whatever the timing, jobs end well.
  if grep -E 'failed|exception|its thread ended|no longer answers|dropped' "$folder/result" >&2; then status=1; fi
  # What is needed is there in the first quarter; more than a tenth and 1 MiB beyond it is a leak.
  awk '{ seen[NR] = $1; if ($1 > most) most = $1 }
       END {
         quarter = int(NR / 4) + 3  # the first looks see the program start
         if (quarter > NR) quarter = NR
         for (i = 1; i <= quarter; ++i) if (seen[i] > early) early = seen[i]
         printf "memory: %d KiB in the first quarter, %d KiB at most\n", early, most
         exit most > early * 1.1 + 1024
       }' "$folder/memory" || {
    echo "soak: memory grew under $policy" >&2
    status=1
  }
done
exit $status
