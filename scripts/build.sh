#!/usr/bin/env bash
# Sets up the machine, configures and builds everything into build/; programs end up in build/bin. TRAINC_CONFIGURE: further
# options for the first configuration.
set -euo pipefail
cd "$(dirname "$0")/.."
./scripts/setup.sh
# shellcheck disable=SC2086 # several options
[ -f build/build.ninja ] || cmake --preset release ${TRAINC_CONFIGURE:-}
cmake --build --preset release "$@"
