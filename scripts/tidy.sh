#!/usr/bin/env bash
# Runs clang-tidy over sources, and exits 1 if it finds anything. Without arguments over all; `--changed`, files and folders: see sources.sh.
set -euo pipefail
. "$(dirname "$0")/sources.sh"
# The output of one file comes at once; clang-tidy's counts of suppressed warnings do not come at all.
check_each 'out=$(clang-tidy-22 -p build/sources --quiet "$0" 2>&1) || { printf "%s\n" "$out"; exit 1; }'
