"""Reading of trainrun's traces, and their invariants."""

import json
from pathlib import Path

ROUNDING = 0.002  # microseconds: times have three digits
STEP_ENTRIES = ("begin_step", "micro_step", "last_micro_step", "update")


def end(event):
    return event["ts"] + event["dur"]


def holds(outer, inner):
    return outer["ts"] <= inner["ts"] + ROUNDING and end(inner) <= end(outer) + ROUNDING


def read(test, file, plan, rank=0):
    """The slices of one rank's trace by the names of their tracks, in the order in which viewers show these."""
    events = json.loads(Path(file).read_text())
    test.assertEqual({event["pid"] for event in events}, {rank})
    processes = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    test.assertEqual(len(processes), 1)
    test.assertRegex(processes[0], rf"^rank {rank}: {plan} on ")
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    places = {event["tid"]: event["args"]["sort_index"] for event in events if event["name"] == "thread_sort_index"}
    test.assertEqual(set(names), set(places))
    test.assertEqual(len(set(names.values())), len(names))
    tracks = {names[track]: [] for track in sorted(names, key=places.get)}
    for event in events:
        if event["ph"] == "X":
            tracks[names[event["tid"]]].append(event)
    test.assertEqual(sum(map(len, tracks.values())) + 2 * len(names) + 1, len(events))
    for name, slices in tracks.items():
        check_track(test, name, slices)
    check_nesting(test, tracks)
    return tracks


def check_track(test, name, slices):
    """Slices follow each other, and say where they come from."""
    slices.sort(key=lambda event: event["ts"])
    for event in slices:
        test.assertGreaterEqual(event["dur"], 0, name)
        test.assertEqual("source" in event.get("args", {}), name != "steps", (name, event))
    for before, after in zip(slices, slices[1:]):
        test.assertLessEqual(end(before), after["ts"] + ROUNDING, f"{name}: {before} and {after} overlap")


def check_nesting(test, tracks):
    """Measured slices lie within a step, except for disk copies, which may outlast it; slices of a thread lie within the instruction of that name."""
    for name, slices in tracks.items():
        for event in slices:
            if name.startswith("compute, thread"):
                outer = [other for other in tracks["compute"] if other["name"] == event["name"]]
            elif name != "steps" and not name.startswith("predicted: ") and event["args"]["entry"] in STEP_ENTRIES:
                outer = tracks["steps"]
            else:
                continue
            if event["args"].get("kernel") == "copy from device to disk":
                outer = [{"ts": step["ts"], "dur": (end(after) if after else end(event)) - step["ts"]} for step, after in zip(outer, [*outer[1:], None])]
            test.assertTrue(any(holds(other, event) for other in outer), (name, event))
