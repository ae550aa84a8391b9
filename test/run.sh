#!/usr/bin/env bash
# Sets up a fresh machine, builds and tests:
#   test/run.sh              the programs that users run, and all tests of them
#   test/run.sh fast         the same programs, and the tests that take seconds
#   test/run.sh sources      whether each source compiles by itself
#   test/run.sh site         whether the site of docs/ builds (MkDocs from PyPI), and shows its pages in a browser
#   test/run.sh sanitizers   the runtime under sanitizers, and the fuzzers
#   test/run.sh matrix       planned against allocated bytes, and losses, in every combination of settings; every model on emulated GPUs in
#                            every precision and stage; a fault at every transfer of offloaded tensors; more limits of memory. Else some are tested
#   test/run.sh additions    the examples of docs/how-to/add-*.md, built together in a copy and run
#   test/run.sh packages     the Debian packages of the release build, installed on a clean Debian 12 (as root, from Debian's mirror)
set -euo pipefail
cd "$(dirname "$0")/.."

# Some tests wait for a peer or a clock, and leave their processor to another.
jobs=$(($(nproc) + 1))

stage() { printf '\n== %s (after %d min %02d s)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

release() {
  stage "build"
  ./scripts/build.sh
  ./scripts/python.sh
  stage "tests of the release build"
  ctest --test-dir build -LE matrix --output-on-failure -j"$jobs" "$@"
}

sources() {
  stage "each source by itself"
  ./scripts/compile_alone.sh
}

site() {
  stage "the site of docs/"
  ./scripts/docs.sh
  python3 test/structure/site_pages.py
}

sanitizers() {
  stage "the compiler that makes plans for the sanitized runtime"
  ./scripts/build.sh --target trainc

  stage "AddressSanitizer and UndefinedBehaviorSanitizer: runtime tests, and the fuzzers for ten seconds each"
  cmake --preset asan >/dev/null
  cmake --build --preset asan --target runtime_tests fuzzers
  # The largest shapes take many threads and megabytes; those that are left have as uneven parts. The emulator's own steps take minutes.
  ctest --test-dir build/asan -L 'runtime|fuzz' -E 'runtime_training_test_cuda|TokenizeLongTexts|LongLines|CheckpointRanksTest.*/[0-3]|Large.*/.*_(8|12)_by|(AfterTheWait|SmallFloats).*_(8|12)_by' --output-on-failure -j"$jobs"
  DAMAGE_PLAN="$PWD/build/asan/bin/damage_plan" python3 test/end_to_end/tools_test.py Plans.test_any_byte_changed_is_refused_or_runs_safely

  stage "all that needs no LLVM, with the system's compiler; ThreadSanitizer: the runtime's threads"
  cmake --preset tsan >/dev/null
  cmake --build --preset tsan --target trainc trainrun make_toy_plan runtime_{comm,device,executor,training,data,state}_test
  # One shape has the order of accesses of all, and one seed those of the emulated device; what processes do to each other it does not see.
  ctest --test-dir build/tsan -L runtime -E 'CheckpointRanksTest.*/[1-9]|Large.*/(threads_[1348]|processes)|(AfterTheWait|SmallFloats).*(_8|_12|processes.*)_by|executor_test_emulated_2' --output-on-failure -j"$jobs"
  ctest --test-dir build/tsan -R e2e_without_llvm --output-on-failure
}

matrix() {
  stage "build"
  ./scripts/build.sh
  export TRAINC_ALL_COMBINATIONS=1
  stage "every combination of settings"
  python3 test/end_to_end/memory_matrix_test.py MemoryMatrixTest.test_every_combination
  stage "every model in every precision and stage on emulated GPUs; a fault at every transfer; more limits; the benchmarks of two builds and of ranks"
  ctest --test-dir build -R '^e2e_(benchmark|cuda_models|import|offload|planner|simulate)$' --output-on-failure
  stage "plans on the emulated device whose order others test; random programs with faults; contents of the packages"
  ctest --test-dir build -L matrix --output-on-failure
  stage "random programs until they hold all ops; registers of GPU kernels, and more kernels on emulated GPUs"
  build/bin/random_programs --programs=60 --all-ops
  /usr/lib/llvm-22/bin/lit -sv build/test/lit/codegen/cuda-registers.test build/test/lit/check/gpu/{llama,ops-fp16,widths}.test
}

additions() {
  ./scripts/setup.sh
  stage "all examples of additions in a copy"
  test/additions/run.sh
}

packages() {
  stage "build"
  ./scripts/build.sh
  stage "packages on a clean Debian 12"
  test/packages/clean_root.sh build
}

case "${1:-}" in
  "") release ;;
  fast) release -L 'fast|runtime' ;;
  sources) sources ;;
  site) site ;;
  sanitizers) sanitizers ;;
  matrix) matrix ;;
  additions) additions ;;
  packages) packages ;;
  *) echo "usage: $0 [fast|sources|site|sanitizers|matrix|additions|packages]" >&2; exit 2 ;;
esac
stage "done"
