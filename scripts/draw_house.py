#!/usr/bin/env python3
"""Draws docs/explanation/house.svg: the folders of the source tree, and who includes whom.

  scripts/draw_house.py > docs/explanation/house.svg
  scripts/draw_house.py --check      fails if the picture is out of date

Each folder stands above the folders of its box that it includes. An arrow points to a box that another one includes.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/explanation/house.svg"
sys.path.insert(0, str(ROOT / "test/structure"))
from include_rules import INCLUDE, room_of  # noqa: E402

# Rooms: left edge and width of the box, its colour, and what the room is for.
ROOMS = {
    "tools": (20, 920, "#f1e6f5", "the programs"),
    "lib": (20, 445, "#dfe9f7", "the compiler: a folder for each phase"),
    "dialects": (20, 445, "#dfe9f7", "ops, types and settings, in MLIR"),
    "runtime": (495, 445, "#e1f0e3", "executes plans; no LLVM"),
    "plan": (20, 920, "#fbeccf", "the plan: its format, what it implies, its checks, its cost; no LLVM"),
    "base": (20, 920, "#eef0f3", "errors, files, texts"),
}
STOREYS = (("tools",), ("lib", "runtime"), ("dialects",), ("plan",), ("base",))
ROW, TITLE, GAP = 24, 30, 34


def includes():
    """The folders that each folder includes."""
    graph = {}
    for room in ROOMS:
        for path in sorted(ROOT.joinpath(room).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                own = room_of(path.relative_to(ROOT).as_posix())
                others = {room_of(name) for name in INCLUDE.findall(path.read_text()) if name.split("/")[0] in ROOMS}
                graph.setdefault(own, set()).update(others - {own})
    return graph


def levels(graph, room):
    """Rows of the room's folders, the lowest first: a folder stands above all of the room that it includes, interfaces of neighbours aside."""
    folders = sorted(folder for folder in graph if folder.split("/")[0] == room)
    height = {}

    def of(folder, above=()):
        if folder not in height:
            inner = [other for other in graph[folder] if other in folders and other not in above]
            height[folder] = 1 + max((of(other, (*above, folder)) for other in inner), default=-1)
        return height[folder]

    rows = {}
    for folder in folders:
        rows.setdefault(of(folder), []).append(folder.partition("/")[2] or "one folder")
    return [rows[level] for level in sorted(rows)]


def text(x, y, words, anchor="start", size=12, colour="#222", weight="normal"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">{words}</text>'


def direct(edges):
    """The edges that no path of others implies."""
    def reaches(a, b):
        return any(middle == b or reaches(middle, b) for start, middle in edges if start == a)
    return {(a, b) for a, b in edges if not any(start == a and middle != b and reaches(middle, b) for start, middle in edges)}


def draw(graph):
    rows = {room: levels(graph, room) for room in ROOMS}
    height = {room: TITLE + ROW * len(rows[room]) for room in ROOMS}
    top, bottom = {}, 0
    for storey in STOREYS:
        for room in storey:
            top[room] = bottom + GAP
        bottom = top[storey[0]] + height[storey[0]]
    height["runtime"] = top["dialects"] + height["dialects"] - top["runtime"]  # beside the compiler's two rooms
    drawn = []
    for room, (left, width, colour, purpose) in ROOMS.items():
        drawn.append(f'<rect x="{left}" y="{top[room]:g}" width="{width}" height="{height[room]:g}" rx="6" fill="{colour}" stroke="#8a8f98"/>')
        drawn.append(text(left + 10, top[room] + 18, f"{room}/", size=14, weight="bold"))
        drawn.append(text(left + width - 10, top[room] + 18, purpose, "end", 11, "#555"))
        space = (height[room] - TITLE) / len(rows[room])
        for number, names in enumerate(reversed(rows[room])):
            for place, name in enumerate(names):
                drawn.append(text(left + width * (place + 0.5) / len(names), top[room] + TITLE + space * (number + 0.5), name, "middle"))
    edges = {(a.split("/")[0], b.split("/")[0]) for a, others in graph.items() for b in others}
    for a, b in sorted(direct({(a, b) for a, b in edges if a != b})):
        x = max(ROOMS[a][0], ROOMS[b][0]) + min(ROOMS[a][1], ROOMS[b][1]) / 2
        drawn.append(f'<path d="M{x:g} {top[a] + height[a]:g}V{top[b]:g}" stroke="#444" stroke-width="1.5" marker-end="url(#arrow)"/>')
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {bottom + 20:g}" font-family="sans-serif">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>
<rect width="960" height="{bottom + 20:g}" fill="#fff"/>
{chr(10).join(drawn)}
</svg>
"""


def main():
    picture = draw(includes())
    if sys.argv[1:] != ["--check"]:
        sys.stdout.write(picture)
        return 0
    if PICTURE.read_text() != picture:
        print(f"{PICTURE.relative_to(ROOT)} is out of date: run scripts/draw_house.py > {PICTURE.relative_to(ROOT)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
