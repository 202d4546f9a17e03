#!/bin/sh
# Compiles SOURCE into PROGRAM with what pkg-config says about the rtgpu installed for PKG_CONFIG_PATH, and runs it.
# Usage: with_pkg_config.sh SOURCE PROGRAM COMPILER [FLAG...]
set -eu
source=$1 program=$2
shift 2
set -- "$@" -std=c++20 "$source" -o "$program"
# pkg-config quotes spaces in paths for a shell: eval takes the quotes off.
eval "set -- \"\$@\" $(pkg-config --cflags --libs rtgpu) -Wl,-rpath,$(pkg-config --variable=libdir rtgpu)"
"$@"
exec "$program"
