#!/usr/bin/env python3
"""The largest micro-batch at a fixed memory limit, as a multiple of that without activation checkpointing, and what it costs, as Markdown.

    test/benchmark/largest_batch.py > docs/measurements/DATE-largest-batch.md

Compiles GPT-2 and Llama with --largest-batch, and asks `trainc report` of the plans. Nothing is run.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

from compare import ROOT

CPU = ["--cpu=native"]
H100 = ["--target=cuda", "--gpu=h100-sxm", "--gpu-levels=none", "--precision=bf16"]
# Title, model, options, limits.
CASES = [
    ("GPT-2 124M, x 1024 tokens, fp32, CPU", "examples/gpt/gpt.mlir", CPU, ["3GiB", "4GiB", "8GiB", "16GiB"]),
    ("GPT-2 124M, x 1024 tokens, bf16, H100", "examples/gpt/gpt.mlir", H100, ["16GiB", "80GiB"]),
    ("Llama 1.1B, x 2048 tokens, fp32, CPU", "examples/llama/llama.mlir", CPU, ["24GiB", "32GiB", "64GiB"]),
    ("Llama 1.1B, x 2048 tokens, bf16, H100", "examples/llama/llama.mlir", H100, ["40GiB", "80GiB"]),
]

HEAD = """# The largest batch at a fixed limit

**These are plans and predictions, not measurements.** Memory is exact: a sample more is refused. Seconds are those of the cost model. Made by

    test/benchmark/largest_batch.py

which compiles with `--largest-batch --accumulate=1 --offload=none` and asks `trainc report --json` of the plan. "More time" is that of a sample in a step, over that
with `none`. `full` computes each block again, and what is cheap outside of blocks.

| model | limit | checkpointing | micro-batch | times `none`'s | more time |
|---|---|---|---|---|---|"""

TAIL = """
Checkmate (Jain et al., 2020) asked this question of convolutional networks, and answered 5.1 times at best.

A sample's time has its share of the update, which more samples share. So a plan that computes little again may take less time a sample. If states take most of a
limit, `none` has few samples, and the multiple is large.
"""


def rows(trainc, folder, case, limit):
    title, model, options, _ = case
    plan = folder / "model.plan"
    subprocess.run([trainc, "compile", ROOT / model, "-o", plan, f"--memory-limit={limit}", "--largest-batch", "--accumulate=1", "--offload=none", *options],
                   check=True, capture_output=True)  # fmt: skip
    found = json.loads(subprocess.run([trainc, "report", plan, "--json"], check=True, capture_output=True, text=True).stdout)["largest_batches"]
    for each in found["batches"]:
        times = ["", ""] if each["times"] is None else [f"{each['times']:.2f}", f"{each['extra_time']:+.1%}"]
        yield [title, limit, f"`{each['activation_checkpointing']}`", str(each["samples"]), *times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    trainc = parser.parse_args().trainc
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for limit in case[-1]:
                for row in rows(trainc, pathlib.Path(folder), case, limit):
                    print("| " + " | ".join(row) + " |", flush=True)
    print(TAIL, end="")


if __name__ == "__main__":
    main()
