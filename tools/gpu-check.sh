#!/usr/bin/env bash
# Everything that only a GPU can show, in one command and less than eight minutes: builds for the GPU of this machine, runs
# the tests labelled gpu, the examples with kernels, a taskset on the device, and the measurements. Ends with a table; the
# results are in OUT: gpu-check.json, gpu-overheads.json (overheads to paste into a taskset) and gpu-check.log.
# Usage: tools/gpu-check.sh [--out FOLDER] [--build FOLDER] [--samples NUMBER] [CMAKE_OPTION...]
# Exit status: 0 if everything passed, 1 if not, 2 for bad usage, 3 without a GPU or without what the build needs.
# Where packages are missing and there is no network: see tools/gpu-packages.sh.
set -uo pipefail

root=$(dirname "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)")
cd "$root" || exit 3
build=build/gpu-check
out=build/gpu-check/results
samples=200
limit=470  # seconds for everything

while (($# > 0)) && [[ $1 != -D* ]]; do
  case $1 in
    --out) out=${2:?} ;;
    --build) build=${2:?} ;;
    --samples) samples=${2:?} ;;
    *)
      echo "usage: $0 [--out FOLDER] [--build FOLDER] [--samples NUMBER] [CMAKE_OPTION...]" >&2
      exit 2
      ;;
  esac
  shift 2
done
cmake_options=("$@")

say() { printf 'gpu-check: %s\n' "$@"; }
give_up() {
  say "$@" >&2
  exit 3
}

mkdir -p "$out" "$build" || exit 3
out=$(cd "$out" && pwd)
log=$out/gpu-check.log
: >"$log"
rm -f "$out/gpu-check.json" "$out/gpu-overheads.json"

# --- what there is ----------------------------------------------------------------------------------------------------

gpu() { nvidia-smi --query-gpu="$1" --format=csv,noheader --id=0 2>/dev/null | head -n 1; }

find_gpu() {
  # The driver's folder in containers is not always in PATH.
  PATH=$PATH:/usr/local/nvidia/bin
  command -v nvidia-smi >/dev/null || give_up "no GPU: there is no nvidia-smi, so no driver of NVIDIA is installed"
  name=$(gpu name)
  [[ -n $name && $name != *"No devices"* && $name != *failed* ]] ||
    give_up "no GPU: nvidia-smi says: $(nvidia-smi 2>&1 | head -n 1)"
  driver=$(gpu driver_version)
  capability=$(gpu compute_cap)
  architecture=${capability/./}
  [[ $architecture =~ ^[0-9]+$ ]] || architecture=75  # whose PTX the driver compiles
  say "$name, compute capability $capability, driver $driver"
  say "clocks: SM $(gpu clocks.sm) of $(gpu clocks.max.sm), persistence mode $(gpu persistence_mode)"
}

first_line() { "$@" 2>&1 | head -n 1; }

