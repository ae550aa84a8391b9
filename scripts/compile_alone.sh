#!/usr/bin/env bash
# Checks that each source compiles by itself, which a build of several sources in one does not show: a forgotten include, a name of a
# neighbour. Makes no code. Without arguments all sources but those that begin a file of the release build (build/), which it has compiled so;
# `--changed`, files and folders: see sources.sh.
set -euo pipefail
. "$(dirname "$0")/sources.sh"
if [ $# -eq 0 ]; then
  # The first source of CMake's files of several is compiled after the precompiled header alone.
  compiled=$(python3 - <<'END'
import os, pathlib, re
for unity in pathlib.Path("build").glob("**/Unity/unity_*.cxx"):
    if unity.parts[1] in ("sources", "asan", "ubsan", "tsan", "debug", "runtime-only"):
        continue
    source = re.search(r'#include "(.*)"', unity.read_text())[1]
    made = unity.with_name(unity.name + ".o")
    if made.exists() and made.stat().st_mtime > os.path.getmtime(source):
        print(os.path.relpath(source))
END
  )
  mapfile -t chosen < <(comm -23 <(printf '%s\n' "${chosen[@]}" | sort) <(sort -u <<< "$compiled"))
fi
export commands=build/sources/commands
python3 - > "$commands" <<'END'
import json, os
for entry in json.load(open("build/sources/compile_commands.json")):
    source = os.path.relpath(entry["file"])
    command = entry["command"].replace(" -c ", " -fsyntax-only ")
    print(f"{source}\tcd '{entry['directory']}' && {command}")
END
check_each 'bash -c "$(awk -F"\t" -v source="$0" "\$1 == source { print \$2; exit }" "$commands")"'
