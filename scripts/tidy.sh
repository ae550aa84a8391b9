#!/usr/bin/env bash
# Runs clang-tidy over the sources that build/ compiles, and exits 1 if it finds anything:
#   scripts/tidy.sh                    all of them
#   scripts/tidy.sh runtime lib/Foo.h  those given, files or folders; a header by way of one source that includes it
#   scripts/tidy.sh --changed          those that differ from the last commit
# The folder must have been built by clang: its precompiled header and generated files are read. BUILD names another than build/, such as
# build/asan, which alone compiles the fuzzers.
set -euo pipefail
cd "$(dirname "$0")/.."
export BUILD=${BUILD:-build}
[ -f "$BUILD/compile_commands.json" ] || { echo "tidy: no $BUILD/compile_commands.json; run scripts/build.sh" >&2; exit 1; }

mapfile -t compiled < <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\".*|\1|p" "$BUILD/compile_commands.json" | grep -v '^build/' | sort -u)

# The first compiled source that includes a header, by its path or, from its own folder, by its name.
includer_of() {
  { grep -lF "#include \"$1\"" "${compiled[@]}" || true
    printf '%s\n' "${compiled[@]}" | grep "^$(dirname "$1")/[^/]*$" | xargs -r grep -lF "#include \"$(basename "$1")\"" || true
  } | sed -n 1p
}

# Compiled sources that one argument stands for.
sources_of() {
  case $1 in
    *.h) includer_of "$1" ;;
    *) printf '%s\n' "${compiled[@]}" | grep -E "^${1%/}(/|$)" || true ;;
  esac
}

given=("$@")
if [ "${1:-}" = --changed ]; then
  mapfile -t given < <({ git diff --name-only --diff-filter=d HEAD; git ls-files --others --exclude-standard; } | grep -E '\.(cpp|h)$')
  [ ${#given[@]} -gt 0 ] || exit 0
fi
if [ ${#given[@]} -eq 0 ]; then
  chosen=("${compiled[@]}")
else
  mapfile -t chosen < <(for name in "${given[@]}"; do sources_of "$name"; done | sort -u)
fi
[ ${#chosen[@]} -gt 0 ] || { echo "tidy: $BUILD compiles nothing of: ${given[*]}" >&2; exit 1; }

# The output of one file comes at once; clang-tidy's counts of suppressed warnings do not come at all.
check='out=$(clang-tidy-22 -p "$BUILD" --quiet "$0" 2>&1) || { printf "%s\n" "$out"; exit 1; }'
printf '%s\0' "${chosen[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c "$check" || { echo "tidy: findings above" >&2; exit 1; }
echo "tidy: ${#chosen[@]} sources are clean"