find_build_tools() {
  local nvcc folder missing=()
  if ! command -v nvcc >/dev/null; then
    for folder in /usr/local/cuda/bin /usr/local/cuda-*/bin; do
      [[ -x $folder/nvcc ]] && PATH=$folder:$PATH && break
    done
  fi
  command -v cmake >/dev/null || missing+=("cmake 3.22 or later")
  command -v nvcc >/dev/null || missing+=("nvcc (CUDA toolkit)")
  command -v "${CXX:-c++}" >/dev/null || missing+=("a C++ compiler (GCC 11 or later)")
  generator="Unix Makefiles" keep_going=-k
  if command -v ninja >/dev/null; then
    generator=Ninja keep_going=-k0
  elif ! command -v make >/dev/null; then
    missing+=("ninja or make")
  fi
  ((${#missing[@]} == 0)) || give_up "cannot build; missing: $(printf '%s; ' "${missing[@]}")"
  nvcc=$(nvcc --version | grep -o 'release [0-9.]*')
  say "$(first_line cmake --version), nvcc $nvcc, $(first_line "${CXX:-c++}" --version), $generator, $(nproc) cores"
}

# leave_out PACKAGE WHAT CMAKE_OPTION
leave_out() {
  say "$1 was not found: left out: $2"
  cmake_options+=("$3")
}

# Which packages CMake finds, here or in build/gpu-packages.
find_packages() {
  local probe=$build/probe found
  mkdir -p "$probe"
  cat >"$probe/CMakeLists.txt" <<'PROBE'
cmake_minimum_required(VERSION 3.22)
project(probe LANGUAGES CXX)
foreach(package IN ITEMS fmt nlohmann_json CLI11 GTest)
  find_package(${package} QUIET)
  if(${package}_FOUND)
    message(STATUS "has ${package}")
  endif()
endforeach()
PROBE
  # What was carried here comes after what the caller names, and after what is installed.
  if [[ -d build/gpu-packages/usr ]]; then export CMAKE_PREFIX_PATH="${CMAKE_PREFIX_PATH:-}:$root/build/gpu-packages/usr"; fi
  found=$(timeout 60 cmake -S "$probe" -B "$probe/build" -G "$generator" "${cmake_options[@]}" 2>&1 | tee -a "$log")
  has() { [[ $found == *"has $1"* ]]; }
  if ! has fmt || ! has nlohmann_json; then
    give_up "cannot build: fmt or nlohmann_json was not found (packages libfmt-dev, nlohmann-json3-dev)." \
      "On a machine that has them: tools/gpu-packages.sh, and take build/gpu-packages along."
  fi
  has GTest || leave_out GoogleTest "the tests in tests/gpu" -DRTGPU_BUILD_TESTS=OFF
  has CLI11 || leave_out CLI11 "rtgpu run" -DRTGPU_BUILD_TOOLS=OFF
}

# --- steps ------------------------------------------------------------------------------------------------------------

names=() states=() times=() reasons=()

# record NAME STATE SECONDS [REASON]
record() {
  names+=("$1") states+=("$2") times+=("$3") reasons+=("${4:-}")
  say "$(printf '%-62s %-9s %4d s' "$1" "$2" "$3")"
}

# Of what a step said, for one that did not pass: the first line that says why, or the last one.
reason() {
  { grep -E 'error|Error|Failure|skipped|FAILED|expected' "$build/step.log" || tail -n 1 "$build/step.log"; } |
    head -n 1 | tr -d '\000-\037' | cut -c 1-200
}

# step NAME SECONDS COMMAND...: runs it with the log as its output, for that long at most. Never ends the script.
step() {
  local name=$1 most=$2 begin=$SECONDS status=0 state=passed
  shift 2
  ((limit - SECONDS >= most)) || most=$((limit - SECONDS))
  if ((most <= 0)); then
    record "$name" "no time" 0
    return 1
  fi
  printf '\n=== %s ===\n$ %s\n' "$name" "$*" >>"$log"
  timeout --kill-after=5 "$most" "$@" >"$build/step.log" 2>&1 </dev/null || status=$?
  cat "$build/step.log" >>"$log"
  case $status in
    # For ctest a skipped test has not failed.
    0) if grep -q '\*\*\*Skipped' "$build/step.log"; then state=skipped; fi ;;
    3) state=refused ;;
    77) state=skipped ;;
    124 | 137) state="timed out" ;;
    *) state=failed ;;
  esac
  printf '=== %s: %s (%d) ===\n' "$name" "$state" "$status" >>"$log"
  local why=
  [[ $state == passed ]] || why=$(reason)
  record "$name" "$state" $((SECONDS - begin)) "$why"
  return "$status"
}

build_all() {
  # With many cores smaller groups of files are quicker.
  local group=8
  (($(nproc) < 8)) || group=2
  step "configure" 60 cmake -S . -B "$build" -G "$generator" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_UNITY_BUILD_BATCH_SIZE=$group -DRTGPU_BUILD_CUDA=ON "-DRTGPU_CUDA_ARCHITECTURES=$architecture" \
    -DRTGPU_BUILD_BENCHMARKS=ON -DRTGPU_TEST_FOLDERS=gpu -DRTGPU_TEST_CASES=OFF "${cmake_options[@]}" || return
  local known target targets=()
  known=$(cmake --build "$build" --target help)
  for target in gpu_test rtgpu_gpu_overheads vector stencil matrix_product rtgpu_tool; do
    if grep -Eq "^(\.\.\. )?$target(:|$| )" <<<"$known"; then
      targets+=("$target")
    else
      record "$target" "left out" 0
    fi
  done
  # All that can be built, whatever fails.
  step "build" 240 cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}" -- "$keep_going"
}

