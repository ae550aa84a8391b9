#!/usr/bin/env bash
# Sets up a fresh machine, builds and runs every test. `test/run.sh fast` builds and runs only the tests labelled fast.
set -euo pipefail
cd "$(dirname "$0")/.."

./scripts/build.sh
if [ "${1:-}" = fast ]; then
  exec ctest --test-dir build -L fast --output-on-failure -j2
fi
ctest --test-dir build --output-on-failure -j2

# The runtime alone, with the system's compiler and without LLVM.
cmake --preset runtime-only >/dev/null
cmake --build --preset runtime-only --target trainrun

# Memory and undefined-behaviour errors in the runtime, and the fuzzers for half a minute each.
cmake --preset asan >/dev/null
cmake --build --preset asan
ctest --test-dir build/asan --output-on-failure -j2

# Races in the runtime.
cmake --preset tsan >/dev/null
cmake --build --preset tsan
ctest --test-dir build/tsan --output-on-failure -j2
