#!/usr/bin/env python3
"""Prints predictions for minGPT with 175 billion and a trillion parameters on 128 A100 of 40 GB, beside PyTorch's figures, as Markdown.

    test/benchmark/mingpt.py > docs/measurements/DATE-mingpt.md

Compiles examples/mingpt with the memory of examples/clusters/8xa100-40gb.json as the limit, and simulates the plans there; nothing is run.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Title, file, layers, width, tokens of a rank's step, sequence length, published TFLOP/s of a GPU.
MODELS = [("175B", "175b.mlir", 96, 12288, 20 * 512, 512, 159), ("1T", "1t.mlir", 128, 25600, 4 * 2048, 2048, 84)]
CLUSTER = ROOT / "examples/clusters/8xa100-40gb.json"
VOCABULARY = 50257
GIB = 1 << 30

HEAD = """# Predicted: minGPT with 175 billion and a trillion parameters, in 40 GB

**These are predictions, not measurements.** PyTorch's authors trained minGPT in fp16 with SGD on 128 A100 of 40 GB, in nodes of 8 with 400 Gb/s a node, and
published 159 TFLOP/s a GPU for 175 billion parameters (20 x 512 tokens a GPU) and 84 for a trillion (4 x 2048). This table predicts plans of
`examples/mingpt` on `examples/clusters/8xa100-40gb.json`. `--memory-limit` is the 40 GB of a GPU, and the planner decides the rest. To repeat it:

    test/benchmark/mingpt.py

Every rate and share is in the cluster file, with its source. No number was fitted to these rows.

| model | plans tried | compiled in | GPU memory | host memory | step | communication | exposed | TFLOP/s of the model | with recomputation | published |
|---|---|---|---|---|---|---|---|---|---|---|"""

TAIL = """
"TFLOP/s of the model" counts each layer's products once forward and twice backward: 6 operations for each weight and token, and half of
attention's operations, because masks are causal. "With recomputation" adds the operations that checkpointing repeats. We do not know which
of the two the published figures count, nor every detail of how their steps were checkpointed and offloaded.

The rates are 80 % of the peak for large products and 80 % of the network, which good kernels reach on a quiet machine. The prediction leaves
out late hosts, retries of an allocator, slow ranks, and other traffic.
"""


def model_flops(layers, width, tokens, length):
    """Operations of products and of causal attention. A multiplication and an addition count as two."""
    weights = layers * 12 * width * width + VOCABULARY * width
    return 6 * weights * tokens + layers * 6 * tokens * length * width


def simulated(args, plan):
    return json.loads(subprocess.run([args.trainc, "simulate", plan, "--cluster", CLUSTER, "--json"], check=True, capture_output=True, text=True).stdout)


def row(args, folder, model):
    """The model's row, and the chosen settings."""
    title, file, layers, width, tokens, length, published = model
    plan, report = folder / "model.plan", folder / "report.json"
    limit = int(json.loads(CLUSTER.read_text())["device"]["memory_bytes"]["value"])
    begun = time.monotonic()
    done = subprocess.run([args.trainc, "compile", ROOT / "examples/mingpt" / file, "-o", plan, f"--report={report}", "--gpu-levels=none",
                           f"--memory-limit={limit}", *args.option], stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - begun
    if done.returncode:
        minimum = re.search(r"the plan needs ([0-9.]+ GiB)", done.stderr)[1]
        return [title, "", f"{took:.0f} s", f"nothing fits; the minimum is {minimum}", *[""] * 6, str(published)], {}
    planner, step = json.loads(report.read_text())["planner"], simulated(args, plan)
    taken = planner["strategies"][planner["taken"]]
    seconds = step["step_seconds"]
    return [title, str(len(planner["strategies"])), f"{took:.0f} s", f"{step['device_bytes'] / GIB:.1f} GiB", f"{taken['memory']['host'] / GIB:.1f} GiB",
            f"{seconds:.1f} s", f"{step['communication_seconds']:.1f} s", f"{step['exposed_communication_seconds']:.1f} s",
            f"{model_flops(layers, width, tokens, length) / seconds * 1e-12:.0f}", f"{step['made_flops'] / seconds * 1e-12:.0f}", str(published)], taken["settings"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    parser.add_argument("--option", action="append", default=[], help="of trainc compile, e.g. --option=--activation-checkpointing=full")
    args = parser.parse_args()
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        decided = {}
        for model in MODELS:
            line, decided[model[0]] = row(args, pathlib.Path(folder), model)
            print("| " + " | ".join(line) + " |", flush=True)
    print("\n| model | decided |\n|---|---|")
    for title, settings in decided.items():
        print(f"| {title} | " + " ".join(f"`--{word.replace('_', '-')}={value}`" for word, value in settings.items()) + " |")
    print(TAIL, end="")


if __name__ == "__main__":
    main()
