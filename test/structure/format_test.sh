#!/usr/bin/env bash
# Every source is formatted with the repository's .clang-format, and a section's banner has one form.
set -euo pipefail
cd "$(dirname "$0")/../.."
sources=$(find base dialects lib plan runtime tools test -name '*.cpp' -o -name '*.h')
xargs clang-format-22 --dry-run -Werror <<< "$sources"
if xargs grep -nE '^//( ?---| ?-- |===)' <<< "$sources" | grep -vE ':// --- .* ---$'; then
  echo "these banners of sections have another form; expected: // --- Title ---" >&2
  exit 1
fi
