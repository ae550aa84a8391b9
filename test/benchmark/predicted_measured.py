#!/usr/bin/env python3
"""Prints predicted beside measured step times of this machine, as Markdown: every example, precision and strategy.

    test/benchmark/predicted_measured.py
    test/benchmark/predicted_measured.py --only "small GPT, bf16" --seconds 5
    test/benchmark/predicted_measured.py --cpu x86-64-v3        the same CPU with AVX2 alone, as on another machine

`trainc calibrate` measures the machine before and after the rows of an example and precision, as the speed of a virtual machine changes; or
--cluster names its file. Each plan is simulated there, then run for some seconds. A step's measured time is the median of those in its metrics,
after the first quarter. A * marks rows between which the machine was not steady. Needs build/bin/{trainc,trainrun}; standard library only.
Exit codes: 0; 1 where a program failed.
"""
import argparse
import array
import itertools
import json
import pathlib
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKENS = 1 << 18
SAMPLES = 4096

ATTEMPTS, STEADY = 3, 0.1  # rows are measured again if the machine's rate before and after them differs by more than this share
LEAST_STEPS, MOST_STEPS = 3, 400  # the first touches memory for the first time, and does not count

# Title, model, vocabulary of its tokens (0: pixels), whether it has blocks, options.
EXAMPLES = [
    ("small GPT", "examples/gpt/small.mlir", 256, True, []),
    ("small Llama", "examples/llama/small.mlir", 256, True, []),
    ("MLP", "examples/mlp/mlp.mlir", 0, False, []),
    ("GPT-2 124M", "examples/gpt/gpt.mlir", 50257, True, ["--micro-batch=4", "--seq-len=256", "--accumulate=1"]),
]
# And which of the machine's rates their products run at; fp16 is widened to f32.
PRECISIONS = {"fp32": "f32_flops_per_second", "bf16": "bf16_flops_per_second", "fp16": "f32_flops_per_second"}
BUDGET = "--activation-checkpointing=budget"
# Title and options; those of checkpointing apply only to models with blocks.
STRATEGIES = [
    ("one rank", []),
    ("selective", ["--activation-checkpointing=selective"]),
    ("full", ["--activation-checkpointing=full"]),
    ("budget", [BUDGET]),
    ("accumulate 4", ["--accumulate=4"]),
    ("optimizer on disk", ["--offload=optimizer"]),
    ("activations on disk", ["--offload=activations"]),
    ("hidden activations on disk", ["--offload=hidden_activations"]),
    ("states on disk", ["--offload=optimizer,gradients,parameters"]),
    ("moments in bf16", ["--optimizer-states=bf16"]),
    ("2 ranks, stage 1", ["--ranks=2", "--zero-stage=1"]),
    ("2 ranks, stage 2", ["--ranks=2", "--zero-stage=2"]),
    ("2 ranks, stage 3", ["--ranks=2", "--zero-stage=3"]),
    ("2 ranks, stage 3, sums in bf16", ["--ranks=2", "--zero-stage=3", "--reduce-type=bf16"]),
]
OF_BLOCKS = ["full", "budget"]


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


