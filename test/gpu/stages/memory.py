"""Bytes of arenas: planned by the compiler, shown by the dry run, and allocated by a run."""

import re

import autocast_run
import harness
import machine
import plans
import small_gpt
from session import DEVICE_LINE, Failed

ARENA = re.compile(r"^arena \w+: (\d+) bytes", re.MULTILINE)
BESIDE = re.compile(r"(\d+) MiB beside arenas")


def data_for(session, name):
    model = name.partition("-")[0]
    if name in plans.golden_plans():
        return machine.golden_data(model)
    case = session.kit.benchmarks().get(name)
    tokens = case.batch * case.length if case else autocast_run.BATCH * autocast_run.LENGTH
    return small_gpt.write_tokens(session.work / f"{name}-memory.bin", max(100, tokens // small_gpt.LENGTH + 1))


def run(session):
    for name in session.kit.plans_of_one_rank():
        with session.line(name) as line:
            planned = session.kit.planned(name)
            shown = sum(map(int, ARENA.findall(session.trainrun(name, "--device=null")[0])))
            _, err = session.trainrun(name, "--data", data_for(session, name), "--steps=1", f"--metrics={name}-memory.jsonl")
            allocated = harness.metrics(session.work / f"{name}-memory.jsonl")[0]["peak_bytes"]
            if not planned == shown == allocated:
                raise Failed(f"expected {planned} bytes, found {shown} in the dry run and {allocated} allocated")
            beside = BESIDE.search(DEVICE_LINE.search(err).group())
            line.figures = {"planned_bytes": planned, "beside_mib": int(beside.group(1)) if beside else None}
            line.detail = f"{planned} bytes" + ("" if session.emulated or not beside else f", {beside.group(1)} MiB beside arenas")
