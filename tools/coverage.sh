#!/usr/bin/env bash
# Which lines the tests run: a table by file, with the lines that none of them runs. Needs GCC.
# Usage: tools/coverage.sh [FOLDER [TEST_PROGRAM...]]
# Without arguments: runtime/device/cuda, by the test programs that load the fake driver. The folder is one of a library.
# build/coverage is the dev preset, but for that folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
folder=${1:-runtime/device/cuda}
(($# > 0)) && shift
programs=("$@")
((${#programs[@]} > 0)) || programs=(runtime_cuda_test runtime_cuda_device_test)
folder=${folder%/}
[[ $folder =~ ^(rtgpu|taskset|analysis|runtime)(/|$) && -d $folder ]] || {
  echo "coverage: '$folder' is no folder of a library" >&2
  exit 2
}

"$here/setup.sh" build test
compiler=${CXX:-c++}
gcov=gcov-$("$compiler" -dumpversion | cut -d. -f1)
command -v "$gcov" >/dev/null || gcov=gcov
for program in "${programs[@]}"; do
  "$here/build.sh" dev coverage "$program" "-DRTGPU_COVERAGE=$folder" -DRTGPU_TEST_CASES=OFF -DRTGPU_BUILD_CUDA=OFF
done

find build/coverage -name '*.gcda' -delete  # of an earlier run
for program in "${programs[@]}"; do
  path=$(find build/coverage/tests -name "$program" -type f -perm -u+x)
  "$here/run_quietly.sh" "Running $program" "build/log/coverage-$program.log" "$path" --gtest_brief=1
done

# A file may be part of several objects; a line was run if it was in any. What a condition of the build leaves out has no
# lines, and the comparison with cuda.h is not run but compiled.
find "$PWD/build/coverage" -name '*.gcno' -print0 |
  xargs -0 "$gcov" --json-format --stdout 2>build/log/coverage-gcov.log |
  python3 -c '
import collections, json, os, sys
root, folder = os.path.realpath(sys.argv[1]), sys.argv[2] + "/"
runs = collections.defaultdict(collections.Counter)
for text in sys.stdin:
    unit = json.loads(text)
    for file in unit["files"]:
        # Relative ones, as ccache makes them, are so to where the compiler ran.
        path = os.path.relpath(os.path.realpath(os.path.join(unit["current_working_directory"], file["file"])), root)
        if not path.startswith(folder) or not path.endswith(".cpp") or path.endswith("driver_api_check.cpp"):
            continue
        for line in file["lines"]:
            runs[path][line["line_number"]] += line["count"]

def ranges(numbers):
    parts = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)

def row(name, done, of, missed):
    print(f"{name:40} {of:5} {100 * done / of:6.1f} %  {missed}".rstrip())

if not runs:
    sys.exit(f"coverage: no line of {folder} was built")
print("{:40} {:>5} {:>8}  {}".format("file", "lines", "run", "not run"))
totals = [0, 0]
for path, lines in sorted(runs.items()):
    missed = sorted(number for number in lines if lines[number] == 0)
    row(path.removeprefix(folder), len(lines) - len(missed), len(lines), ranges(missed))
    totals[0] += len(lines) - len(missed)
    totals[1] += len(lines)
row("all", totals[0], totals[1], "")
' "$PWD" "$folder"
