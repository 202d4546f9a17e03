#!/usr/bin/env bash
# From a fresh clone to a first result: installs what is missing, builds the rtgpu command, analyses an example, and
# looks for a schedule that exceeds one of the bounds.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

"$here/setup.sh" build test
"$here/build.sh" release release rtgpu_tool

show() {
  printf '\n$ %s\n' "rtgpu $*"
  local status=0
  "$root/build/release/tools/rtgpu" "$@" || status=$?
  # 1 is an answer: not schedulable. Everything else is a failure of this demonstration.
  if ((status > 1)); then exit "$status"; fi
}

cd "$root"
show analyze examples/gcaps-case-study.json --policy gcaps-wc,tsg-rr --format table
show falsify examples/gcaps-case-study.json --policy gcaps-wc,tsg-rr --format table
printf '\nThe command is %s. Next: README.md, "A first taskset".\n' "build/release/tools/rtgpu"
