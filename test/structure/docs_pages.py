#!/usr/bin/env python3
"""Checks the pages by themselves: no program, no package, no network.

 * Every relative link and picture in a *.md file of the repository leads to a file, and every #anchor to a heading of it.
 * Every page of docs/ that a comment, a message or a script names exists.
 * Every page of docs/ is in a folder of its kind, and docs/README.md or the README of the folder links to it.
 * Every row of a table has as many cells as its header. (A | in a cell is written \\|, in code too.)
 * No page but the generated ones has more than MAX_WORDS words outside blocks of code.

Prints every offence and exits 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
KINDS = ("tutorials", "how-to", "reference", "explanation", "adr", "measurements")
GENERATED = tuple(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs/reference").glob("*.md"))
                  if path.read_text().startswith("<!-- Generated from "))
OF_THEIR_TIME = ("docs/adr/", "docs/measurements/")
MAX_WORDS = 1600
SOURCES = ("base", "dialects", "examples", "lib", "plan", "runtime", "scripts", "test", "tools")
NAMED = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|mlir|svg)")


def pages():
    """Path and text of every page outside build folders."""
    paths = (path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
    return {path.as_posix(): (ROOT / path).read_text() for path in sorted(paths) if path.parts[0] != "build"}


def without_code(text):
    """The text with blocks of code emptied, so that lines keep their numbers."""
    return FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def anchors(text):
    """Anchors of the headings, as GitHub and the site make them."""
    found, counts = set(), {}
    for heading in HEADING.finditer(without_code(text)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        name = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        counts[name] = counts.get(name, -1) + 1
        found.add(f"{name}-{counts[name]}" if counts[name] else name)
    return found


def links(path, text):
    """Line, target and anchor of every relative link; the target is a path from the root."""
    for link in LINK.finditer(without_code(text)):
        target, _, anchor = link[1].partition("#")
        if "://" not in target and not target.startswith("mailto:"):
            place = ((ROOT / path).parent / target).resolve() if target else ROOT / path
            yield line_of(text, link.start()), link[1], place, anchor


def broken_links(texts):
    for path, text in texts.items():
        for line, shown, target, anchor in links(path, text):
            if not target.exists():
                yield f"{path}:{line}: the link to {shown} leads nowhere"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                yield f"{path}:{line}: the link to {shown} names no heading of that page"


def missing_pages():
    files = (path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*")))
    for path in files:
        if path.suffix not in (".cpp", ".fbs", ".h", ".json", ".mlir", ".py", ".sh", ".td", ".txt", ".js"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for page in NAMED.findall(line):
                if not (ROOT / page).exists() and "DATE" not in page:
                    yield f"{path.relative_to(ROOT)}:{number}: there is no page {page}"


def lost_pages(texts):
    """Pages of docs/ in no folder of a kind, or that no list of pages links to."""
    listed = {target for path in texts if re.fullmatch(r"docs/(\w+/)?README\.md", path) for _, _, target, _ in links(path, texts[path])}
    for path in texts:
        parts = pathlib.PurePath(path).parts
        if parts[0] != "docs" or parts[-1] == "README.md":
            continue
        if path != "docs/glossary.md" and (len(parts) != 3 or parts[1] not in KINDS):
            yield f"{path}: expected in one of the folders {', '.join(KINDS)} of docs"
        if ROOT / path not in listed:
            yield f"{path}: expected a link to this page in docs/README.md, or in the README of its folder"


def ragged_tables(texts):
    for path, text in texts.items():
        cells = None
        for number, row in enumerate(without_code(text).splitlines(), 1):
            if not row.startswith("|"):
                cells = None
                continue
            found = len(re.findall(r"(?<!\\)\|", row)) - 1
            cells = cells or found
            if found != cells:
                yield f"{path}:{number}: a row of {found} cells in a table of {cells}"


def long_pages(texts):
    for path, text in texts.items():
        words = len(without_code(re.sub(r"^ {4,}.*$", "", text, flags=re.MULTILINE)).split())
        if path.startswith("docs/") and not path.startswith(GENERATED + OF_THEIR_TIME) and words > MAX_WORDS:
            yield f"{path}: {words} words, expected at most {MAX_WORDS}; split the page"


def main():
    texts = pages()
    found = [*broken_links(texts), *missing_pages(), *lost_pages(texts), *ragged_tables(texts), *long_pages(texts)]
    print("\n".join(found) or f"links hold in {len(texts)} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
