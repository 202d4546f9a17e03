#!/usr/bin/env bash
# Copies what the build needs of the distribution's packages to build/gpu-packages, so that tools/gpu-check.sh can build
# on a machine that has neither them nor a network: take that folder along with the working tree.
# Usage: tools/gpu-packages.sh
set -euo pipefail

root=$(dirname "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)")
folder=$root/build/gpu-packages

if ! command -v dpkg-query >/dev/null; then
  echo "gpu-packages: this is not Debian or Ubuntu: the packages are not known here" >&2
  exit 3
fi
packages=(nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libgmock-dev)
# The library that libfmt-dev's link points to has its version in its name.
packages+=("$(dpkg-query -W -f '${Depends}' libfmt-dev | grep -o 'libfmt[0-9]*' | head -n 1)")

rm -rf "$folder"
mkdir -p "$folder"
for package in "${packages[@]}"; do
  # Headers, libraries and what CMake finds them by; not the documentation.
  dpkg-query -L "$package" | grep -E '^/usr/(include|lib|share/cmake)/' | while read -r file; do
    if [[ -f $file ]]; then cp --parents --no-dereference --preserve=timestamps "$file" "$folder"; fi
  done
done
echo "$folder: $(du -sh "$folder" | cut -f 1) of ${packages[*]}"
