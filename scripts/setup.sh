#!/usr/bin/env bash
# Installs what a fresh Debian 12 machine lacks to build trainc. Does nothing where all is there.
set -euo pipefail

packages=(
  cmake ninja-build ccache g++ python3 python3-venv
  clang-22 lld-22 clang-format-22 clang-tidy-22 libclang-rt-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev libpolly-22-dev zlib1g-dev libzstd-dev
  libfmt-dev libcli11-dev nlohmann-json3-dev libxxhash-dev flatbuffers-compiler libflatbuffers-dev
  libgtest-dev libgmock-dev libbenchmark-dev libopenmpi-dev openmpi-bin
  libssl-dev openssl libhwloc-dev liburing-dev libpcre2-dev libutf8proc-dev
  bible-kjv
  chromium-headless-shell
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
