#!/usr/bin/env python3
"""Measures and predicts the cost of activation checkpointing and offload on this machine, in one run.

  checkpointing_times.py --dir /mnt/nvme --json figures.json --check       GPT-2 124M, 2 x 1024 tokens a step
  checkpointing_times.py --dir /mnt/nvme --plans offload,full              two of them alone
  checkpointing_times.py --dir /mnt/nvme --quick                           the small model: does the script work?

Plans with selective and full checkpointing, with a budget of half of none's activations, and with the optimizer's states on disk. Each runs between two runs of
none, and its cost is its step over the mean of theirs: a machine that changes its speed within minutes changes all three. Of each run counts the median of its
steps, and of the rounds the median of their costs.

A trace shows how long the disk works for a step, and how long the plan computes meanwhile. Fetches before the first write overlap with the backward, as far as
buffers have space. No write can begin earlier, so only the compute after the first write can overlap with the disk's work from then on. The rest is the allowed
cost of offload. Writes overlap with the next step's forward, so the cost may be lower. CPU time spent on transfers is measured, and not part of the allowance.

Prints Markdown. Needs build/bin/{trainc,trainrun}; standard library only.
Exit codes: 0; 1 where a program failed or, with --check, a target was missed; 2 bad usage.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile

import compare
from compare import MEBI, ROOT, ProgramFailed, number, progress

TRACED_STEPS = 3  # after the first one, which touches memory for the first time
OF_FULL, OF_BUDGET = 0.03, 0.08  # maximum cost as a share of none's step; for full, in addition to its share of FLOPs
PLAIN = ["none", "selective", "full"]
COMPARED = ["selective", "full", "budget", "offload"]  # each with none


def compile_plan(arguments, name, folder, *options):
    """The report of a plan, whose file has this name."""
    case, report = arguments.case, folder / "report.json"
    compare.run([arguments.bin / "trainc", "compile", ROOT / case.model, "-o", folder / f"{name}.plan", f"--micro-batch={case.batch}", "--accumulate=1",
                 f"--seq-len={case.seq_len}", "--cpu=native", f"--fp32-products={arguments.fp32_products}", f"--report={report}", *options])  # fmt: skip
    return json.loads(report.read_text())


def compile_plans(arguments, folder):
    reports = {name: compile_plan(arguments, name, folder, f"--activation-checkpointing={name}") for name in PLAIN}
    memory = reports["none"]["memory"]
    limit = memory["peak"] + memory["unplanned"] - memory["activations"] // 2
    reports["budget"] = compile_plan(arguments, "budget", folder, "--activation-checkpointing=budget", f"--memory-limit={limit}")
    reports["offload"] = compile_plan(arguments, "offload", folder, "--offload=optimizer")
    return reports


# --- the disk ---------------------------------------------------------------------------------------------------


def overlap(slices, begin, end):
    return sum(max(0.0, min(each["ts"] + each["dur"], end) - max(each["ts"], begin)) for each in slices)


def is_write(transfer):
    return "to disk" in transfer["args"]["kernel"]


def step_on_disk(step, transfers, compute):
    """Figures of one step: bytes each way; busy time of the disk in all, and from the first write on; compute time from there on; CPU time for
    earlier transfers; and the wait for the disk. `transfers` are the step's own."""
    begin, end = min(each["ts"] for each in transfers if is_write(each)), max(each["ts"] + each["dur"] for each in transfers)
    inside = [each for each in compute if step["ts"] <= each["ts"] < step["ts"] + step["dur"]]
    working = [each for each in inside if each["cat"] != "wait"]
    return {
        "read_bytes": sum(each["args"]["bytes"] for each in transfers if not is_write(each)),
        "written_bytes": sum(each["args"]["bytes"] for each in transfers if is_write(each)),
        "disk_seconds": sum(each["dur"] for each in transfers) * 1e-6,  # one after the other
        "update_disk_seconds": overlap(transfers, begin, end) * 1e-6,
        "update_compute_seconds": overlap(working, begin, step["ts"] + step["dur"]) * 1e-6,
        "waited_seconds": sum(each["dur"] for each in inside if each["cat"] == "wait") * 1e-6,
        "processor_seconds": sum(each["tdur"] for each in transfers if each["ts"] < begin) * 1e-6,
    }


