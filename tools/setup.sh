#!/usr/bin/env bash
# Installs the distribution's packages that are missing, and nothing if none is.
# Usage: tools/setup.sh [GROUP...]
#   build      what the libraries and the rtgpu command need
#   test       what the tests and benchmarks need, gnuplot for charts, and Open MPI for sweeps by several processes
#   lint       clang-format and clang-tidy, in the version that the sources are kept clean with
#   compilers  the other compilers that are supported
# Without a group: build and test.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

die() {
  printf 'setup: %s\n' "$@" >&2
  exit 3
}

packages_of() {
  case $1 in
    build) echo g++ cmake ninja-build pkg-config nlohmann-json3-dev libcli11-dev libfmt-dev libtbb-dev ;;
    test) echo libgtest-dev libgmock-dev libbenchmark-dev gnuplot-nox libopenmpi-dev openmpi-bin ;;
    lint) echo clang-format-14 clang-tidy-14 ;;
    compilers) echo g++-11 clang-14 libclang-rt-14-dev ;;
    *) die "there is no group '$1'; the groups are build, test, lint and compilers" ;;
  esac
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

install_packages() {
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "these packages are missing: $*" \
      "Installing them needs root, and there is no sudo. As root: apt-get install $*"
    as_root=(sudo)
    # Without a terminal nobody can type a password: fail instead of waiting for one.
    [[ -t 0 ]] || as_root=(sudo -n)
    "${as_root[@]}" true || die "these packages are missing: $*" \
      "sudo was refused. As root: apt-get install $*"
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  "$here/run_quietly.sh" "Fetching the package lists" "$root/build/log/apt-update.log" "${apt[@]}" update ||
    die "the package lists could not be fetched: is there a network?"
  "$here/run_quietly.sh" "Installing $*" "$root/build/log/apt-install.log" \
    "${apt[@]}" install --no-install-recommends "$@" ||
    die "the packages could not be installed. rtgpu supports Debian 12 and Ubuntu 22.04 or later."
}

check_compiler() {
  local version
  version=$("${CXX:-c++}" -dumpversion) || die "the compiler ${CXX:-c++} does not run"
  # Clang is checked by name only: its versions count differently.
  if ((${version%%.*} < 11)) && ! "${CXX:-c++}" --version | grep -qi clang; then
    die "the compiler ${CXX:-c++} is GCC $version; rtgpu needs GCC 11 or Clang 14, or later"
  fi
}

main() {
  (($# > 0)) || set -- build test
  local wanted=() missing=() group package
  for group in "$@"; do
    # Not in a pipe or process substitution: an unknown group has to end the script.
    package=$(packages_of "$group")
    read -r -a packages <<<"$package"
    wanted+=("${packages[@]}")
  done
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this is not Debian or Ubuntu, so nothing can be installed here." \
      "Install what corresponds to: ${wanted[*]}; then use cmake --preset release."
  fi
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
  check_compiler
}

main "$@"
