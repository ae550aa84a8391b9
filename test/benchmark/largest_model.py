#!/usr/bin/env python3
"""The largest GPT that trains in a fixed memory: trainc beside PyTorch, in one run.

  largest_model.py --python venv/bin/python --dir /mnt/nvme --json figures.json
  largest_model.py --python venv/bin/python --dir /mnt/nvme --accumulate 1 --width 768

Models are examples/gpt/gpt.mlir with another width and more layers, in fp32 with AdamW and clipping. PyTorch's side (offload_peer.py) has
torch.utils.checkpoint and moments on disk. Its largest model is found by trial: the process ends when its peak RSS passes the limit. trainc's is
found by plans. Then both run PyTorch's largest model in turns, and trainc its own.

Prints Markdown. Needs build/bin/{trainc,trainrun}, and a Python with torch and numpy.
Exit codes: 0; 1 where a program failed or nothing fits; 2 bad usage.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import compare
from compare import HERE, ProgramFailed, number, progress
from gpt_family import gpt_text, parameter_count

GIBI = 1 << 30
POLL_SECONDS = 0.02
STATE_BYTES = 16  # of a parameter: weight, gradient and two moments
HELD_BYTES = 8  # of a parameter in PyTorch's memory: weight and gradient
EVERYTHING_OUTSIDE = ["--offload=optimizer,gradients,parameters", "--activation-checkpointing=full", "--checkpoint-rest=selective"]


def largest(fits, most):
    """The maximum number of layers up to `most` that fits, and the result of `fits` for it; memory grows with the layers."""
    least, found = 0, None
    while least < most:
        layers = (least + most + 1) // 2
        result = fits(layers)
        progress(f"{layers} layers: {'fits' if result else 'does not fit'}")
        least, most, found = (layers, most, result) if result else (least, layers - 1, found)
    return least, found


def layers_of(arguments, parameters):
    """How many layers make a model of at most so many parameters."""
    count = [parameter_count(layers, arguments.width, arguments.vocabulary) for layers in (0, 1)]
    return max(0, int(parameters - count[0]) // (count[1] - count[0]))


# --- PyTorch ----------------------------------------------------------------------------------------------------


def peak_rss(process):
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def run_peer(arguments, layers, data, folder, warmup, steps):
    """offload_peer.py's figures; nothing if it takes more memory than the limit."""
    command = [arguments.python, HERE / "offload_peer.py", "--layers", layers, "--width", arguments.width, "--heads", arguments.heads,
               "--vocabulary", arguments.vocabulary, "--seq-len", arguments.seq_len, "--accumulate", arguments.accumulate,
               "--learning-rate", arguments.learning_rate, "--warmup", warmup, "--steps", steps, "--threads", arguments.threads,
               "--data", data, "--dir", arguments.dir]  # fmt: skip
    log = folder / "peer.log"
    with log.open("w") as output:
        process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=output)
        while process.poll() is None:
            if peak_rss(process.pid) > arguments.limit:
                process.kill()
                process.wait()
                return None
            time.sleep(POLL_SECONDS)
    if process.returncode != 0:
        raise ProgramFailed(f"{command[1]} ended with {process.returncode}:\n{log.read_text()[-2000:]}")
    figures = json.loads(log.read_text().splitlines()[-1])
    return figures if figures["peak_rss_bytes"] <= arguments.limit else None


# --- trainc -----------------------------------------------------------------------------------------------------


def compile_plan(arguments, layers, folder, *options):
    """A plan's file and its report; nothing if it does not fit into the memory or onto the disk."""
    model, plan, report = (folder / f"{layers}.{suffix}" for suffix in ("mlir", "plan", "json"))
    model.write_text(gpt_text(layers, arguments.width, arguments.heads, arguments.vocabulary, arguments.learning_rate))
    command = [arguments.bin / "trainc", "compile", model, "-o", plan, f"--memory-limit={arguments.limit}", f"--report={report}",
               "--micro-batch=1", f"--accumulate={arguments.accumulate}", f"--seq-len={arguments.seq_len}", "--cpu=native",
               f"--fp32-products={arguments.fp32_products}", *options]  # fmt: skip
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0 and "memory limit" not in done.stderr:
        raise ProgramFailed(f"trainc compile ended with {done.returncode}:\n{done.stderr[-2000:]}")
    if done.returncode != 0:
        return None
    found = json.loads(report.read_text())
    return (plan, found) if found["memory"]["disk"] <= arguments.disk else None


def run_plan(arguments, compiled, data, folder, warmup, steps):
    plan, report = compiled
    case = compare.Case("", "", arguments.vocabulary, arguments.accumulate, arguments.seq_len, warmup, steps, {}, {})
    figures = compare.run_trainrun(arguments, case, plan, data, folder, f"--offload-dir={arguments.dir}")
    said = {each["setting"]: each["value"] for each in report["settings"]}
    return figures | {"parameters": report["parameters"], "disk_bytes": report["memory"]["disk"],
                      "offload": said["offload"], "activation_checkpointing": said["activation_checkpointing"]}  # fmt: skip


