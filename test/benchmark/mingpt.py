#!/usr/bin/env python3
"""Prints what is predicted of minGPT with 175 billion and a trillion parameters on 128 A100 of 40 GB, beside PyTorch's figures, as Markdown.

    test/benchmark/mingpt.py > docs/measurements/DATE-mingpt.md
    test/benchmark/mingpt.py --checkpointing full selective

Compiles examples/mingpt and simulates the plans on examples/clusters/8xa100-40gb.json; nothing is run.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Title, model, layers, width, tokens of a rank's step, published TFLOP/s a GPU.
MODELS = [("175B", "175b.mlir", 96, 12288, 20 * 512, 512, 159), ("1T", "1t.mlir", 128, 25600, 4 * 2048, 2048, 84)]
VOCABULARY = 50257
GIB = 1 << 30

HEAD = """# Predicted: minGPT with 175 billion and a trillion parameters

**These are predictions, not measurements.** PyTorch's authors trained minGPT in fp16 with SGD on 128 A100 of 40 GB, in nodes of 8 with 400 Gb/s a node, and
published 159 TFLOP/s a GPU for 175 billion parameters (20 x 512 tokens a GPU) and 84 for a trillion (4 x 2048). Here stand our predictions of plans of
`examples/mingpt` (ZeRO stage 3) on `examples/clusters/8xa100-40gb.json`. Made by

    test/benchmark/mingpt.py --checkpointing {checkpointing}

Every rate and share is in the cluster file, with its source. No number was fitted to these rows.

| model | checkpointing | compiled in | memory a GPU | step | communication | exposed | TFLOP/s of the model | with what is made again | published |
|---|---|---|---|---|---|---|---|---|---|"""

TAIL = """
"TFLOP/s of the model" counts each layer's products once forward and twice backward (6 operations for each weight and token, and attention's,
of which causal masks need half). "With what is made again" adds what a checkpointed step makes a second time. We do not know which of the two the published figures
count, nor how their step was checkpointed and offloaded.

Predictions are higher than what was published. A plan that does not fit is one reason: one that fits makes more again, or moves it. The shares are another one: 80 % of the
peak for large products, and 80 % of the network, are what good kernels reach on a quiet machine. A prediction has no host that is late, no allocator
that tries again, no slow rank, and no other traffic. For a trillion parameters communication takes about as long as computation does, so that each percent that the network
loses is seen.
"""


def model_flops(layers, width, tokens, length):
    """Multiply and add counted apart: of products, and of causal attention."""
    weights = layers * 12 * width * width + VOCABULARY * width
    return 6 * weights * tokens + layers * 6 * tokens * length * width


def row(args, folder, model, checkpointing):
    title, file, layers, width, tokens, length, published = model
    plan = folder / "model.plan"
    begun = time.monotonic()
    subprocess.run([args.trainc, "compile", ROOT / "examples/mingpt" / file, "-o", plan, "--gpu-levels=none",
                    f"--activation-checkpointing={checkpointing}"], check=True)
    took = time.monotonic() - begun
    out = subprocess.run([args.trainc, "simulate", plan, "--cluster", ROOT / "examples/clusters/8xa100-40gb.json", "--json"],
                         check=True, capture_output=True, text=True).stdout
    step = json.loads(out)
    seconds = step["step_seconds"]
    fits = "" if step["device_bytes"] <= step["device_memory_bytes"] else " (does not fit)"
    return [title, checkpointing, f"{took:.0f} s", f"{step['device_bytes'] / GIB:.1f} GiB{fits}", f"{seconds:.1f} s",
            f"{step['communication_seconds']:.1f} s", f"{step['exposed_communication_seconds']:.1f} s",
            f"{model_flops(layers, width, tokens, length) / seconds * 1e-12:.0f}", f"{step['made_flops'] / seconds * 1e-12:.0f}", str(published)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    parser.add_argument("--checkpointing", nargs="+", default=["selective"], help="values of --activation-checkpointing")
    args = parser.parse_args()
    print(HEAD.format(checkpointing=" ".join(args.checkpointing)))
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            for checkpointing in args.checkpointing:
                print("| " + " | ".join(row(args, pathlib.Path(folder), model, checkpointing)) + " |", flush=True)
    print(TAIL, end="")


if __name__ == "__main__":
    main()
