#!/usr/bin/env bash
# Runs a command with its output in a log that is shown only if the command fails.
# Usage: tools/run_quietly.sh WHAT LOG COMMAND [ARGUMENT...]
set -euo pipefail

if (($# < 3)); then
  echo "usage: $0 WHAT LOG COMMAND [ARGUMENT...]" >&2
  exit 2
fi
what=$1 log=$2
shift 2

mkdir -p "$(dirname "$log")"
start=$SECONDS
echo "-- $what"
status=0
"$@" >"$log" 2>&1 </dev/null || status=$?
if ((status != 0)); then
  cat "$log" >&2
  echo "-- $what: failed with exit status $status; the output above is in $log" >&2
  exit "$status"
fi
echo "   done in $((SECONDS - start)) s"
