"""Support of the plans' library calls by the device's libraries: each plan is prepared, and none of its steps runs."""

import re

import plans
from session import Failed
from stages.memory import data_for

# trainrun's message about a rejected call.
REFUSED = re.compile(r"^(?:error: .*?: )?entry (\S+), instruction (\S+) \((.*?)( at .*?)?\): (.*)$", re.MULTILINE)
HEADER = "plan", "call", "calls", "refused", "first refusal"


def refusals(session, name):
    """(entry, instruction, op in the source) -> trainrun's message for each rejected call."""
    try:
        session.trainrun(name, "--data", data_for(session, name), "--steps=0")
    except Failed as reason:
        found = {(entry, instruction, op): f"{op}{place}: {text}" for entry, instruction, op, place, text in REFUSED.findall(reason.output)}
        if not found:
            raise
        return found
    return {}


def rows(name, calls, refused):
    """A row for each kind of call, and one for rejections that match no call of the plan."""
    left, found = dict(refused), []
    for kind, places in calls.items():
        answers = [left.pop(tuple(place)) for place in places if tuple(place) in left]
        found.append([name, kind, len(places), len(answers), answers[0] if answers else ""])
    return found + [[name, f"entry {entry}, instruction {instruction}", 1, 1, text] for (entry, instruction, _), text in left.items()]


def run(session):
    table = []
    for name in session.kit.plans_of_one_rank():
        calls = session.kit.calls(name)
        if name == plans.WITHOUT_LIBRARIES or not calls:
            continue
        with session.line(name) as line:
            found = rows(name, calls, refusals(session, name))
            table += found
            count, refused = (sum(row[i] for row in found) for i in (2, 3))
            line.figures = {row[1]: {"calls": row[2], "refused": row[3], "why": row[4]} for row in found}
            line.judge(refused == 0, f"{count} calls of {len(found)} kinds" if refused == 0 else
                       f"{refused} of {count} calls were refused, of {sum(row[3] > 0 for row in found)} kinds; the first: {next(row[4] for row in found if row[4])}")
    session.table("Library calls, made ready", HEADER, table)
