#!/usr/bin/env bash
# Builds the site of docs/ into build/site. A broken link, or a page that mkdocs.yml does not list, is an error.
#   scripts/docs.sh            build; open build/site/index.html
#   scripts/docs.sh serve      serve on localhost:8000 and follow changes
# MkDocs and its theme come from PyPI into build/docs-venv; MKDOCS names another mkdocs that has the theme.
set -euo pipefail
cd "$(dirname "$0")/.."

export NO_MKDOCS_2_WARNING=1 # a notice of the theme, not of these pages
mkdocs=${MKDOCS:-build/docs-venv/bin/mkdocs}
if [ -z "${MKDOCS:-}" ] && [ ! -x "$mkdocs" ]; then
  python3 -m venv build/docs-venv || { echo "docs.sh: no venv; install the package python3-venv" >&2; exit 1; }
  build/docs-venv/bin/pip install --quiet mkdocs-material==9.8.2
fi
case "${1:-}" in
  "") "$mkdocs" build --strict && echo "build/site/index.html" ;;
  serve) "$mkdocs" serve --strict ;;
  *) echo "usage: $0 [serve]" >&2; exit 2 ;;
esac
