#!/usr/bin/env bash
# Style and structure: clang-format, include direction, file sizes, clang-tidy's naming rules on what compiles.
#   tools/check_style.sh [--fix]     --fix formats in place
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(git ls-files 'src/*.cc' 'src/*.h' 'device/*.h' 'test/*.cc' 'test/*.h' 'vendor/*.c')
if [ "${1:-}" = "--fix" ]; then
  clang-format -i "${files[@]}"
  exit 0
fi
clang-format --dry-run --Werror "${files[@]}"
python3 tools/check_includes.py
python3 tools/check_reports.py
python3 tools/check_names.py build
echo "style: ${#files[@]} files are well"