def measured_seconds(args, plan, data, step, folder):
    """Median time of as many steps as fit into `args.seconds`; `step` is the prediction."""
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    steps = min(max(LEAST_STEPS, round(args.seconds / step["step_seconds"])), MOST_STEPS)
    command = [args.bin / "trainrun", plan, "--data", data, f"--steps={steps}", f"--metrics={metrics}"]
    run(*command, *(["--data-dtype=uint16"] if data.suffix == ".bin" else []), *([f"--nproc-per-node={step['ranks']}"] if step["ranks"] > 1 else []))
    seconds = [line["step_seconds"] for line in map(json.loads, metrics.read_text().splitlines()) if "step_seconds" in line]
    return statistics.median(seconds[max(1, len(seconds) // 4):])


def compile_plan(args, model, folder, options):
    """The plan's file, and the memory in its report."""
    plan, report = folder / "model.plan", folder / "report.json"
    run(args.bin / "trainc", "compile", ROOT / model, "-o", plan, f"--cpu={args.cpu}", f"--report={report}", *options)
    return plan, json.loads(report.read_text())["memory"]


def half_way(args, model, folder, options):
    """The limit halfway between the memory without checkpointing and with full."""
    others = [each for each in options if each != BUDGET]
    memories = [compile_plan(args, model, folder, [*others, f"--activation-checkpointing={each}"])[1] for each in ("none", "full")]
    return f"--memory-limit={sum(memory['peak'] + memory['unplanned'] for memory in memories) // 2}"


def measure(args, cluster, folder, model, data, options):
    """Predicted and measured seconds."""
    limit = [half_way(args, model, folder, options)] if BUDGET in options else []
    plan, _ = compile_plan(args, model, folder, options + limit)
    step = json.loads(run(args.bin / "trainc", "simulate", plan, f"--cluster={cluster}", "--json"))
    return step["step_seconds"], measured_seconds(args, plan, data, step, folder)


def calibrate(args, folder, precision, name):
    """A cluster file, and the rate of products of the precision that it has."""
    if args.cluster:
        return args.cluster, 1.0
    file = folder / f"{name}.json"
    run(args.bin / "trainc", "calibrate", "-o", file, f"--cpu={args.cpu}")
    return file, json.loads(file.read_text())["device"][PRECISIONS[precision]]["value"]


def strategies_of(args, example, precision):
    """Title and options of the rows that are asked for."""
    title, _, _, has_blocks, options = example
    for strategy, more in STRATEGIES:
        if re.search(args.only, f"{title}, {precision}, {strategy}") and (has_blocks or strategy not in OF_BLOCKS):
            given = [word.partition("=")[0] for word in more]
            yield strategy, [f"--precision={precision}", *(each for each in options if each.partition("=")[0] not in given), *more]


def rows(args, folder, example, precision):
    """Strategy, predicted and measured seconds of an example, in between two calibrations; again if these differ; and whether they agree in the end."""
    title, model, vocabulary, _, _ = example
    strategies = list(strategies_of(args, example, precision))
    if not strategies:
        return [], True
    data = folder / ("tokens.bin" if vocabulary else "pixels.safetensors")
    write_tokens(data, vocabulary) if vocabulary else write_pixels(data)
    for _ in range(ATTEMPTS):
        cluster, before = calibrate(args, folder, precision, "before")
        found = [(strategy, *measure(args, cluster, folder, model, data, options)) for strategy, options in strategies]
        _, after = calibrate(args, folder, precision, "after")
        if abs(after / before - 1) <= STEADY:
            return found, True
        print(f"{title}, {precision}: products at {before * 1e-9:.0f} GFLOP/s before, and {after * 1e-9:.0f} after", file=sys.stderr, flush=True)
    return found, False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin", help="folder of trainc and trainrun")
    parser.add_argument("--cluster", help="cluster file of this machine; measured if left out")
    parser.add_argument("--only", default="", help="rows whose name has this regular expression: 'small GPT, bf16, 2 ranks'")
    parser.add_argument("--cpu", default="native", help="the level of CPUs that plans are for, and that is calibrated")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each run, which takes 3 to 400 steps")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        print("| model | precision | strategy | predicted, ms | measured, ms | predicted / measured |\n|---|---|---|---|---|---|")
        apart = []
        for example, precision in itertools.product(EXAMPLES, PRECISIONS):
            found, is_steady = rows(args, folder, example, precision)
            for strategy, predicted, measured in found:
                apart += [abs(predicted / measured - 1)] if is_steady else []
                print(f"| {example[0]} | {precision} | {strategy}{'' if is_steady else ' *'} | {predicted * 1e3:.1f} | {measured * 1e3:.1f} | "
                      f"{predicted / measured:.2f} |", flush=True)  # fmt: skip
        if apart:
            print(f"\nThe median of {len(apart)} rows without * is {statistics.median(apart):.1%} off, the worst {max(apart):.1%}.")


if __name__ == "__main__":
    main()
