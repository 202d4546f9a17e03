#!/bin/sh
# Compiles SOURCE into PROGRAM with what pkg-config says about the rtgpu installed for PKG_CONFIG_PATH, and runs it.
# Usage: with_pkg_config.sh SOURCE PROGRAM COMPILER [FLAG...]
set -eu
source=$1 program=$2
shift 2
# Word splitting of what pkg-config prints is wanted.
# shellcheck disable=SC2046
"$@" -std=c++20 "$source" -o "$program" $(pkg-config --cflags --libs rtgpu) \
  "-Wl,-rpath,$(pkg-config --variable=libdir rtgpu)"
exec "$program"