def steps_on_disk(events):
    """Figures of each step but the first. A step's copies run in sequence, after those of the step before, and equally many in each."""
    tracks = {each["args"]["name"]: each["tid"] for each in events if each["name"] == "thread_name"}
    slices = [each for each in events if each["ph"] == "X"]
    steps = [each for each in slices if each["cat"] == "step"]
    of_entry = [each for each in slices if each["tid"] == tracks.get("disk") and each["args"]["entry"] == "micro_step"]
    transfers, compute = sorted(of_entry, key=lambda each: each["ts"]), [each for each in slices if each["tid"] == tracks["compute"]]
    count = len(transfers) // len(steps)
    if count == 0 or len(transfers) % len(steps) != 0:
        raise ProgramFailed(f"expected as many transfers to and from the disk in each of {len(steps)} traced steps, found {len(transfers)} in all")
    return [step_on_disk(step, transfers[number * count : (number + 1) * count], compute) for number, step in enumerate(steps)][1:]


def trace_disk(arguments, folder, data):
    """Medians of the traced steps."""
    case = dataclasses.replace(arguments.case, warmup=1, steps=TRACED_STEPS)
    file = folder / "trace.json"
    compare.run(compare.trainrun_command(arguments, case, folder / "offload.plan", data, f"--offload-dir={arguments.dir}", f"--trace={file}",
                                         f"--trace-steps={1 + TRACED_STEPS}"))  # fmt: skip
    return compare.medians(steps_on_disk(json.loads(file.read_text())))


# --- a comparison -----------------------------------------------------------------------------------------------


def run_round(arguments, folder, data, label):
    """Runs of a round, by plan; none runs first, last and between any two others. And the cost of each other plan's step over the adjacent runs of
    none."""

    def run(name):
        progress(f"{label}: {name}")
        return compare.run_trainrun(arguments, arguments.case, folder / f"{name}.plan", data, folder, f"--offload-dir={arguments.dir}")

    runs, costs = {"none": [run("none")]}, {}
    for name in arguments.plans:
        runs[name] = [run(name)]
        runs["none"].append(run("none"))
        beside = statistics.mean(each["step_seconds"] for each in runs["none"][-2:])
        costs[name] = runs[name][0]["step_seconds"] / beside - 1
    return runs, costs


def measure(arguments, folder):
    data = folder / "tokens.bin"
    compare.write_tokens(data, arguments.case.vocabulary)
    reports = compile_plans(arguments, folder)
    rounds = [run_round(arguments, folder, data, f"round {turn + 1} of {arguments.rounds}") for turn in range(arguments.rounds)]
    progress("the disk")
    disk = trace_disk(arguments, folder, data)
    runs = {name: [run for each, _ in rounds for run in each[name]] for name in ["none", *arguments.plans]}
    costs = {name: sorted(each[name] for _, each in rounds) for name in arguments.plans}
    reports = {name: report for name, report in reports.items() if name in runs}
    return {"reports": reports, "runs": runs, "costs": costs, "disk": disk} | {name: compare.medians(each) for name, each in runs.items()}


def again(report):
    return report.get("recomputed_flops_per_step", 0) / report["flops_per_step"]


def verdicts(result):
    """For each target, the measured value and its upper bound, as shares of none's step."""
    cost = {name: statistics.median(each) for name, each in result["costs"].items()}
    disk = result["disk"]
    exposed = max(0.0, disk["update_disk_seconds"] - disk["update_compute_seconds"])
    most = {"budget": OF_BUDGET, "offload": exposed / result["none"]["step_seconds"]}
    if "full" in cost:
        most["full"] = again(result["reports"]["full"]) + OF_FULL
    return {name: (cost[name], most[name]) for name in most if name in cost}


