#!/usr/bin/env bash
# Sets up the machine, configures and builds everything into build/; programs end up in build/bin. Arguments go to `cmake --build`.
set -euo pipefail
cd "$(dirname "$0")/.."
./scripts/setup.sh
[ -f build/build.ninja ] || cmake --preset release
cmake --build --preset release "$@"
