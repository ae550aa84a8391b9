#!/usr/bin/env python3
"""Draws pictures of the documentation.

That of README.md, docs/pictures/step.svg: a step's memory over time, and the loss of a run, both of one model. examples/gpt/run.sh leaves
small.plan and metrics.jsonl in build/examples/gpt.

  trainc report small.plan --json > small.json
  python3 scripts/draw_pictures.py small.json metrics.jsonl > docs/pictures/step.svg

The page of a report in docs/how-to/read-a-report.md. The page shows the plan's name as it was given, so the plan lies in the current folder.

  trainc compile examples/gpt/gpt.mlir -o gpt.plan --target=cuda --ranks=8 --zero-stage=3 --memory-limit=20GiB
  trainc report gpt.plan -o gpt.html
  python3 scripts/draw_pictures.py gpt.html docs/how-to/plan-report.png
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test/end_to_end"))
import browser

COLOURS = {"parameters": "#3b5b92", "optimizer states": "#7f9fcf", "activations": "#e8a33d", "gradients": "#b5482f", "workspace": "#8f8f8f",
           "inputs": "#5a9a6e", "caches": "#9a7fb0", "gathered parameters": "#c98bb9"}
WIDTH, HEIGHT, TOP, BOTTOM = 960, 330, 44, 286
MEMORY, LOSS = (60, 560), (650, 935)  # left and right of the two panels


def text(x, y, words, size=12, anchor="start", colour="#333"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def line(x1, y1, x2, y2, colour="#ddd"):
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}"/>'


def memory(report):
    """Rectangles of the values of micro_step, a path for each kind: from the write to the last read, at their addresses."""
    entry = next(entry for entry in report["entries"] if entry["name"] == "micro_step")
    begins, values, buffers, arenas = entry["moments"]["begin"] + [entry["seconds"]], entry["values"], report["buffers"], report["arenas"]
    bases, total = [], 0
    for arena in arenas:
        bases.append(total)
        total += arena["bytes"]
    left, right = MEMORY
    x = lambda seconds: left + (right - left) * seconds / entry["seconds"]
    y = lambda offset: BOTTOM - (BOTTOM - TOP) * offset / total
    paths = {}
    def rectangle(kind, begin, end, offset, size):
        corner, height = y(offset + size), y(offset) - y(offset + size)
        if height > 0.05:
            paths.setdefault(kind, []).append(f"M{x(begin):.1f} {corner:.1f}H{x(end):.1f}v{height:.2f}H{x(begin):.1f}z")
    for number, arena in enumerate(buffers["arena"]):
        if arenas[arena]["persistent"]:
            kind = report["kinds"][buffers["kind"][number]]
            rectangle(kind, 0, entry["seconds"], bases[arena] + buffers["offset"][number], buffers["bytes"][number])
    for begin, end, number, offset, size in zip(*(values[key] for key in ("begin", "end", "buffer", "offset", "bytes"))):
        arena = buffers["arena"][number]
        if not arenas[arena]["persistent"]:
            rectangle(report["kinds"][buffers["kind"][number]], begins[begin], begins[end], bases[arena] + offset, size)
    drawn = [text(left, 24, "Memory of one training step, planned by trainc", 15)]
    mebibyte, step = 1 << 20, 10
    for mark in range(0, total // mebibyte + 1, step):
        drawn += [line(left, y(mark * mebibyte), right, y(mark * mebibyte)), text(left - 8, y(mark * mebibyte) + 4, f"{mark}", anchor="end")]
    drawn.append(text(left - 8, TOP - 6, "MiB", anchor="end"))
    drawn += [f'<path d="{"".join(paths[kind])}" fill="{COLOURS[kind]}" stroke="#fff" stroke-width=".3"/>' for kind in paths]
    drawn += [f'<path d="M{left} {TOP}H{right}" stroke="#b5482f" stroke-dasharray="5 3"/>', text(right, TOP - 6, f"peak {total / mebibyte:.1f} MiB, as allocated", anchor="end", colour="#b5482f")]
    drawn += [text(left, BOTTOM + 18, "0"), text(right, BOTTOM + 18, f"{entry['seconds'] * 1e3:.0f} ms, predicted", anchor="end")]
    column = left
    for kind in ("parameters", "optimizer states", "activations"):
        shown = "activations and gradients" if kind == "activations" else kind  # on one rank plans count both as activations
        drawn += [f'<rect x="{column}" y="{BOTTOM + 28}" width="11" height="11" fill="{COLOURS[kind]}"/>', text(column + 16, BOTTOM + 38, shown)]
        column += 30 + 7 * len(shown)
    return drawn


def loss(lines):
    """The curve of the training loss, means of 15 steps, and the losses of evaluations."""
    steps = [(entry["step"], entry["loss"]) for entry in lines if "loss" in entry]
    evaluations = [(entry["step"], entry["eval_loss"]) for entry in lines if "eval_loss" in entry]
    last, highest = steps[-1][0], 6
    left, right = LOSS
    x = lambda step: left + (right - left) * step / last
    y = lambda value: BOTTOM - (BOTTOM - TOP) * value / highest
    drawn = [text(left, 24, "Its loss on the King James Bible", 15)]
    for mark in range(highest + 1):
        drawn += [line(left, y(mark), right, y(mark)), text(left - 8, y(mark) + 4, f"{mark}", anchor="end")]
    groups = [steps[begin:begin + 15] for begin in range(0, len(steps), 15)]
    points = " ".join(f"{x(group[0][0]):.1f},{y(sum(value for _, value in group) / len(group)):.1f}" for group in groups)
    drawn.append(f'<polyline points="{points}" fill="none" stroke="#3b5b92" stroke-width="1.5"/>')
    drawn += [f'<circle cx="{x(step):.1f}" cy="{y(value):.1f}" r="3.5" fill="#b5482f"/>' for step, value in evaluations]
    drawn += [text(left, BOTTOM + 18, "0"), text(right, BOTTOM + 18, f"{last} steps", anchor="end")]
    drawn += [line(left, BOTTOM + 34, left + 16, BOTTOM + 34, "#3b5b92"), text(left + 22, BOTTOM + 38, "training")]
    drawn += [f'<circle cx="{left + 102}" cy="{BOTTOM + 34}" r="3.5" fill="#b5482f"/>', text(left + 112, BOTTOM + 38, f"evaluation: {evaluations[-1][1]:.3f} at the end")]
    return drawn


def page(path, picture):
    """The upper part of a report's page."""
    with browser.Browser(1280, 1110) as shown:
        shown.open(path)
        plan = shown.evaluate("report.plan.file")
        if "/" in plan:
            sys.exit(f"{path}: the page shows the path {plan}; run trainc report beside the plan")
        shown.point_at(640, 700)
        shown.screenshot(picture, whole=False)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1].endswith(".html"):
        return page(sys.argv[1], sys.argv[2])
    report = json.loads(pathlib.Path(sys.argv[1]).read_text())
    lines = [json.loads(entry) for entry in pathlib.Path(sys.argv[2]).read_text().splitlines()]
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">')
    print(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>')
    print("\n".join(memory(report) + loss(lines)))
    print("</svg>")


if __name__ == "__main__":
    main()