def print_table(arguments, result):
    case = arguments.case
    predicted, found = result["reports"]["none"]["predicted_step_seconds"], verdicts(result)
    print(f"{case.model}, fp32 by {arguments.fp32_products}, {case.batch} x {case.seq_len} tokens a step, {arguments.rounds} rounds of {case.steps} steps\n")
    print("| | planned peak, MiB | activations, MiB | peak RSS, MiB | step, s (of runs) | over `none` (of rounds) | predicted | recomputed FLOPs | at most |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, report in result["reports"].items():
        memory, steps = report["memory"], sorted(each["step_seconds"] for each in result["runs"][name])
        costs = result["costs"].get(name)
        over = f"{statistics.median(costs):+.1%} ({costs[0]:+.1%} to {costs[-1]:+.1%})" if costs else ""
        most = f"{found[name][1]:+.1%}{'' if found[name][0] <= found[name][1] else ' (missed)'}" if name in found else ""
        print(f"| `{name}` | {memory['peak'] / MEBI:.0f} | {memory['activations'] / MEBI:.0f} | {result[name]['peak_rss_bytes'] / MEBI:.0f} | "
              f"{number(statistics.median(steps))} ({number(steps[0])} to {number(steps[-1])}) | {over} | "
              f"{report['predicted_step_seconds'] / predicted - 1:+.1%} | {again(report):.1%} | {most} |")  # fmt: skip
    disk = result["disk"]
    print(f"\nThe disk moves {disk['read_bytes'] / MEBI:.0f} MiB in and {disk['written_bytes'] / MEBI:.0f} MiB out in a step, in {number(disk['disk_seconds'])} s."
          f" From the first write on it works for {number(disk['update_disk_seconds'])} s, and the step computes for "
          f"{number(disk['update_compute_seconds'])} s. Before that a processor works for {number(disk['processor_seconds'])} s on transfers."
          f" The plan waits for {number(disk['waited_seconds'])} s.")  # fmt: skip
    print("Losses of all steps are " + ("" if same_losses(result) else "not ") + "equal in all plans.")


def same_losses(result):
    return all(result[name]["losses"] == result["none"]["losses"] for name in result["reports"])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    compare.add_usual_arguments(parser)
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()), help="folder on the disk that holds states")
    parser.add_argument("--quick", action="store_true", help="the small model, one round: does the script work?")
    parser.add_argument("--plans", default=COMPARED, type=lambda text: text.split(","), help="which to measure: selective,full,budget,offload")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--steps", type=int, help="steps that count, of a round")
    parser.add_argument("--micro-batch", type=int)
    parser.add_argument("--seq-len", type=int)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true", help="exit with 1 where a target is missed")
    arguments = parser.parse_args()
    if unknown := set(arguments.plans) - set(COMPARED):
        parser.error(f"--plans: expected some of {','.join(COMPARED)}, found {','.join(sorted(unknown))}")
    compare.find_tools(parser, arguments, ("trainc", "trainrun"))
    given = {"batch": arguments.micro_batch, "seq_len": arguments.seq_len, "steps": arguments.steps}
    usual = compare.CASES["small"] if arguments.quick else dataclasses.replace(compare.CASES["gpt2"], batch=2, seq_len=1024, warmup=1, steps=3)
    arguments.case = dataclasses.replace(usual, **{key: value for key, value in given.items() if value is not None})
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 5)
    return arguments


def main():
    arguments = parse_arguments()
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(arguments, pathlib.Path(folder))
    except ProgramFailed as failure:
        sys.exit(f"checkpointing_times.py: {failure}")
    print_table(arguments, result)
    compare.write_figures(arguments, result)
    missed = arguments.check and any(not found <= most for found, most in verdicts(result).values())
    return 1 if missed or not same_losses(result) else 0


if __name__ == "__main__":
    sys.exit(main())
