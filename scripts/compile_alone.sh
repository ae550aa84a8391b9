#!/usr/bin/env bash
# Checks that each source compiles by itself, which a build of several sources in one does not show: a forgotten include, a name of a
# neighbour. Makes no code. Without arguments all sources but those that the release build (build/) has compiled so;
# `--changed`, files and folders: see sources.sh.
set -euo pipefail
. "$(dirname "$0")/sources.sh"
if [ $# -eq 0 ]; then
  # A source that the build compiles alone, and the first of CMake's files of several, come after the precompiled header alone.
  compiled=$(python3 - <<'END'
import json, os, re
for entry in json.load(open("build/compile_commands.json")):
    file, made = entry["file"], os.path.join(entry["directory"], re.search(r" -o (\S+)", entry["command"])[1])
    source = re.search(r'#include "(.*)"', open(file).read())[1] if "/Unity/unity_" in file else file
    if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(source):
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
