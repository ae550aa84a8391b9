"""Paths, and modules shared with the end-to-end tests and the benchmarks."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KIT = ROOT / "build" / "gpu-kit"
EMULATED_KIT = ROOT / "build" / "gpu-kit-emulated"
MEASUREMENTS = ROOT / "docs" / "measurements"
EMULATED_REPORTS = ROOT / "build" / "gpu-emulated"

for folder in ("end_to_end", "benchmark"):
    sys.path.insert(0, str(ROOT / "test" / folder))
