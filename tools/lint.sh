#!/usr/bin/env bash
# Checks the format (clang-format) and the code (clang-tidy) of every source file; changes nothing.
# Usage: tools/lint.sh [format|tidy|includes]      (the first two without an argument)
# "includes" compiles each file of the libraries and of the command by itself, without making code: builds join files,
# and so do not see that one lacks an #include.
# Version 14 of both is what Debian 12 and Ubuntu 22.04 have; other versions format and warn differently.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
folders=(rtgpu taskset analysis runtime tools tests benchmarks)
# clang-tidy takes minutes more for the tests and benchmarks; name them to have them checked: TIDY="tests benchmarks".
read -r -a tidy_folders <<<"${TIDY:-rtgpu taskset analysis runtime tools}"

check_format() {
  find "${folders[@]}" \( -name '*.h' -o -name '*.cpp' \) -print0 2>/dev/null |
    xargs -0 -r clang-format-14 --dry-run --Werror
}

# run-clang-tidy reads the compilation database of a folder of its own, which is configured but never built. Files are
# joined as in the builds, which saves more than half of the time; the files that are joined count as headers then.
check_tidy() {
  env -u CMAKE_CXX_COMPILER_LAUNCHER "$here/run_quietly.sh" "Configuring build/lint" build/log/lint-configure.log \
    cmake --preset dev -B build/lint -DRTGPU_BUILD_BENCHMARKS=ON
  local folder pattern
  pattern="$(IFS='|' && echo "${tidy_folders[*]}")"
  folder="$(pwd -P)"
  "$here/run_quietly.sh" "Running clang-tidy" build/log/clang-tidy.log \
    run-clang-tidy-14 -quiet -j "$(nproc)" -p build/lint -header-filter="^$folder/($pattern)/.*" \
    "^$folder/build/lint/($pattern)/"
}

check_includes() {
  env -u CMAKE_CXX_COMPILER_LAUNCHER "$here/run_quietly.sh" "Configuring build/includes" \
    build/log/includes-configure.log cmake --preset dev -B build/includes -DCMAKE_UNITY_BUILD=OFF -DRTGPU_BUILD_TESTS=OFF
  python3 - build/includes/compile_commands.json <<'PYTHON' | xargs -0 -P "$(nproc)" -n 1 sh -c
import json, sys
for entry in json.load(open(sys.argv[1])):
    if entry["file"].endswith(".cpp"):
        command = entry["command"].split(" -o ")[0]
        print(f"cd {entry['directory']} && {command} -fsyntax-only {entry['file']}", end="\0")
PYTHON
}

"$here/setup.sh" build test lint
case ${1:-all} in
  format) check_format ;;
  tidy) check_tidy ;;
  includes) check_includes ;;
  all)
    check_format
    check_tidy
    ;;
  *)
    echo "usage: $0 [format|tidy|includes]" >&2
    exit 2
    ;;
esac
