#!/usr/bin/env bash
# Sets up a fresh machine, builds and runs every test. `test/run.sh fast` builds and runs only what takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

stage() { printf '\n== %s (after %d min %02d s)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# Builds from nothing take half of the time with several files in one; developers' builds of a few files do not.
stage "build"
TRAINC_CONFIGURE="-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16" ./scripts/build.sh
if [ "${1:-}" = fast ]; then
  exec ctest --test-dir build -L 'fast|runtime' --output-on-failure -j2
fi

stage "AddressSanitizer and UndefinedBehaviorSanitizer: runtime tests, and the fuzzers for ten seconds each"
cmake --preset asan >/dev/null
cmake --build --preset asan --target runtime_tests fuzzers
# The largest shapes take many threads and megabytes; those that are left have as uneven parts.
ctest --test-dir build/asan -L 'runtime|fuzz' -E 'LongTextsComeInPieces|CheckpointRanksTest.*/[0-3]|Large.*/.*_(8|12)_by|AfterTheWait.*_(8|12)_by' --output-on-failure -j2
DAMAGE_PLAN="$PWD/build/asan/bin/damage_plan" python3 test/end_to_end/tools_test.py Plans.test_any_byte_changed_is_refused_or_runs_safely

stage "the runtime alone, without LLVM and with the system's compiler; ThreadSanitizer: its threads"
cmake --preset tsan >/dev/null
cmake --build --preset tsan --target trainrun runtime_{comm,device,executor,training,data,state}_test
# One shape has the order of accesses of all; what processes do to each other it does not see.
ctest --test-dir build/tsan -L runtime -E 'CheckpointRanksTest.*/[1-9]|Large.*/(threads_[1348]|processes)|AfterTheWait.*(_8|_12|processes.*)_by' --output-on-failure -j2

stage "all tests of the release build"
ctest --test-dir build --output-on-failure -j2
stage "done"
