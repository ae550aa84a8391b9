#!/usr/bin/env python3
"""The checklist for a GPU: runs the stages one after the other, prints a line for each check, and writes a page and its JSON.

  run.sh                            all stages, on the GPU
  run.sh --minutes=9                what ends in 9 minutes; called again, it goes on with what is missing
  run.sh --stage=golden,bits        some of them; results that lie in --out already are kept and joined
  run.sh --join a.json b.json       joins results, without running anything
  run.sh --emulated                 on test/emulator, with small models and nothing timed

It needs the kit that test/gpu/prepare.sh makes on a machine with LLVM; here it needs Python alone, and for the benchmark PyTorch.

Exit codes: 0; 1 where a check failed; 2 where nothing could run: bad usage, no kit, no GPU.
"""

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path

import kit
import paths
import report
from session import Failed, Session, Skipped
from stages import stages
from stages.facts import device_line

BEGAN = time.monotonic()


def parse_arguments():
    parser = argparse.ArgumentParser(prog="test/gpu/run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kit", type=Path, help="the folder that prepare.sh made (default: build/gpu-kit)")
    parser.add_argument("--stage", help=f"names with commas between them, of {', '.join(stages(False))} (default: all)")
    parser.add_argument("--minutes", type=float, help="end before so many: stages that may take longer, and those that --out has already, are left out")
    parser.add_argument("--emulated", action="store_true", help="run on test/emulator; the kit is one of prepare.sh --emulated")
    parser.add_argument("--out", type=Path, help="where the page and its JSON go (default: docs/measurements; build/gpu-emulated if emulated)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has PyTorch (default: this one)")
    parser.add_argument("--join", type=Path, nargs="+", metavar="FILE.json", help="join these results; later ones win")
    arguments = parser.parse_args()
    if arguments.join and (arguments.stage or arguments.minutes or arguments.kit or arguments.emulated):
        parser.error("--join runs nothing: leave --stage, --minutes, --kit and --emulated out")
    if arguments.minutes is not None and not arguments.minutes > 0:
        parser.error(f"--minutes={arguments.minutes}: expected a number above 0")
    arguments.kit = arguments.kit or (paths.EMULATED_KIT if arguments.emulated else paths.KIT)
    arguments.names = arguments.stage.split(",") if arguments.stage else list(stages(arguments.emulated))
    for name in arguments.names:
        if name not in stages(arguments.emulated):
            parser.error(f"--stage: expected names of {', '.join(stages(arguments.emulated))}, found '{name}'")
    return arguments


def out_folder(arguments, emulated):
    return arguments.out or (paths.EMULATED_REPORTS if emulated else paths.MEASUREMENTS)


def finish(results, folder):
    path = report.write(results, list(stages(results["emulated"])), folder)
    total = report.counts(results)
    print(f"{path}: {total['PASS']} passed, {total['FAIL']} failed, {total['SKIPPED']} skipped")
    return 1 if total["FAIL"] else 0


def find_device(session):
    """trainrun's description of the GPU, without parts that change from run to run. Without a GPU there is nothing to check."""
    session.begin(seconds=120)
    try:
        return device_line(session).split(";")[0] + ")"
    except (Failed, Skipped) as reason:
        raise kit.KitError(f"trainrun finds no GPU that it can use: {reason}") from None


def stages_to_run(arguments, results):
    """(name, stage) of each, while there is time for it. Completed ones are recorded."""
    ends = BEGAN + 60 * arguments.minutes if arguments.minutes else math.inf
    for name in arguments.names:
        stage = stages(arguments.emulated)[name]
        if arguments.minutes and name in results["stages"]:
            continue
        left = ends - time.monotonic()
        if stage.seconds > left:
            print(f"{name}: left for another call, as it may take {stage.seconds} s, of which {max(left, 0):.0f} are left")
        else:
            yield name, stage


def run_stages(session, arguments, results, folder):
    for name, stage in stages_to_run(arguments, results):
        print(f"{name}: {stage.title}, at most {stage.seconds} s", flush=True)
        began = time.monotonic()
        session.begin(stage.seconds)
        stage.run(session)
        results["stages"][name] = {"title": stage.title, "lines": [line.as_json() for line in session.lines], "tables": session.tables}
        if not arguments.emulated:
            results["stages"][name]["seconds"] = time.monotonic() - began
        report.write(results, list(stages(arguments.emulated)), folder)  # results so far are kept, however this program ends


def main():
    arguments = parse_arguments()
    try:
        if arguments.join:
            results = report.join([report.read(path) for path in arguments.join])
            return finish(results, out_folder(arguments, results["emulated"]))
        with tempfile.TemporaryDirectory() as work:
            session = Session(kit.Kit(arguments.kit, arguments.emulated, work, arguments.python), arguments.emulated, arguments.python, work)
            results = report.new(arguments.emulated, find_device(session), session.kit.manifest["commit"])
            folder = out_folder(arguments, arguments.emulated)
            earlier = folder / f"{results['date']}-gpu.json"
            if (arguments.stage or arguments.minutes) and earlier.exists():
                results = report.join([report.read(earlier), results])
            run_stages(session, arguments, results, folder)
            return finish(results, folder)
    except (kit.KitError, report.ReportError) as error:
        print(f"run.sh: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
