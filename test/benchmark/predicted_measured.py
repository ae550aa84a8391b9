#!/usr/bin/env python3
"""Prints predicted beside measured step times of this machine, as Markdown: every example, precision and strategy.

    test/benchmark/predicted_measured.py > docs/measurements/DATE-predicted-measured.md
    test/benchmark/predicted_measured.py --only "small GPT" --steps 10

`trainc calibrate` measures the machine once, or --cluster names its file. Each plan is simulated there, then run. A step's measured time
is the median of those in its metrics, after the first quarter. Needs build/bin/{trainc,trainrun}; standard library only.
Exit codes: 0; 1 where a program failed.
"""
import argparse
import array
import json
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKENS = 1 << 18
SAMPLES = 4096

# Title, model, vocabulary of its tokens (0: pixels), steps, options.
EXAMPLES = [
    ("small GPT", "examples/gpt/small.mlir", 256, 60, []),
    ("small Llama", "examples/llama/small.mlir", 256, 60, []),
    ("MLP", "examples/mlp/mlp.mlir", 0, 400, []),
    ("GPT-2 124M", "examples/gpt/gpt.mlir", 50257, 8, ["--micro-batch=4", "--seq-len=256", "--accumulate=1"]),
]
PRECISIONS = ["fp32", "bf16"]
# Title and options; those that need more than one rank have --ranks.
STRATEGIES = [
    ("one rank", []),
    ("selective", ["--activation-checkpointing=selective"]),
    ("accumulate 4", ["--accumulate=4"]),
    ("2 ranks, stage 1", ["--ranks=2", "--zero-stage=1"]),
    ("2 ranks, stage 3", ["--ranks=2", "--zero-stage=3"]),
]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} {command[1]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def write_pixels(path):
    """Columns `features` (f32, [samples, 784]) and `labels` (i32, [samples])."""
    draw = random.Random(1)
    features = array.array("f", (draw.random() for _ in range(SAMPLES * 784)))
    labels = array.array("i", (draw.randrange(10) for _ in range(SAMPLES)))
    split, end = len(features) * 4, len(features) * 4 + len(labels) * 4
    header = json.dumps({"features": {"dtype": "F32", "shape": [SAMPLES, 784], "data_offsets": [0, split]},
                         "labels": {"dtype": "I32", "shape": [SAMPLES], "data_offsets": [split, end]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + features.tobytes() + labels.tobytes())


def write_tokens(path, vocabulary):
    draw = random.Random(1)
    path.write_bytes(array.array("H", (draw.randrange(vocabulary) for _ in range(TOKENS))).tobytes())


def measured_seconds(args, plan, data, ranks, steps, folder):
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    command = [args.bin / "trainrun", plan, "--data", data, f"--steps={steps}", f"--metrics={metrics}"]
    run(*command, *(["--data-dtype=uint16"] if data.suffix == ".bin" else []), *([f"--nproc-per-node={ranks}"] if ranks > 1 else []))
    steps = [line["step_seconds"] for line in map(json.loads, metrics.read_text().splitlines()) if "step_seconds" in line]
    return statistics.median(steps[len(steps) // 4:])


def measure(args, cluster, folder, model, data, steps, options):
    plan = folder / "model.plan"
    run(args.bin / "trainc", "compile", ROOT / model, "-o", plan, "--cpu=native", *options)
    step = json.loads(run(args.bin / "trainc", "simulate", plan, f"--cluster={cluster}", "--json"))
    return step["step_seconds"], measured_seconds(args, plan, data, step["ranks"], args.steps or steps, folder)


def rows(args, cluster, folder):
    for title, model, vocabulary, steps, options in EXAMPLES:
        data = folder / ("tokens.bin" if vocabulary else "pixels.safetensors")
        write_tokens(data, vocabulary) if vocabulary else write_pixels(data)
        for precision in PRECISIONS:
            for strategy, more in STRATEGIES:
                name = f"{title}, {precision}, {strategy}"
                if args.only and args.only not in name:
                    continue
                every = [*options, *more]
                if "--accumulate=4" in more:
                    every = [each for each in every if each != "--accumulate=1"]
                yield title, precision, strategy, *measure(args, cluster, folder, model, data, steps, [f"--precision={precision}", *every])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin", help="folder of trainc and trainrun")
    parser.add_argument("--cluster", help="cluster file of this machine; measured if left out")
    parser.add_argument("--only", help="rows whose name has this text: 'small GPT, bf16, 2 ranks'")
    parser.add_argument("--steps", type=int, help="of each run, instead of what suits its example")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        cluster = args.cluster or folder / "this.json"
        if not args.cluster:
            run(args.bin / "trainc", "calibrate", "-o", cluster)
        machine = json.loads(pathlib.Path(cluster).read_text())["name"]
        print(f"# Predicted beside measured\n\nOn {machine}, by `test/benchmark/predicted_measured.py`.\n")
        print("| model | precision | strategy | predicted, ms | measured, ms | predicted / measured |\n|---|---|---|---|---|---|")
        apart = []
        for title, precision, strategy, predicted, measured in rows(args, cluster, folder):
            apart.append(abs(predicted / measured - 1))
            print(f"| {title} | {precision} | {strategy} | {predicted * 1e3:.1f} | {measured * 1e3:.1f} | {predicted / measured:.2f} |", flush=True)
        if apart:
            print(f"\nThe median row is {statistics.median(apart):.1%} off, the worst {max(apart):.1%}.")


if __name__ == "__main__":
    main()
