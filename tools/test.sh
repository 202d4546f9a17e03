#!/usr/bin/env bash
# Installs what is missing, builds everything and runs the tests.
# Usage: tools/test.sh [CTEST_ARGUMENT...]
# Without arguments: every test but the long ones (labels slow and fuzz) and those of the installed package (label
# package). With arguments, ctest chooses by them among the single cases, as in tools/test.sh -R taskset
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

"$here/setup.sh" build test
"$here/build.sh" dev dev all

if (($# == 0)); then set -- -LE 'slow|fuzz|case|package'; else set -- -LE whole "$@"; fi
if [[ -t 1 ]]; then set -- --progress "$@"; fi
cd "$here/.."
exec ctest --preset dev --parallel "$(nproc)" "$@" </dev/null
