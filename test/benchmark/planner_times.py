#!/usr/bin/env python3
"""How long the compiler takes to decide what fits into a memory limit, as Markdown.

    test/benchmark/planner_times.py

Each model has limits into which much fits, little, and nothing. Each row is the median of three runs of

    trainc compile MODEL --memory-limit=LIMIT --compile-to=plan

on the clock: all is decided and has addresses, and there is no code yet. Needs build/bin/trainc; standard library only.
Exit codes: 0; 1 if a program failed or, with --check, a target was missed.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 3
# Title, model, options, limits, and seconds at most.
CASES = [
    ("GPT-2 124M", "examples/gpt/gpt.mlir", ["--cpu=native"], ["8GiB", "4GiB", "2GiB", "1GiB", "512MiB"], 3),
    ("Llama 70B, 64 ranks", "examples/llama/70b.mlir", ["--ranks=64"], ["160GiB", "80GiB", "40GiB", "24GiB", "8GiB"], 30),
]


def decide(args, model, limit, options):
    """Seconds, number of plans tried, and the chosen strategy."""
    begun = time.monotonic()
    done = subprocess.run([args.trainc, "compile", ROOT / model, f"--memory-limit={limit}", "--compile-to=plan", *options], capture_output=True, text=True)
    seconds = time.monotonic() - begun
    taken = re.search(r"^took (.*?): ", done.stderr, re.MULTILINE)
    if done.returncode:
        sys.exit(f"trainc compile {model} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    shown = sum(bool(re.search(r"(too much|% seconds|as fast|the fastest that fits)$", line)) for line in done.stderr.splitlines())
    others = re.search(r"^and (\d+) more", done.stderr, re.MULTILINE)
    return seconds, shown + int(others[1] if others else 0), f"`{taken[1]}`" if taken else "nothing fits"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a decision took longer than its model's target")
    args = parser.parse_args()
    print("| model | limit of a rank | plans tried | decided in | at most | decided |\n|---|---|---|---|---|---|")
    missed = False
    for title, model, options, limits, most in CASES:
        for limit in limits:
            runs = [decide(args, model, limit, options) for _ in range(RUNS)]
            seconds = statistics.median(run[0] for run in runs)
            missed |= seconds > most
            print(f"| {title} | {limit} | {runs[0][1] or ''} | {seconds:.1f} s | {most} s | {runs[0][2]} |", flush=True)
    return 1 if missed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
