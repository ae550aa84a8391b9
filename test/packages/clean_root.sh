#!/usr/bin/env bash
# Makes the packages of a build folder, installs them with apt on a clean Debian 12 and runs the tutorials
# there: test/packages/clean_root.sh BUILD. Needs root (mounts), mmdebstrap and Debian's mirror; takes some minutes.
set -euo pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
[ "$(id -u)" -eq 0 ] || { echo "clean_root: needs root, to make a Debian and to change into it" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { apt-get update -qq; apt-get install -y -qq --no-install-recommends mmdebstrap; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
(cd "$build" && cpack -B "$work/packages" >/dev/null)
rm -rf "$work/packages/_CPack_Packages"
ls "$work/packages"

sources=(/etc/apt/sources.list /etc/apt/sources.list.d/debian.sources)
for file in "${sources[@]}"; do [ ! -f "$file" ] || cat "$file"; done >"$work/debian.sources"
# Packages that the tests of the pages need, without libraries: those come with the packages.
mmdebstrap --mode=root --variant=apt --include=ca-certificates,python3 bookworm "$root" "$work/debian.sources"

mkdir "$root/packages"
cp "$work"/packages/*.deb "$root/packages/"
mkdir -p "$root/source/test/end_to_end"
cp -r "$source"/{LICENSE,README.md,docs,examples,scripts} "$root/source/"
cp "$source"/test/end_to_end/{harness,plan_cache,tutorial_test}.py "$root/source/test/end_to_end/"

inside() { unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 "$@"; }
mkdir -p "$root/dev/shm"
inside bash -ec 'cd /packages; apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ./*.deb openmpi-bin >/dev/null'
inside bash -ec 'ldd /usr/bin/trainrun /usr/lib/trainc/*.so | grep -E "LLVM|MLIR|not found" && exit 1; trainc --version; trainrun --version'
inside env TRAINC=/usr/bin/trainc TRAINRUN=/usr/bin/trainrun python3 /source/test/end_to_end/tutorial_test.py
# The packages' own pages and examples.
inside bash -ec 'cd /tmp; trainc compile /usr/share/doc/trainc/examples/gpt/small.mlir -o small.plan; trainc tokenize /usr/share/doc/trainc/docs/*/*.md -o t.bin
  trainrun small.plan --data t.bin --steps=3
  trainc compile /usr/share/doc/trainc/examples/gpt/small.mlir --ranks=2 -o two.plan
  mpirun --allow-run-as-root --oversubscribe -n 2 trainrun two.plan --data t.bin --steps=3'
inside bash -ec 'apt-get remove -y -qq trainc trainrun >/dev/null; ! ls /usr/bin/trainc* /usr/lib/trainc 2>/dev/null'
echo "clean_root: the packages hold"
