#!/usr/bin/env bash
# Builds a copy of the tree with the examples of all pages docs/how-to/add-*.md, in build/additions, and runs what they add. A later run compiles
# only what has changed since. Of CI no part: it builds the compiler from scratch.
set -euo pipefail
cd "$(dirname "$0")/../.."
copy=$PWD/build/additions
mkdir -p "$copy"

fresh=$(mktemp -d)
trap 'rm -r "$fresh"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference --preserve=mode -t "$fresh"
for patch in test/additions/*.patch; do
  (cd "$fresh" && GIT_CEILING_DIRECTORIES=$(dirname "$fresh") git apply "$OLDPWD/$patch")
done
cat test/additions/checks/broadcast_suite.inc >> "$fresh/test/unit/runtime/comm/collectives_suite.cpp"
# Files that are equal keep their times, so that a later run builds little.
python3 - "$fresh" "$copy" <<'END'
import filecmp, os, shutil, sys
from pathlib import Path

fresh, copy = map(Path, sys.argv[1:])
wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_symlink() or path.is_file()}
held = {path.relative_to(copy) for path in copy.rglob("*") if path.is_symlink() or path.is_file() if path.relative_to(copy).parts[0] != "build"}
for path in held - wanted:
    (copy / path).unlink()
for path in wanted:
    if not os.path.lexists(copy / path) or (not (fresh / path).is_symlink() and not filecmp.cmp(fresh / path, copy / path, shallow=False)):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(fresh / path, copy / path, follow_symlinks=False)
END

cd "$copy"
[ -f build/build.ninja ] || cmake --preset release > /dev/null
tests=(runtime_comm_test runtime_comm_mpi_test runtime_comm_tcp_test)
cmake --build --preset release --target trainc trainrun trainc-check trainc-opt emulated_{cuda,cublaslt,cudnn} "${tests[@]}"
python3 test/additions/checks/checks_test.py
ctest --test-dir build --output-on-failure -R 'ABroadcastGives|^runtime_comm_mpi_[0-9]'
