#!/usr/bin/env bash
# Installs what is missing and builds the program (no tests) into build/. Called by demo.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

./setup.sh build
if [ ! -f build/CMakeCache.txt ]; then
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DKW_TESTS=OFF
fi
cmake --build build --target kernelwright kernelwright_xsmm
