#!/usr/bin/env bash
# From a fresh clone to a first result: installs what is missing, builds the rtgpu command, and analyses an example.
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
show analyze examples/gcaps-case-study.json --policy gcaps --policy tsg-rr --wait suspend --format table
printf '\nThe command is %s. Next: README.md, "A first taskset".\n' "build/release/tools/rtgpu"
