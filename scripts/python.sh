#!/usr/bin/env bash
# Installs trainc-data (python/) and its packages from PyPI into build/python, if pyproject.toml changed: build/bin/trainc-data then runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/python
stamp=$venv/installed
[ "$(cat "$stamp" 2>/dev/null)" = "$(sha256sum python/pyproject.toml)" ] && exit 0
python3 -m venv "$venv" || { echo "python.sh: no venv; install the package python3-venv" >&2; exit 1; }
# Editable: changes of the sources need no new installation.
"$venv/bin/pip" install --quiet --disable-pip-version-check --editable 'python[test]'
mkdir -p build/bin
ln -sfn ../python/bin/trainc-data build/bin/trainc-data
sha256sum python/pyproject.toml > "$stamp"
