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
# Reports begin after the margin and one blank; their details are indented further.
REPORT = re.compile(r"^=+ (?=\S)", re.MULTILINE)
NOTES = re.compile(r"COMPUTE-SANITIZER|(ERROR|RACECHECK|LEAK) SUMMARY|Target application")
FOUND = 97  # exit code of the tool's
MOST_REPORTS = 10000
SHOWN = 4000  # characters


def find_tool():
    found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(found).exists():
        raise Skipped("there is no compute-sanitizer in PATH or /usr/local/cuda/bin")
    return found


def log_of(session, tool, plan):
    """Complete output of the tool, which reports findings and lets the program continue."""
    log = session.work / f"{tool}-{plan}.txt"
    # The runtime's zeroing would hide reads of unwritten bytes.
    environment = {"TRAINC_UNWRITTEN_SCRATCH": "1"} if tool == "initcheck" else {}
    try:
        session.run_program("trainrun", session.kit.plan(plan), "--data", machine.golden_data(plan.partition("-")[0]), f"--steps={STEPS}", environment=environment,
                            under=(find_tool(), "--tool", tool, "--error-exitcode", FOUND, "--print-limit", MOST_REPORTS, "--log-file", log))  # fmt: skip
    except Failed as reason:
        if not log.exists() or f"ended with {FOUND}:" not in str(reason):
            raise
    return log.read_text(errors="replace")


def reports_of(text):
    """Findings of the tool, one text each."""
    starts = [match.start() for match in REPORT.finditer(text)]
    parts = [text[begin:end] for begin, end in zip(starts, [*starts[1:], len(text)])]
    return [part for part in parts if not NOTES.search(part)]


def divided(reports, symbols):
    """(findings in a kernel of the plan, other findings: in kernels of vendors' libraries, or in none)."""
    own = re.compile(r"\b(?:" + "|".join(map(re.escape, symbols)) + r")\b")
    return [each for each in reports if own.search(each)], [each for each in reports if not own.search(each)]


def is_access(tool, report):
    """Libraries try calls of the driver that fail; of our own each status is looked at."""
    return tool == "memcheck" and not report.startswith("========= Program hit")


def judge(line, reports, detail):
    line.figures["reports"] = len(reports)
    if reports:
        line.figures["log"] = "".join(reports)[:SHOWN]
        raise Failed(f"{len(reports)} reports; the first:\n{reports[0]}")
    line.detail = detail


def run(session):
    if session.emulated:
        with session.line("compute-sanitizer"):
            raise Skipped("the emulator itself checks accesses, races and barriers, in all stages")
        return
    for plan in PLANS:
        for tool in TOOLS:
            check(session, tool, plan)


def check(session, tool, plan):
    """Findings in vendors' kernels are not ours, except for accesses: these may be caused by wrong arguments."""
    others, detail = None, ""
    with session.line(f"{tool} on {plan}: kernels of the plan") as line:
        text = log_of(session, tool, plan)
        detail = next(iter(reversed(SUMMARY.findall(text))), "")
        if not detail:
            raise Failed(f"compute-sanitizer wrote no summary: {text[-500:]}")
        own, others = divided(reports_of(text), session.kit.symbols(plan))
        judge(line, own, detail)
    with session.line(f"{tool} on {plan}: all else") as line:
        if others is None:
            raise Skipped("there is no log")
        if others and not any(is_access(tool, each) for each in others):
            line.figures["log"] = "".join(others)[:SHOWN]
            raise Skipped(f"{len(others)} reports of kernels that are not the plan's; the first: {others[0]}")
        judge(line, others, detail)
