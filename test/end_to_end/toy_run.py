"""Helpers of trainrun's tests: a hand-made plan (test/unit/runtime/training/toy_plan.cpp), a bigram model over 16 tokens with 8 samples of 8
tokens per step, and its data."""

import array
import re
import signal
import subprocess
import time
from pathlib import Path

import harness
from harness import MAKE_TOY_PLAN, TRAINRUN


def write_tokens(path, samples, first=1):
    """A stream in which token t is followed by 3t + 1 modulo 16."""
    tokens = array.array("H", [first])
    for _ in range(8 * samples):
        tokens.append((3 * tokens[-1] + 1) % 16)
    Path(path).write_bytes(tokens.tobytes())


def write_uneven_tokens(path):
    """Tokens that follow no simple rule."""
    Path(path).write_bytes(array.array("H", [(i * 7 + i // 5) % 16 for i in range(5000)]).tobytes())


class TrainrunTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        subprocess.run([MAKE_TOY_PLAN, "toy.plan"], check=True)
        write_tokens("tokens.bin", 100)

    def start(self, *args, **kwargs):
        return subprocess.Popen([TRAINRUN, "toy.plan", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)

    def run_ok(self, *args, **kwargs):
        return self.trainrun("toy.plan", *args, **kwargs)

    def run_fails(self, code, expected, *args):
        self.fails([TRAINRUN, "toy.plan", *args], code, *([expected] if isinstance(expected, str) else expected))

    def train(self, steps, *args, **kwargs):
        return self.run_ok("--data", "tokens.bin", "--steps", steps, *args, **kwargs)

    def wait_for(self, pattern):
        """Until a file of that name has content."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if any(path.stat().st_size for path in Path(".").glob(pattern)):
                return
            time.sleep(0.001)
        self.fail(f"no file {pattern}")

    def wait_until_signals_are_caught(self, process):
        """Waits until the process polls for a stop; before, a signal ends it at once."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            caught = int(re.search(r"^SigCgt:\t(\w+)$", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)[1], 16)
            if caught >> (signal.SIGTERM - 1) & 1:
                return
            time.sleep(0.001)
        self.fail("SIGTERM is not caught")

    def metrics(self, path="m.jsonl"):
        return harness.metrics(path)

    def checkpoints(self, folder):
        return sorted(path.name for path in Path(folder).iterdir())
