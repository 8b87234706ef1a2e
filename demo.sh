#!/usr/bin/env bash
# Kernelwright on this machine, from nothing to a report: installs what is missing, builds, tunes the matrix products of
# Qwen2.5-0.5B, prints the table and writes report.html. Run again, it goes on from what it knows (kernelwright.db).
#   ./demo.sh [seconds for tuning, default 120]
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-120}
case "$seconds" in
  '' | *[!0-9]*) echo "demo.sh: \"$seconds\" is not a number of seconds; use for example ./demo.sh 120" >&2; exit 2 ;;
esac

echo "1. Build (a few minutes the first time)"
tools/build.sh >build.log 2>&1 || { tail -40 build.log >&2; echo "demo.sh: the build failed; all of it is in build.log" >&2; exit 1; }
rm -f build.log

echo "2. This machine"
build/kernelwright doctor

cat <<TEXT

3. Tune: $seconds s for the matrix products of Qwen2.5-0.5B at 1, 16 and 128 tokens, one core.
   Kernels are written, compiled, proved right against float64 in a caged process, and timed beside OpenBLAS, oneDNN
   and LIBXSMM. A kernel of ours is chosen only where it is faster beyond doubt; else the vendor's routine stays.

TEXT
build/kernelwright tune --model examples/models/qwen2.5-0.5b.json --no-lm-head --tokens 1,16,128 --budget "${seconds}s"
build/kernelwright report --out report.html

cat <<TEXT

What this means: "speedup" is the time of the best vendor routine over ours, on operands that are not in the cache, from
samples that did not choose the kernel. 1.00 means that the vendor's routine stays. More time finds more: run ./demo.sh
again, it goes on from kernelwright.db. Open report.html in a browser; see a winner with: build/kernelwright best
TEXT
