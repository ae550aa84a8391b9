"""Time of a step by kernel, compared with the machine's peak rates (trainrun --profile=FILE.json)."""

import json
import statistics

import compare
import harness
from session import Skipped
from stages import benchmark

STEPS, WARMUP = 6, 3
LEAST_COPY_SHARE = 0.85
MOST_IDLE = 0.01
# A smaller kernel ends before memory is saturated, or reads from a cache.
LEAST_BYTES = 64 << 20
TABLE_ROWS, MOST_LETTERS = 40, 90
TABLE = "kind", "kernel", "op", "calls", "share", "TFLOP/s", "GB/s", "of the roofline"


def profile(session, name, data):
    session.trainrun(name, "--data", data, "--seed=1", f"--steps={STEPS}", "--profile=profile.json")
    return json.loads((session.work / "profile.json").read_text())


def of_steps(found):
    """Rows of training, without those that draw the weights."""
    return [row for row in found["rows"] if row["entry"] not in ("init", "refresh") and row["seconds"] > 0]


def shortened(text):
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} ..."


def table(found):
    rows = of_steps(found)
    total = sum(row["seconds"] for row in rows)

    def cells(row):
        roof = f"{row['least_seconds'] / row['seconds']:.0%}" if row["least_seconds"] else ""
        rate = f"{row['flops'] / row['seconds'] / 1e12:.1f}" if row["flops"] else ""
        return [row["kind"], row["what"], shortened(row["source"]), row["calls"], f"{row['seconds'] / total:.1%}", rate, f"{row['bytes'] / row['seconds'] / 1e9:.0f}", roof]

    return [cells(row) for row in rows[:TABLE_ROWS]]


def copy_shares(found):
    """(kernel, op, share of a copy's bandwidth) of each kernel that moves enough."""
    copy = found["rates"]["copied_bytes"]
    if copy <= 0:
        raise Skipped("the profile has no measured copy")
    return [(row["what"], row["source"], row["bytes"] / row["seconds"] / copy)
            for row in of_steps(found) if row["kind"] == "kernels" and row["bytes"] / row["calls"] >= LEAST_BYTES]  # fmt: skip


def least_idle_share(found, step_seconds):
    """Idle share of a step in graphs: the step without the busy time that the profile measured without graphs. Events make small kernels look
    longer, so the true share is higher."""
    busy = (found["step_seconds"] - found["idle_seconds"]) / found["steps"]
    return max(0.0, 1 - busy / step_seconds)


def step_in_graphs(session, name, data):
    session.trainrun(name, "--data", data, "--seed=1", f"--steps={WARMUP + STEPS}", "--metrics=graphs.jsonl")
    lines = harness.metrics(session.work / "graphs.jsonl")
    return statistics.fmean(line["step_seconds"] for line in lines[WARMUP:])


def judge_idle(session, found, step_seconds):
    """A lower bound can show that a step idles too much, and never that it does not."""
    with session.line(f"idle inside a step, below {MOST_IDLE:.0%}") as line:
        share = least_idle_share(found, step_seconds())
        line.figures = {"least_share": share}
        line.judge(share < MOST_IDLE, f"at least {share:.2%}")
        if share < MOST_IDLE:
            raise Skipped(f"at least {share:.2%}, which shows no more: gaps inside a graph are not measured")


def judge_copies(session, found):
    with session.line(f"kernels that move {LEAST_BYTES >> 20} MiB or more") as line:
        shares = copy_shares(found)
        line.detail = f"{len(shares)}, beside a copy's {found['rates']['copied_bytes'] / 1e9:.0f} GB/s"
    for what, source, share in shares if line.verdict == "PASS" else []:
        with session.line(f"{what} ({shortened(source)}): of a copy's bandwidth, at least {LEAST_COPY_SHARE}") as line:
            line.judge(share >= LEAST_COPY_SHARE, f"{share:.3f}")


def run(session):
    name, case = next(iter(session.kit.benchmarks().items()))
    data = session.work / "kernels.bin"
    compare.write_tokens(data, case.vocabulary)
    found = None
    with session.line(f"profile of {benchmark.title(case)}") as line:
        found = profile(session, name, data)
        line.detail = f"{len(of_steps(found))} rows, {found['steps']} steps"
    if found is None or session.emulated:
        return
    session.table(f"Roofline of {benchmark.title(case)}, step by step, without graphs; {found['rates']['flops_source']}", TABLE, table(found))
    judge_idle(session, found, lambda: step_in_graphs(session, name, data))
    judge_copies(session, found)
