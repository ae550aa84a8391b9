#!/usr/bin/env python3
"""Compares docs/explanation/overview.md and one-parameter.md with the sources.

 * The page names every pass that lib/Pipelines adds.
 * Its table of ops gives the number of files in each folder of lib whose casts name the op. Folders of OPEN are exempt.
 * Its table of files lists every file that asks for a trait of a target (plan/schema/targets.h). Folders and files of ASKS are exempt.
 * The page one-parameter.md names every folder of the picture of the tree (scripts/draw_house.py).

No source compares the name of a target: it asks for a trait.

Prints every difference and exits 1 if there is one.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/explanation/overview.md"
FOLLOWED = "docs/explanation/one-parameter.md"
sys.path.insert(0, str(ROOT / "scripts"))
from draw_house import includes  # noqa: E402

# Factories of MLIR.
FOREIGN_PASSES = {"Canonicalizer", "CSE"}
ADDED = re.compile(r"addPass\(create(\w+?)(?:Pass)?\(")

# Kernel skeletons, and the interpreter that computes each op.
OPEN = {"Codegen", "Fusion", "Reference"}
CAST = re.compile(r"\b(?:(?:isa|cast|dyn_cast)(?:_\w+)?<([^;{}()]*?)>\s*\(|(?:getDefiningOp|getOps|getParentOfType|OpRewritePattern)<([^;{}()]*?)>"
                  r"|(?:walk|Case)\(\[[^\]]*\]\((\w+::\w+Op)\b|Case<([^;{}()]*?)>\()")
OP = re.compile(r"\b(nn|dist)::(\w+)Op\b")

# Targets themselves, their traits, checks of plans, and devices.
ASKS = ("lib/Codegen/", "plan/schema/targets.h", "plan/verify/", "runtime/device/")
TARGETS = re.findall(r"^TRAINC_TARGET\((\w+)", (ROOT / "plan/schema/targets.def").read_text(), re.MULTILINE)
TRAITS = re.findall(r"^  bool (\w+)", (ROOT / "plan/schema/targets.h").read_text(), re.MULTILINE)
TRAIT = re.compile(rf"(?:\.|TargetTraits::)(?:{'|'.join(TRAITS)})\b(?!\()|\bhasDeviceMemory\b")
NAME = re.compile(rf'[!=]= "(?:{"|".join(TARGETS)})"')


def snake(name, separator):
    return re.sub(r"(?<!^)([A-Z])", rf"{separator}\1", name).lower()


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                yield path.relative_to(ROOT).as_posix(), path.read_text()


def passes():
    return {snake(name, "-") for _, text in sources("lib/Pipelines") for name in ADDED.findall(text) if name not in FOREIGN_PASSES}


def named_ops():
    """Number of files by op and folder."""
    counts = collections.defaultdict(collections.Counter)
    for path, text in sources("lib"):
        folder = path.split("/")[1]
        if folder not in OPEN:
            casts = " ".join(filter(None, (group for match in CAST.finditer(text) for group in match.groups())))
            for op in {f"{dialect}.{snake(name, '_')}" for dialect, name in OP.findall(casts)}:
                counts[op][folder] += 1
    return counts


def row_text(folders):
    return ", ".join(f"{folder} {folders[folder]}" for folder in sorted(folders))


def askers():
    return {path for path, text in sources("base", "dialects", "lib", "plan", "runtime", "tools") if not path.startswith(ASKS) and TRAIT.search(text)}


def comparers():
    return {path for path, text in sources("base", "dialects", "lib", "plan", "runtime", "tools") if NAME.search(text)}


def table(page, header):
    """Cells of the rows below a header."""
    rows = page[page.index(header):].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def unnamed_folders():
    page = (ROOT / FOLLOWED).read_text()
    return [folder for folder in sorted(includes()) if not re.search(rf"`{re.escape(folder)}[`/]", page)]


def differences():
    page = (ROOT / PAGE).read_text()
    for name in sorted(passes()):
        if f"`{name}`" not in page:
            yield f"{PAGE}: does not name the pass {name}, which lib/Pipelines adds"
    written = {op: cells[1] for cells in table(page, "| op | named in |") for op in re.findall(r"`([\w.]+)`", cells[0])}
    found = {op: row_text(folders) for op, folders in named_ops().items()}
    for op in sorted(written.keys() | found.keys()):
        if written.get(op) != found.get(op):
            yield (f"{PAGE}: {op} is named in {found.get(op, 'no file')}, but the table says {written.get(op, 'nothing')}; "
                   "prefer a method of an interface to a name")
    listed = {cells[0].strip("`") for cells in table(page, "| file | asks for a trait")}
    yield from (f"{path}: asks for a trait of a target, but {PAGE} does not list it; prefer a method of Target" for path in sorted(askers() - listed))
    yield from (f"{PAGE}: {path} does not ask for a trait of a target" for path in sorted(listed - askers()))
    yield from (f"{path}: compares the name of a target; ask for a trait (plan/schema/targets.h)" for path in sorted(comparers()))
    yield from (f"{FOLLOWED}: does not say what the folder {folder} does with the parameter and the setting" for folder in unnamed_folders())


def main():
    found = [*differences()]
    print("\n".join(found) or f"{PAGE} agrees with the sources: {len(passes())} passes, {len(named_ops())} ops, {len(askers())} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
