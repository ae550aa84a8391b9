#!/usr/bin/env python3
"""Compares the planner's choice with the fastest of all strategies that fit, as Markdown.

    test/benchmark/planner_against_all.py > docs/measurements/DATE-planner-against-all.md

Nothing is run. `trainc estimate` plans examples/gpt/small.mlir with each combination of ZeRO stage, groups, offload, checkpointing, what is gathered when, and
micro-batches as given settings. Then `trainc compile --memory-limit` decides for some limits. Needs build/bin/trainc; standard library only. Takes twenty
minutes on two cores. Exit codes: 0; 1 if a program failed.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/gpt/small.mlir"
BATCH, LAYERS = 8, 4
MIB = 1 << 20
SHARES, PARTS = [60, 30, 15, 0], 4  # of lib/Pipelines/CheckpointLevels.cpp
STATES = ["", "optimizer", "optimizer,gradients", "optimizer,gradients,parameters"]
ACTIVATIONS = ["", "hidden_activations", "activations"]
BETWEEN = [0, 0.1, 0.25, 0.5, 0.75, 0.95]  # limits, as fractions between the minimum and the program's own memory

HEAD = """# The planner beside all strategies

**These are plans and predictions, not measurements.** Made by

    test/benchmark/planner_against_all.py

which plans `examples/gpt/small.mlir` with each combination of what the planner may decide, as given settings: stages and groups of ranks, what is offloaded, the
levels of activation checkpointing that the planner knows, and micro-batches. If ranks divide parameters, it also tries to keep what is gathered from the forward to the
backward, and with the most recomputation to gather nothing ahead. A strategy fits if what it needs is at most the limit. The fastest of all that fit stands beside what
`trainc compile --memory-limit` takes.
"""

TAIL = """
* With `hidden_activations` the planner plans no recomputation, and what is cheap, and nothing between. If the first of four blocks computes a little more again, fewer bytes are copied,
  which may be faster. To search the levels there as well would take some plans more for each strategy that does not fit.
* Of the best plan, the planner keeps gathered parameters from the forward to the backward as far as they fit (`max_reuse_distance`). Of all strategies none or all are kept. That may make the
  planner's plan faster than each of them.
* Before this comparison the planner refused the smallest limit on one rank. It tried only the most recomputation if nothing else fitted. With all states outside and one sample at a
  time, `selective` takes less.
* One small model, a cost model's seconds and one machine of reference: larger models have more strategies than can be planned.
"""


def divisions(ranks):
    """As options: stages, and groups of ranks that divide states."""
    for stage in range(4) if ranks > 1 else [None]:
        if stage is None:
            yield []
            continue
        yield [f"--zero-stage={stage}"]
        for size in range(ranks // 2, 1, -1):
            if stage and ranks % size == 0:
                yield [f"--zero-stage={stage}", f"--hybrid-shard={size}"]


def levels():
    """Options for recomputation, from nothing to everything."""
    yield ["--activation-checkpointing=none"]
    yield ["--activation-checkpointing=selective"]
    before, keeps = 100, []
    for share in SHARES:
        counts = sorted({(LAYERS - 1) * part // PARTS for part in range(1, PARTS + 1)} - {0})
        keeps += [[share] * count + [before] * (LAYERS - 1 - count) + [100] for count in counts]
        before = share
    keeps += [[0] * (LAYERS - 2) + [15] * 2, [0] * LAYERS]
    for keep in keeps:
        yield ["--activation-checkpointing=full", f"--checkpoint-keep={','.join(map(str, keep))}", "--checkpoint-rest=selective"]


LAST = list(levels())[-1]


def offloads():
    for words in itertools.product(STATES, ACTIVATIONS):
        yield [f"--offload={','.join(filter(None, words)) or 'none'}"]


def gathering(division, level):
    """With sharded parameters: whether they stay gathered from forward to backward, or whether recomputation prefetches nothing."""
    if "--zero-stage=3" not in division:
        return [[]]
    return [[], ["--reshard-after-forward=false"]] + ([["--prefetch=0"]] if level == LAST else [])


def all_strategies(ranks):
    splits = [[f"--micro-batch={BATCH // parts}", f"--accumulate={parts}"] for parts in (1, 2, 4, 8)]
    for division in divisions(ranks):
        for offload, split, level in itertools.product(offloads(), splits, levels()):
            yield from (division + offload + split + level + gathered for gathered in gathering(division, level))


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def estimate(trainc, model, options):
    """Bytes that the strategy needs, and its seconds."""
    code, out, err = run(trainc, "estimate", model, "--json", *options)
    if code:
        sys.exit(f"trainc estimate {' '.join(options)} ended with {code}:\n{err[-2000:]}")
    (strategy,) = json.loads(out)["strategies"]
    return strategy["needed_bytes"], strategy["predicted_step_seconds"]


def decide(trainc, ranks, limit):
    """The planner's choice as options, and the number of plans it tried; None if nothing fits."""
    code, _, err = run(trainc, "compile", MODEL, "--compile-to=plan", f"--ranks={ranks}", f"--memory-limit={limit}")
    taken = re.search(r"^took (.*?): ", err, re.MULTILINE)
    if code:
        sys.exit(f"trainc compile --memory-limit={limit} ended with {code}:\n{err[-2000:]}")
    if not taken:
        return None, 0
    return taken[1].split() if taken[1].startswith("--") else [], err.count("\n") - 2


def shown(options):
    words = [option for option in options if option not in ("--offload=none", f"--micro-batch={BATCH}", "--accumulate=1")]
    return f"`{' '.join(words)}`" if words else "as the program is"


def given(options):
    """Fixes settings that were not given to their defaults."""
    named = {option.split("=")[0] for option in options}
    defaults = ["--zero-stage=0", "--offload=none", "--activation-checkpointing=none"]
    return options + [each for each in defaults if each.split("=")[0] not in named]


def compare(trainc, ranks):
    """Prints a table for some limits."""
    strategies = list(all_strategies(ranks))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda options: estimate(trainc, MODEL, [f"--ranks={ranks}", *options]), strategies))
    least, most = min(needed for needed, _ in found), estimate(trainc, MODEL, [f"--ranks={ranks}", *given([])])[0]
    print(f"\n## On {ranks} rank{'s' if ranks > 1 else ''}: {len(strategies)} strategies\n\n| limit, MiB | strategies that fit | the fastest of all | needs, MiB | step, ms | "
          "the planner takes | of plans tried | needs, MiB | step, ms | slower by |\n|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    for share in BETWEEN:
        limit = least + int(share * (most - least))
        fitting = [(seconds, needed, options) for (needed, seconds), options in zip(found, strategies) if needed <= limit]
        seconds, needed, options = min(fitting)
        row = f"| {limit / MIB:.1f} | {len(fitting)} | {shown(options)} | {needed / MIB:.1f} | {seconds * 1e3:.2f} | "
        taken, tried = decide(trainc, ranks, limit)
        if taken is None:
            print(row + "nothing | | | | |", flush=True)
            continue
        its_needed, its_seconds = estimate(trainc, MODEL, [f"--ranks={ranks}", *given(taken)])
        print(row + f"{shown(taken)} | {tried} | {its_needed / MIB:.1f} | {its_seconds * 1e3:.2f} | {its_seconds / seconds - 1:+.2%} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 4])
    args = parser.parse_args()
    print(HEAD, end="")
    for ranks in args.ranks:
        compare(args.trainc, ranks)
    print(TAIL, end="")


if __name__ == "__main__":
    main()