run_tests() {
  local test
  if [[ -f $build/CTestTestfile.cmake ]]; then
    while read -r test; do
      step "$test" 60 ctest --test-dir "$build" --verbose -R "^$test\$"
    done < <(ctest --test-dir "$build" -N -L '^gpu$' | sed -n 's/^ *Test *#[0-9]*: *//p')
  else
    for test in vector stencil matrix_product; do
      if [[ -x $build/examples/cuda/$test ]]; then step "cuda.$test" 40 "$build/examples/cuda/$test" 1 --normal; fi
    done
  fi
}

# run_taskset POLICY: in real time as asked for, or with as little as this machine allows.
run_taskset() {
  local options status=0
  for options in "--check-bounds" "--scheduler normal --check-bounds" "--scheduler normal --share-cores"; do
    # shellcheck disable=SC2086  # several words
    step "rtgpu run, $1, $options" 40 "$build/tools/rtgpu" run examples/gcaps-case-study.json --device cuda:0 \
      --policy "$1" --duration 10s --format table $options
    status=$?
    ((status == 3)) || return "$status"
  done
  record "rtgpu run, $1" failed 0 "refused in each way"
}

measure() {
  step "measurements" 150 "$build/benchmarks/rtgpu_gpu_overheads" --samples "$samples" --json "$out/gpu-overheads.json" &&
    cat "$build/step.log"
}

# --- the result -------------------------------------------------------------------------------------------------------

json_text() {
  local text=${1//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

write_json() {
  local index separator=
  {
    printf '{\n  "device": %s,\n  "driver": %s,\n  "compute_capability": %s,\n' "$(json_text "$name")" \
      "$(json_text "$driver")" "$(json_text "$capability")"
    printf '  "commit": %s,\n' "$(json_text "$(git rev-parse --short HEAD 2>/dev/null)")"
    printf '  "date": %s,\n  "seconds": %d,\n  "steps": [' "$(json_text "$(date -u +%Y-%m-%dT%H:%M:%SZ)")" "$SECONDS"
    for index in "${!names[@]}"; do
      printf '%s\n    {"name": %s, "state": %s, "seconds": %d, "reason": %s}' "$separator" \
        "$(json_text "${names[index]}")" "$(json_text "${states[index]}")" "${times[index]}" \
        "$(json_text "${reasons[index]}")"
      separator=,
    done
    printf '\n  ],\n  "overheads": '
    if [[ -s $out/gpu-overheads.json ]]; then cat "$out/gpu-overheads.json"; else echo null; fi
    printf '}\n'
  } >"$out/gpu-check.json"
}

summary() {
  local index bad=0
  printf '\n%s, compute capability %s, driver %s\n' "$name" "$capability" "$driver"
  for index in "${!names[@]}"; do
    printf '  %-62s %-9s %4d s\n' "${names[index]}" "${states[index]}" "${times[index]}"
    [[ -z ${reasons[index]} ]] || printf '      %s\n' "${reasons[index]}"
    case ${states[index]} in
      passed) ;;
      # Asked for more than the machine allows, and tried again with less.
      refused) [[ ${names[index]} == "rtgpu run, "* ]] || bad=$((bad + 1)) ;;
      *) bad=$((bad + 1)) ;;
    esac
  done
  printf '%d s in all; %s, gpu-check.json, gpu-overheads.json beside it\n' "$SECONDS" "$log"
  if ((bad > 0)); then
    printf '%d of %d steps did not pass\n' "$bad" "${#names[@]}"
    return 1
  fi
  echo "all passed"
}

find_gpu
find_build_tools
find_packages
build_all || tail -n 30 "$build/step.log" >&2
run_tests
if [[ -x $build/benchmarks/rtgpu_gpu_overheads ]]; then measure; fi
if [[ -x $build/tools/rtgpu ]]; then
  for policy in mpcp fmlp+ stream-priority; do run_taskset "$policy"; done
fi
write_json
summary
