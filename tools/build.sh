#!/usr/bin/env bash
# Configures and builds one folder under build/, quietly.
# Usage: tools/build.sh PRESET FOLDER TARGET [CMAKE_OPTION...]
# For example: tools/build.sh dev gcc-11 all -DCMAKE_CXX_COMPILER=g++-11
# The presets join files into groups, which halves the time of a whole build. To work on single files, and to see each
# compiled by itself: tools/build.sh dev dev all -DCMAKE_UNITY_BUILD=OFF
set -euo pipefail

if (($# < 3)); then
  echo "usage: $0 PRESET FOLDER TARGET [CMAKE_OPTION...]" >&2
  exit 2
fi
preset=$1 folder=$2 target=$3
shift 3

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."  # presets are found in the current folder

# CMake reads this when it first configures a folder.
if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

"$here/run_quietly.sh" "Configuring build/$folder" "build/log/$folder-configure.log" \
  cmake --preset "$preset" -B "build/$folder" "$@"
"$here/run_quietly.sh" "Building build/$folder ($target)" "build/log/$folder-build.log" \
  cmake --build "build/$folder" --target "$target" --parallel "$(nproc)"
