#!/usr/bin/env bash
# Fuzzes every parser of outside text and keeps what is worth keeping. tools/fuzz.sh [MINUTES_PER_TARGET] [TARGET ...]
#   in:   test/fuzz/seeds, test/fuzz/corpus, test/fuzz/dictionary, examples
#   out:  build-fuzz/corpus (all found inputs), build-fuzz/crashes, build-fuzz/log; test/fuzz/corpus (a chosen few, names = hash);
#         results/cpu/fuzz.csv, one line a target (only the targets that ran are replaced)
# One job a usable core. Needs ./setup.sh fuzz. Ends with 1 when an input broke a parser or one of its promises.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-10}
shift || true
if ! [[ "$minutes" =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
  echo "tools/fuzz.sh: \"$minutes\" is no number of minutes" >&2
  exit 2
fi

./setup.sh build fuzz
cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DKW_FUZZ=ON -DKW_TESTS=OFF >/dev/null
ninja -C build-fuzz fuzz
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in test/fuzz/*_target.cc; do
    name=$(basename "$source")
    targets+=("${name%_target.cc}")
  done
fi
exec python3 test/fuzz/run_targets.py --minutes "$minutes" --jobs "$(nproc)" "${targets[@]}"
