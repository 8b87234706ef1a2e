#!/usr/bin/env bash
# Installs what Kernelwright needs from Debian's packages. ./setup.sh [part ...]; parts: build (default), test, report, fuzz.
#   build   compiler, CMake, libraries, vendor baselines      test    also what the tests need (GoogleTest, clang tools)
#   report  headless Chromium, to test the report as a browser shows it
#   fuzz    clang with its sanitizers and libFuzzer, for tools/fuzz.sh
# Runs as root or with sudo; where neither is possible it says which packages are missing and ends with 1.
set -euo pipefail
cd "$(dirname "$0")"

build=(g++ cmake ninja-build pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev libssl-dev
       libsqlite3-dev libseccomp-dev libexpected-dev libopenblas0-pthread libdnnl2 libxsmm-dev)
test=(libgtest-dev libgmock-dev clang-format clang-tidy python3)
report=(chromium-headless-shell)
fuzz=(clang libclang-rt-dev)

if [ "${1:-}" = "--help" ] || [ "${1:-}" = "-h" ]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0"
  exit 0
fi
. /etc/os-release 2>/dev/null || true
case "${ID:-}:${VERSION_ID:-}" in
  debian:12) ;;
  ubuntu:*)  # not verified: other names for oneDNN, no headless shell of Chromium (its test is then skipped)
    build=("${build[@]/libdnnl2/libdnnl3}")
    report=() ;;&
  *) echo "setup.sh: ${PRETTY_NAME:-this system} is not verified (Debian 12 is); package names may differ" >&2 ;;
esac

wanted=("${build[@]}")
for part in "$@"; do
  case "$part" in
    build) ;;
    test) wanted+=("${test[@]}") ;;
    report) wanted+=("${report[@]}") ;;
    fuzz) wanted+=("${fuzz[@]}") ;;
    *) echo "setup.sh: part \"$part\" is not known; use build, test, report or fuzz" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: this is not a Debian-like system; install the counterparts of: ${wanted[*]}" >&2
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
  as_root=(env)
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  as_root=(sudo env)
else
  echo "setup.sh: cannot install as this user; ask an administrator for: apt-get install ${missing[*]}" >&2
  exit 1
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get update -q
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
