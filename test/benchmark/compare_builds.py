#!/usr/bin/env python3
"""Two builds of trainc side by side in one run: does a change make steps slower, plans larger or compilation longer?

  compare_builds.py OLD_BIN NEW_BIN                     folders of trainc and trainrun
  compare_builds.py OLD_BIN NEW_BIN --only small-2      one case
  compare_builds.py OLD_BIN NEW_BIN --compile-only      nothing is run

Each build compiles and runs its own plans. Runs of the two take turns, so that a machine that slows down slows both.
Exit codes: 0; 1 where a program failed, losses differ or, with --check, the new build is worse; 2 bad usage.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import statistics
import sys
import tempfile

import compare
from compare import ROOT, ProgramFailed, progress


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    sizes: tuple  # options of trainc compile
    vocabulary: int
    ranks: int
    steps: int  # that count, of a run
    rounds: int


ZERO3 = ("--zero-stage=3", "--activation-checkpointing=selective")
CASES = {
    "small": Case("examples/gpt/small.mlir", ("--micro-batch=8", "--seq-len=128"), 256, 1, steps=150, rounds=5),
    "small-2": Case("examples/gpt/small.mlir", ("--micro-batch=4", "--seq-len=128", *ZERO3), 256, 2, steps=150, rounds=5),
    "llama": Case("examples/llama/small.mlir", (), 256, 1, steps=150, rounds=5),
    "gpt2": Case("examples/gpt/gpt.mlir", ("--micro-batch=4", "--seq-len=256", "--accumulate=1"), 50257, 1, steps=4, rounds=2),
    "gpt2-2": Case("examples/gpt/gpt.mlir", ("--micro-batch=2", "--seq-len=256", "--accumulate=1", *ZERO3), 50257, 2, steps=4, rounds=2),
}  # fmt: skip
WARMUP = 2  # steps before the measured ones
COMPARED_STEPS, LOSS_BOUND = 20, 1e-4  # the first steps' losses, relative; sums of other orders grow apart later
# Maximum ratios of new to old, with --check. Another virtual machine on the host can double a median; the fastest steps are undisturbed.
AT_MOST = {"fastest_step_seconds": 1.03, "compile_seconds": 1.1, "peak_bytes": 1.01}


def compile_plan(bin_folder, case, products, plan):
    report = plan.with_suffix(".json")
    compare.run(
        [bin_folder / "trainc", "compile", ROOT / case.model, "-o", plan, f"--ranks={case.ranks}", f"--fp32-products={products}",
         f"--report={report}", *case.sizes])  # fmt: skip
    return json.loads(report.read_text())["compile_seconds"]


def run_steps(bin_folder, case, plan, data):
    """The metrics of the steps that count, and the losses of all."""
    metrics = plan.with_suffix(".jsonl")
    metrics.unlink(missing_ok=True)
    ranks = ["--nproc-per-node=2", "--threads=1"] if case.ranks > 1 else []
    compare.run([bin_folder / "trainrun", plan, f"--data={data}", "--seed=1", f"--steps={WARMUP + case.steps}", f"--metrics={metrics}", *ranks])
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    steps = [line for line in lines if "loss" in line]
    return steps[WARMUP:], [step["loss"] for step in steps]


def measure_compilation(builds, case, products, folder):
    """For each build, by name: seconds of compilation, the median of rounds."""
    seconds = {name: [] for name in builds}
    for each in range(case.rounds):
        for name, bin_folder in builds.items() if each % 2 == 0 else reversed(builds.items()):
            progress(f"round {each + 1} of {case.rounds}: {name}")
            seconds[name].append(compile_plan(bin_folder, case, products, folder / f"{name}.plan"))
    return {name: {"compile_seconds": statistics.median(rounds)} for name, rounds in seconds.items()}


def measure(builds, case, products, folder):
    """For each build, by name: medians over rounds of the median step and of compilation, the fastest step, and the allocated bytes."""
    data = folder / "tokens.bin"
    compare.write_tokens(data, case.vocabulary)
    found = {name: {"step_seconds": [], "fastest_step_seconds": math.inf, "compile_seconds": [], "peak_bytes": 0} for name in builds}
    losses = {}
    for each in range(case.rounds):
        for name, bin_folder in builds.items() if each % 2 == 0 else reversed(builds.items()):
            progress(f"round {each + 1} of {case.rounds}: {name}")
            plan = folder / f"{name}.plan"
            found[name]["compile_seconds"].append(compile_plan(bin_folder, case, products, plan))
            steps, losses[name] = run_steps(bin_folder, case, plan, data)
            seconds = [step["step_seconds"] for step in steps]
            found[name]["step_seconds"].append(statistics.median(seconds))
            found[name]["fastest_step_seconds"] = min(seconds + [found[name]["fastest_step_seconds"]])
            found[name]["peak_bytes"] = steps[-1]["peak_bytes"]
    old, new = (each[:COMPARED_STEPS] for each in losses.values())
    if not all(abs(a - b) <= LOSS_BOUND * abs(a) for a, b in zip(old, new, strict=True)):
        raise ProgramFailed(f"losses of the first {len(old)} steps differ by more than {LOSS_BOUND}: {old} and {new}")
    for figures in found.values():
        for key in "step_seconds", "compile_seconds":
            figures[key + "_of_rounds"] = figures[key]
            figures[key] = statistics.median(figures[key])
    found["losses_equal"] = old == new
    return found


def print_table(results):
    print("| case | step, s: old | new | ratio (of rounds) | of the fastest steps | compile, s: old | new | bytes | losses |\n|---|---|---|---|---|---|---|---|---|")
    for name, found in results.items():
        old, new = found["old"], found["new"]
        rounds = [b / a for a, b in zip(old["step_seconds_of_rounds"], new["step_seconds_of_rounds"])]
        print(
            f"| {name} | {old['step_seconds']:.4g} | {new['step_seconds']:.4g} | {new['step_seconds'] / old['step_seconds']:.3f} "
            f"({min(rounds):.3f} to {max(rounds):.3f}) | {new['fastest_step_seconds'] / old['fastest_step_seconds']:.3f} | {old['compile_seconds']:.3g} | {new['compile_seconds']:.3g} "
            f"| {new['peak_bytes'] / old['peak_bytes']:.4f} | {'same bits' if found['losses_equal'] else 'close'} |"
        )


def print_compilation(results):
    print("| case | compile, s: old | new | ratio |\n|---|---|---|---|")
    for name, found in results.items():
        old, new = (found[build]["compile_seconds"] for build in ("old", "new"))
        print(f"| {name} | {old:.3g} | {new:.3g} | {new / old:.3f} |")


def worse(results):
    return [
        f"{name}: {key} is {found['new'][key] / found['old'][key]:.3f} of the old build's, allowed is {bound}"
        for name, found in results.items()
        for key, bound in AT_MOST.items()
        if key in found["new"] and found["new"][key] > bound * found["old"][key]
    ]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--only", choices=CASES, nargs="*", default=list(CASES))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--compile-only", action="store_true", help="compare how long the builds compile, and run nothing")
    parser.add_argument("--fp32-products", choices=["fma", "bf16x3"], default="bf16x3" if compare.has_amx() else "fma")
    parser.add_argument("--json", type=pathlib.Path, help="where to write all figures")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the new build is worse")
    arguments = parser.parse_args()
    for folder in arguments.old, arguments.new:
        if not (folder / "trainrun").exists():
            parser.error(f"{folder}: expected a folder with trainc and trainrun")
    return arguments


def main():
    arguments = parse_arguments()
    builds = {"old": arguments.old.resolve(), "new": arguments.new.resolve()}
    results = {}
    try:
        for name in arguments.only:
            case = CASES[name] if arguments.rounds is None else dataclasses.replace(CASES[name], rounds=arguments.rounds)
            progress(name)
            with tempfile.TemporaryDirectory() as folder:
                measured = measure_compilation if arguments.compile_only else measure
                results[name] = measured(builds, case, arguments.fp32_products, pathlib.Path(folder))
    except ProgramFailed as failure:
        sys.exit(f"compare_builds.py: {failure}")
    (print_compilation if arguments.compile_only else print_table)(results)
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": compare.machine(), "cases": results}, indent=2) + "\n")
    found = worse(results) if arguments.check else []
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
