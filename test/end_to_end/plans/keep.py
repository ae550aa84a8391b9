#!/usr/bin/env python3
"""Keeps a plan of today's format version, with the losses of a run.

  keep.py [--bin=build/bin]

Does not replace a plan that is kept.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

PLANS = Path(__file__).resolve().parent
sys.path.insert(0, str(PLANS.parent))
import plan_versions  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=PLANS.parents[2] / "build" / "bin")
    programs = parser.parse_args().bin.resolve()
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "model.plan"
        # By its name alone: a plan records the path that it was compiled from.
        plan_versions.run(programs / "trainc", "compile", "model.mlir", "--cpu=x86-64-v3", "-o", plan, cwd=PLANS)
        version = plan_versions.version_of(plan)
        kept = PLANS / f"{version}.plan"
        if kept.exists():
            sys.exit(f"{kept} is kept already")
        losses = plan_versions.losses_of(programs / "trainrun", plan, Path(folder))
        kept.write_bytes(plan.read_bytes())
        kept.with_suffix(".json").write_text(json.dumps({"losses": losses}, indent=1) + "\n")
    print(f"kept {kept}")


if __name__ == "__main__":
    main()
