# Sourced by checks of single sources. Prepares build/sources, which has a command line for each source, and sets `chosen` to the sources
# that the arguments name:
#   (none)                     all
#   runtime lib/Foo.h          files or folders; a header by one source that includes it
#   --changed                  those that differ from the last commit
cd "$(dirname "$0")/.."
check=$(basename "$0" .sh)
[ -f build/sources/build.ninja ] || cmake --preset sources >/dev/null
# Everything that sources include and a build generates.
cmake --build --preset sources --target trainc_tablegen plan_schema_generate runtime_test_kernels runtime_toy_kernels \
  trainc_mlir_pch trainc_mlir_test_pch trainc_runtime_pch trainc_test_pch >/dev/null

mapfile -t sources < <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\".*|\1|p" build/sources/compile_commands.json | grep -v '^build/' | sort -u)

# The first source that includes a header, by its path or, from its own folder, by its name.
includer_of() {
  { grep -lF "#include \"$1\"" "${sources[@]}" || true
    printf '%s\n' "${sources[@]}" | grep "^$(dirname "$1")/[^/]*$" | xargs -r grep -lF "#include \"$(basename "$1")\"" || true
  } | sed -n 1p
}

# Sources that one argument names.
sources_of() {
  case $1 in
    *.h) includer_of "$1" ;;
    *) printf '%s\n' "${sources[@]}" | grep -E "^${1%/}(/|$)" || true ;;
  esac
}

given=("$@")
if [ "${1:-}" = --changed ]; then
  mapfile -t given < <({ git diff --name-only --diff-filter=d HEAD; git ls-files --others --exclude-standard; } | grep -E '\.(cpp|h)$')
  [ ${#given[@]} -gt 0 ] || exit 0
fi
if [ ${#given[@]} -eq 0 ]; then
  chosen=("${sources[@]}")
else
  mapfile -t chosen < <(for name in "${given[@]}"; do sources_of "$name"; done | sort -u)
fi
[ ${#chosen[@]} -gt 0 ] || { echo "$check: no source is compiled for: ${given[*]}" >&2; exit 1; }

# Runs the script `$1` with each chosen source as $0, two or more beside each other. Exits 1 if one fails.
check_each() {
  printf '%s\0' "${chosen[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c "$1" || { echo "$check: findings above" >&2; exit 1; }
  echo "$check: ${#chosen[@]} sources are clean"
}
