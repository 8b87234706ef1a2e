#!/usr/bin/env bash
# On a machine with a GPU: what is there, then a search over a few small shapes. Needs the portable program
# (cmake --preset portable && cmake --build --preset portable); leaves its findings in $OUT (default: gpu-out).
#   tools/gpu/tune.sh [seconds a shape]
set -uo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-gpu-out}
mkdir -p "$out"
program=build-portable/kernelwright
seconds=${1:-20}
nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw --format=csv > "$out/device.csv"
"$program" doctor | tee "$out/doctor.txt"
"$program" calibrate --target cuda --store "$out/tune.db" | tee "$out/calibrate.txt"
for layout in nt nn; do
  for shape in "64 64 64" "64 64 4096" "256 256 512"; do
    read -r m n k <<< "$shape"
    "$program" tune --target cuda --dtype f16 --layout $layout --m "$m" --n "$n" --k "$k" --budget "${seconds}s" \
      --store "$out/tune.db" --trace "$out/trace.jsonl" --quiet
  done
done 2>&1 | tee "$out/tune.txt"
