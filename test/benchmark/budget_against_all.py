#!/usr/bin/env python3
"""Compares a budget with the fastest of other ways to keep shares of blocks, for 50 limits, as Markdown.

    test/benchmark/budget_against_all.py > docs/measurements/DATE-budget-against-all.md

Nothing is run. `trainc estimate` plans each way as given settings, and `trainc compile --activation-checkpointing=budget` decides for limits evenly spaced between
the minimum over all and the memory of `none`. Each plan must be within its limit, and no smaller limit may be predicted faster. Needs build/bin/trainc; standard library only.
Takes ten minutes on two cores. Exit codes: 0; 1 if a program failed or a limit was not kept.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import sys

import planner_against_all
from planner_against_all import MIB, ROOT

SHARES = sorted([100, *planner_against_all.SHARES])
LIMITS = 50

HEAD = """# A budget beside other ways to keep shares of blocks

**These are plans and predictions, not measurements.** Made by

    test/benchmark/budget_against_all.py

which plans two models with what their blocks may keep: 0, 15, 30, 60 or 100 % of their bytes. With four blocks these are all ways, with twelve those in which no block keeps more than the
next one. For each of 50 limits, from what the smallest of all takes to what `none` takes, the fastest of
all that fit stands beside what `trainc compile --activation-checkpointing=budget` takes. Each plan keeps its limit, and no smaller limit is predicted faster, or the script fails. Rows in which
nothing changes are left out.
"""

TAIL = """
* A budget plans some forty of them: the first blocks keep one share, the next ones another, and the last one all or as much as these. A finer choice would cost plans. With four blocks one share more of one block is
  a large step, so what is lost is more than with twelve.
* What the last block drops comes back first, while all others still wait. So to drop it saves nothing, unless memory is the fullest at the loss.
"""


class Model:
    def __init__(self, name, path, blocks, options, any_order):
        self.name, self.path, self.blocks, self.options, self.any_order = name, path, blocks, options, any_order

    def ways(self):
        """As texts of `--checkpoint-keep`. In any order, or blocks keep no more than the next one."""
        ways = itertools.product(SHARES, repeat=self.blocks) if self.any_order else itertools.combinations_with_replacement(SHARES, self.blocks)
        return [",".join(map(str, way)) for way in ways]


MODELS = [
    Model("examples/gpt/small.mlir, 4 blocks in any order", ROOT / "examples/gpt/small.mlir", 4, ["--micro-batch=8", "--accumulate=1"], True),
    Model("examples/gpt/gpt.mlir (GPT-2 124M), 12 blocks", ROOT / "examples/gpt/gpt.mlir", 12, ["--micro-batch=4"], False),
]


def estimate(trainc, model, keep, rest="selective"):
    """Bytes that the plan needs, and its seconds."""
    again = ["--activation-checkpointing=full", f"--checkpoint-keep={keep}", f"--checkpoint-rest={rest}"]
    return planner_against_all.estimate(trainc, model.path, ["--offload=none", *model.options, *again])


def decide(trainc, model, limit):
    """Ops that the budget keeps, inside blocks and outside."""
    budget = ["--activation-checkpointing=budget", f"--memory-limit={limit}"]
    code, _, err = planner_against_all.run(trainc, "compile", model.path, "--compile-to=plan", "--offload=none", *model.options, *budget)
    keep = re.search(r"^took .*--checkpoint-keep=(\S+?):? ", err, re.MULTILINE)
    rest = re.search(r"^took .*--checkpoint-rest=(\S+?):? ", err, re.MULTILINE)
    if code or not keep:
        sys.exit(f"the budget of {limit} bytes ended with {code}, and took nothing:\n{err[-2000:]}")
    return keep[1], rest[1] if rest else "selective"


def short(keep):
    """Equal shares together: "3x0,100"."""
    groups = [(share, len(list(equal))) for share, equal in itertools.groupby(keep.split(","))]
    return ",".join(f"{count}x{share}" if count > 1 else share for share, count in groups)


def compare(trainc, model):
    """Prints a table."""
    ways = model.ways()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [(*numbers, way) for numbers, way in zip(pool.map(lambda way: estimate(trainc, model, way), ways), ways)]
    none = estimate(trainc, model, "100", "none")
    found.append((*none, "100 none"))
    least = min(found)[0]
    print(f"\n## {model.name}: {len(found)} ways\n\n| limit, MiB | of all that fit the fastest keeps | step, ms | the budget keeps | needs, MiB | step, ms | slower by |\n|---|---|---|---|---|---|---|")
    before, shown, losses = float("inf"), None, []
    for i in range(LIMITS):
        limit = least + (none[0] - least) * i // (LIMITS - 1)
        seconds, way = min((seconds, way) for needed, seconds, way in found if needed <= limit)
        keep, rest = decide(trainc, model, limit)
        its_needed, its_seconds = estimate(trainc, model, keep, rest)
        if its_needed > limit or its_seconds > before:
            sys.exit(f"{model.name}: the plan for {limit} bytes needs {its_needed}, and takes {its_seconds} s; that of a smaller limit took {before} s")
        losses.append(its_seconds / seconds - 1)
        if (way, keep, rest) != shown:
            print(f"| {limit / MIB:.1f} | `{short(way)}` | {seconds * 1e3:.2f} | `{keep}`{'' if rest == 'selective' else ' ' + rest} | {its_needed / MIB:.1f} | {its_seconds * 1e3:.2f} | {losses[-1]:+.2%} |", flush=True)
        before, shown = its_seconds, (way, keep, rest)
    print(f"\n{LIMITS} limits: slower by {sum(losses) / LIMITS:.2%} on average, and by at most {max(losses):.2%}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    arguments = parser.parse_args()
    print(HEAD, end="")
    for model in MODELS:
        compare(arguments.trainc, model)
    print(TAIL, end="")


if __name__ == "__main__":
    main()
