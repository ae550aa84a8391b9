"""A few steps of a golden model under each tool of compute-sanitizer: one without graphs, one that makes them, one that launches them."""

import re
import shutil
from pathlib import Path

import machine
from session import Failed, Skipped

TOOLS = "memcheck", "racecheck", "initcheck", "synccheck"
PLANS = "gpt-bf16", "llama-fp32"
STEPS = 3
SUMMARY = re.compile(r"^=+ ((?:ERROR|RACECHECK) SUMMARY: .*)$", re.MULTILINE)
FOUND = 97  # exit code of the tool's
LOGGED = 4000  # characters


def find_tool():
    found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(found).exists():
        raise Skipped("there is no compute-sanitizer in PATH or /usr/local/cuda/bin")
    return found


def check(session, tool, plan, line):
    log = session.work / f"{tool}-{plan}.txt"
    try:
        session.run_program("trainrun", session.kit.plan(plan), "--data", machine.golden_data(plan.partition("-")[0]), f"--steps={STEPS}",
                            under=(find_tool(), "--tool", tool, "--error-exitcode", FOUND, "--print-limit", 10, "--log-file", log))  # fmt: skip
    finally:
        text = log.read_text(errors="replace") if log.exists() else ""
        line.figures["log"] = text[:LOGGED]
    summary = SUMMARY.findall(text)
    if not summary:
        raise Failed(f"compute-sanitizer wrote no summary: {text[-500:]}")
    line.detail = summary[-1]


def run(session):
    if session.emulated:
        with session.line("compute-sanitizer"):
            raise Skipped("the emulator itself checks accesses, races and barriers, in all stages")
        return
    for plan in PLANS:
        for tool in TOOLS:
            with session.line(f"{tool} on {plan}") as line:
                check(session, tool, plan, line)
