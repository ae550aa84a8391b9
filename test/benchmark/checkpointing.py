#!/usr/bin/env python3
"""Compiles a model with --activation-checkpointing=budget for many limits, and prints plans and predictions as Markdown.

    test/benchmark/checkpointing.py --trainc build/bin/trainc examples/gpt/small.mlir --limits 50

The limits lie evenly between the smallest that a plan fits into, which an error names, and what `none` takes. Of each plan the peak must be
within the limit, or the script fails. Nothing is run.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def report(arguments, folder, *options):
    """The report of a plan with these options; the message where there is none."""
    path = Path(folder) / "report.json"
    done = subprocess.run([arguments.trainc, "compile", arguments.model, *arguments.option, *options, "--cpu=x86-64-v3", f"--report={path}",
                           "-o", str(Path(folder) / "model.plan")], capture_output=True, text=True)
    return (json.loads(path.read_text()), "") if done.returncode == 0 else (None, done.stderr)


def limited_bytes(found):
    return found["memory"]["peak"] + found["memory"]["unplanned"]


def row(name, found, base):
    memory, seconds = found["memory"], found["predicted_step_seconds"]
    said = {each["setting"]: each["value"] for each in found["settings"]}
    again = found.get("recomputed_flops_per_step", 0) / found["flops_per_step"]
    print(f"| {name} | {limited_bytes(found) / 2**20:.1f} | {memory['activations'] / 2**20:.1f} | {again:.1%} | "
          f"{seconds / base - 1:+.1%} | `{said['checkpoint_keep']}` {said['checkpoint_rest']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--trainc", default="build/bin/trainc")
    parser.add_argument("--limits", type=int, default=50)
    parser.add_argument("--option", action="append", default=[], help="of trainc compile, e.g. --option=--micro-batch=4")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("| limit (MiB) | plan and process (MiB) | activations (MiB) | recomputed FLOPs | predicted step | `checkpoint_keep`, `_rest` |")
        print("|---|---|---|---|---|---|")
        plain = {mode: report(arguments, folder, f"--activation-checkpointing={mode}")[0] for mode in ("none", "selective", "full")}
        base = plain["none"]["predicted_step_seconds"]
        for mode, found in plain.items():
            row(f"{mode}", found, base)
        budget = "--activation-checkpointing=budget"
        _, message = report(arguments, folder, budget, "--memory-limit=1MiB")
        least, most = int(re.search(r"one fits into is (\d+) bytes", message)[1]), limited_bytes(plain["none"])
        before, slower = float("inf"), 0
        for i in range(arguments.limits):
            limit = least + (most - least) * i // (arguments.limits - 1)
            found, message = report(arguments, folder, budget, f"--memory-limit={limit}")
            if not found or limited_bytes(found) > limit:
                sys.exit(f"limit {limit}: {message or limited_bytes(found)}")
            row(f"{limit / 2**20:.1f}", found, base)
            # Predicted for the compiling machine; plans are chosen by the rates of the target's reference.
            slower += found["predicted_step_seconds"] > before * (1 + 1e-9)
            before = found["predicted_step_seconds"]
        print(f"\n{arguments.limits} limits, each kept; {slower} with a longer predicted step than that of a smaller limit.")


if __name__ == "__main__":
    main()