# --- a comparison -----------------------------------------------------------------------------------------------


def measure(arguments, folder):
    data = folder / "tokens.bin"
    compare.write_tokens(data, arguments.vocabulary)
    progress("PyTorch's largest, by trial")
    theirs, found = largest(lambda layers: run_peer(arguments, layers, data, folder, warmup=1, steps=1),
                            layers_of(arguments, arguments.limit / HELD_BYTES))  # fmt: skip
    if not found:
        raise ProgramFailed(f"not one layer of PyTorch's fits into {arguments.limit} bytes: give a greater --limit or a smaller --width")
    progress("trainc's largest, by plans")
    ours, largest_plan = largest(lambda layers: compile_plan(arguments, layers, folder, *EVERYTHING_OUTSIDE),
                                 layers_of(arguments, arguments.disk / STATE_BYTES))  # fmt: skip
    # The planner's own choice, if one of its strategies fits.
    same = compile_plan(arguments, theirs, folder) or compile_plan(arguments, theirs, folder, *EVERYTHING_OUTSIDE)
    if not largest_plan or not same:
        raise ProgramFailed(f"no plan fits into {arguments.limit} bytes of memory and {arguments.disk} of disk")
    rounds = {"PyTorch": [], "trainc": []}
    for turn in range(arguments.rounds):
        progress(f"{theirs} layers: round {turn + 1} of {arguments.rounds}")
        rounds["PyTorch"].append(run_peer(arguments, theirs, data, folder, arguments.warmup, arguments.steps) or found)
        rounds["trainc"].append(run_plan(arguments, same, data, folder, arguments.warmup, arguments.steps))
    progress(f"{ours} layers")
    result = {name: compare.medians(runs) | {"layers": theirs} for name, runs in rounds.items()}
    result["trainc"] |= {key: rounds["trainc"][0][key] for key in ("offload", "activation_checkpointing")}
    result["largest"] = run_plan(arguments, largest_plan, data, folder, 1, arguments.largest_steps) | {"layers": ours}
    return result | {"rounds": rounds}


def row(title, found):
    losses = found["losses"]
    return (f"| {title} | {found['layers']} | {found['parameters'] / 1e6:.0f}M | {found['disk_bytes'] / GIBI:.2f} | "
            f"{found['peak_rss_bytes'] / GIBI:.2f} | {number(found['step_seconds'])} | {losses[0]:.3f} to {losses[-1]:.3f} |")  # fmt: skip


def print_table(arguments, result):
    theirs, same, ours = (result[name] for name in ("PyTorch", "trainc", "largest"))
    print(f"GPT of width {arguments.width}, {arguments.vocabulary} tokens of vocabulary, fp32, {arguments.accumulate} x {arguments.seq_len} tokens a step,"
          f" peak RSS at most {arguments.limit / GIBI:g} GiB, at most {arguments.disk / GIBI:.0f} GiB of disk\n")  # fmt: skip
    print("| | layers | parameters | on disk, GiB | peak RSS, GiB | step, s | loss, first and last |\n|---|---|---|---|---|---|---|")
    print(row("PyTorch's largest", theirs))
    print(row(f"trainc, the same (`--offload={same['offload']} --activation-checkpointing={same['activation_checkpointing']}`)", same))
    print(row("trainc's largest", ours))
    print(f"\ntrainc trains {ours['parameters'] / theirs['parameters']:.2f} times the parameters."
          f" At the same size its step takes {same['step_seconds'] / theirs['step_seconds']:.2f} of PyTorch's.")  # fmt: skip


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="a Python that has torch and numpy")
    compare.add_usual_arguments(parser)
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()), help="folder on the disk that holds states")
    parser.add_argument("--limit", type=int, default=4 * GIBI, help="bytes of peak RSS")
    parser.add_argument("--disk", type=int, default=32 * GIBI, help="bytes on disk at most, of which no more than nine tenths of what is free are used")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--heads", type=int, help="unless given, of 64 elements each")
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--seq-len", type=int, default=256)
    parser.add_argument("--accumulate", type=int, default=2, help="micro-batches of one sample in a step")
    parser.add_argument("--learning-rate", type=float, default=2e-5, help="small, as there is no warmup and models are deep")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4, help="steps that count, of a round")
    parser.add_argument("--largest-steps", type=int, default=2, help="steps that count of trainc's largest model")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    compare.find_tools(parser, arguments, ("trainc", "trainrun"))
    arguments.heads = arguments.heads or max(1, arguments.width // 64)
    arguments.disk = min(arguments.disk, shutil.disk_usage(arguments.dir).free * 9 // 10)
    return arguments


def main():
    arguments = parse_arguments()
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(arguments, pathlib.Path(folder))
    except ProgramFailed as failure:
        sys.exit(f"largest_model.py: {failure}")
    print_table(arguments, result)
    compare.write_figures(arguments, result)


if __name__ == "__main__":
    main()
