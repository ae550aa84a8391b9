#!/usr/bin/env bash
# Checks that each source compiles by itself, which a build of several sources in one does not show: a forgotten include, a name of a
# neighbour. Makes no code. Without arguments all sources; `--changed`, files and folders: see sources.sh.
set -euo pipefail
. "$(dirname "$0")/sources.sh"
export commands=build/sources/commands
python3 - > "$commands" <<'END'
import json, os
for entry in json.load(open("build/sources/compile_commands.json")):
    source = os.path.relpath(entry["file"])
    command = entry["command"].replace(" -c ", " -fsyntax-only ")
    print(f"{source}\tcd '{entry['directory']}' && {command}")
END
check_each 'bash -c "$(awk -F"\t" -v source="$0" "\$1 == source { print \$2; exit }" "$commands")"'
