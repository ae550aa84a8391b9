#!/usr/bin/env bash
# The checklist for a GPU: see README.md.
exec python3 "$(dirname "$0")/checklist.py" "$@"
