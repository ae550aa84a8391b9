"""Whether each class and enum of a namespace is defined in one file. Two definitions with one name end up in one program, and the linker takes
the functions of either for both."""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("base", "plan", "dialects", "lib", "runtime", "tools")
NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) \{")
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;{]*)? ?\{")
TEXT = re.compile(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'')
# Programs of their own: nothing else is linked with their main.cpp.
OWN = {"main.cpp"}


def types(text):
    """Qualified names of the types that a file defines in named namespaces."""
    depth, opened = 0, []  # (depth, name) of each open namespace
    for line in text.splitlines():
        line = TEXT.sub("", line)
        if match := NAMESPACE.match(line.strip()):
            opened.append((depth, match[1] or "(unnamed)"))
        elif (match := TYPE.match(line)) and depth == len(opened) and all(name != "(unnamed)" for _, name in opened):
            yield "::".join([*(name for _, name in opened), match[1]])
        depth += line.count("{") - line.count("}")
        while opened and depth <= opened[-1][0]:
            opened.pop()


def main():
    files = defaultdict(set)
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".h", ".cpp") and path.name not in OWN:
                for name in types(path.read_text()):
                    files[name].add(str(path.relative_to(ROOT)))
    assert len(files) > 500, f"only {len(files)} types were found"
    twice = {name: sorted(where) for name, where in files.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name} is defined in {' and '.join(where)}; expected one definition: rename one of them")
    sys.exit(1 if twice else 0)


main()
