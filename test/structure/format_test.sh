#!/usr/bin/env bash
# Every source is formatted with the repository's .clang-format.
set -euo pipefail
cd "$(dirname "$0")/../.."
find dialects lib runtime tools test -name '*.cpp' -o -name '*.h' | xargs clang-format-22 --dry-run -Werror
