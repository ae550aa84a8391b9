#!/usr/bin/env bash
# Makes the kit that run.sh needs on a machine with a GPU and without LLVM: see README.md.
exec python3 "$(dirname "$0")/prepare.py" "$@"
