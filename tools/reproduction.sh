#!/usr/bin/env bash
# The sweeps of the GCAPS paper's figures 8 and 9 with published and safe analyses: their numbers as CSV, the published
# ones as charts, and the tables of docs/reproduction.md.
# Usage: tools/reproduction.sh FOLDER [TASKSETS]
# The program is build/dev/tools/rtgpu, or RTGPU_PROGRAM.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${RTGPU_PROGRAM:-$root/build/dev/tools/rtgpu}
if (($# < 1 || $# > 2)); then
  echo "usage: tools/reproduction.sh FOLDER [TASKSETS]" >&2
  exit 2
fi
folder=$1
tasksets=${2:-1000}
if [[ ! -x $program ]]; then
  echo "reproduction: there is no $program; build it (tools/demo.sh does), or set RTGPU_PROGRAM" >&2
  exit 3
fi
mkdir -p "$folder"

# A table from the CSV of a sweep: a column for each policy and wait, "published / safe" in percent.
table_of() {
  awk -F, 'NR > 1 {
    column = $3 " " $4
    if (!(column in seen)) { seen[column] = 1; columns[++count] = column }
    if (!($2 in row)) { row[$2] = 1; rows[++lines] = $2 }
    percent[$2, column, $5] = sprintf("%.1f", 100 * $7 / $6)
    parameter = $1
  }
  END {
    printf "| %s |", parameter
    for (c = 1; c <= count; ++c) printf " %s |", columns[c]
    printf "\n|---|"
    for (c = 1; c <= count; ++c) printf "---|"
    printf "\n"
    for (r = 1; r <= lines; ++r) {
      printf "| %s |", rows[r]
      for (c = 1; c <= count; ++c)
        printf " %s / %s |", percent[rows[r], columns[c], "published"], percent[rows[r], columns[c], "safe"]
      printf "\n"
    }
  }' "$1"
}

: >"$folder/tables.md"
for figure in 8a 8b 8c 8d 8e 8f 9a 9b 9c 9d 9e 9f; do
  sweep=("$program" sweep --preset "gcaps-fig$figure" --tasksets "$tasksets")
  "${sweep[@]}" --plot "$folder/fig$figure.svg" --format csv >/dev/null
  "${sweep[@]}" --variant both --csv "$folder/fig$figure.csv" --format csv >/dev/null
  printf '### Figure %s\n\n' "$figure" >>"$folder/tables.md"
  table_of "$folder/fig$figure.csv" >>"$folder/tables.md"
  printf '\n' >>"$folder/tables.md"
  echo "figure $figure done" >&2
done
echo "$folder/tables.md"
