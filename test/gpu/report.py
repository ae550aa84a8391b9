"""The results as JSON, which later calls join, and as a page."""

import datetime
import json

SCHEMA = "trainc gpu checklist 1"


class ReportError(Exception):
    """Results that cannot be joined."""


def read(path):
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot read results: {error}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ReportError(f"{path}: expected results of test/gpu/run.sh, found something else")
    return found


def join(results):
    """The stages of several results; of one that ran twice the later. They must be of one machine and one commit."""
    joined = dict(results[0], stages={})
    for each in results:
        for key in ("emulated", "device", "commit"):
            if each[key] != joined[key]:
                raise ReportError(f"results of different runs: {key} is {joined[key]} in one and {each[key]} in another")
        joined["stages"] |= each["stages"]
    return joined


def lines_of(results):
    return [line for stage in results["stages"].values() for line in stage["lines"]]


def counts(results):
    verdicts = [line["verdict"] for line in lines_of(results)]
    return {verdict: verdicts.count(verdict) for verdict in ("PASS", "FAIL", "SKIPPED")}


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ").strip()


def table(header, rows):
    """Lines of a table in Markdown."""
    return ["| " + " | ".join(map(cell, row)) + " |" for row in (header, ["---"] * len(header), *rows)]


def row(line):
    text = line["detail"]
    return [line["name"], line["verdict"], text if len(text) <= 300 else f"{text[:200]} ... (all of it is in the JSON)"]


def page(results, order):
    """The results as Markdown, with the stages in their order."""
    emulated = " on emulated libraries (test/emulator), not on a GPU" if results["emulated"] else ""
    total = counts(results)
    text = [f"# The checklist for GPUs{emulated}", "", f"Device: {results['device']}. Commit {results['commit'][:12]}, {results['date']}.", "",
            "    test/gpu/run.sh" + (" --emulated" if results["emulated"] else ""), "",
            f"{total['PASS']} passed, {total['FAIL']} failed, {total['SKIPPED']} were skipped."]  # fmt: skip
    missing = [name for name in order if name not in results["stages"]]
    if missing:
        text += ["", f"Stages that did not run: {', '.join(missing)}."]
    for name in order:
        stage = results["stages"].get(name)
        if not stage:
            continue
        seconds = "" if results["emulated"] else f" ({stage['seconds']:.0f} s)"
        text += ["", f"## {stage['title']}: `{name}`{seconds}", "", *table(["check", "verdict", "found"], map(row, stage["lines"]))]
        for each in stage["tables"]:
            text += ["", f"{each['title']}:", "", *table(each["header"], each["rows"])]
    return "\n".join(text) + "\n"


def write(results, order, folder):
    """DATE-gpu.md and DATE-gpu.json in the folder; the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{results['date']}-gpu.md"
    path.write_text(page(results, order))
    path.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    return path


def new(emulated, device, commit):
    date = datetime.date.today().isoformat()
    return {"schema": SCHEMA, "date": date, "emulated": emulated, "device": device, "commit": commit, "stages": {}}
