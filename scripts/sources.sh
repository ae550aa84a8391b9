# Sourced by checks of single sources. Writes build/sources/compile_commands.json, a command line for each source of the release build, and
# sets `chosen` to the sources that the arguments name:
#   (none)                     all; fuzzers, which are of one source each, are compiled by the sanitizers' build
#   runtime lib/Foo.h          files or folders; a header by one source that includes it
#   --changed                  those that differ from the last commit
cd "$(dirname "$0")/.."
check=$(basename "$0" .sh)
[ -f build/build.ninja ] || cmake --preset release >/dev/null
# Everything that sources include and a build generates.
cmake --build --preset release --target trainc_tablegen plan_schema_generate runtime_test_kernels runtime_toy_kernels \
  trainc_mlir_pch trainc_mlir_test_pch trainc_runtime_pch trainc_test_pch >/dev/null
# A source is compiled as the file that CMake makes of several of its library: with the same options and precompiled header.
mkdir -p build/sources
python3 - <<'END'
import json, os, re
commands = {}
for entry in json.load(open("build/compile_commands.json")):
    file = entry["file"]
    parts = re.findall(r'^#include "(.*)"', open(file).read(), re.M) if "/Unity/unity_" in file else [file]
    for source in parts:
        commands.setdefault(source, {**entry, "file": source, "command": entry["command"].replace(f" -c {file}", f" -c {source}")})
json.dump(list(commands.values()), open("build/sources/compile_commands.json", "w"), indent=1)
END

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
