#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests that need no GPU, the style and direction checks included.
#   ./test.sh [ctest options]      such as ./test.sh -R Expression
# Left out: label gpu, and label quiet (the self-test's statistics on real times, for a machine with nothing else to do).
set -euo pipefail
cd "$(dirname "$0")"

./setup.sh build test report
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DKW_TESTS=ON >build-configure.log 2>&1 || { cat build-configure.log >&2; exit 1; }
rm -f build-configure.log
cmake --build build
tools/check_style.sh
ctest --test-dir build --no-tests=error --output-on-failure -LE 'gpu|quiet' -j 1 "$@"
