"""Shared by the test of kept plans and the script that keeps them."""

import json
import struct
import subprocess
from pathlib import Path

import harness

SAMPLES, FEATURES, STEPS = 12, 8, 5


def run(*command, cwd=None):
    subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=cwd)


def version_of(plan):
    """The format version in a plan's header: "5.8"."""
    magic, major, minor = struct.unpack_from("<8sII", Path(plan).read_bytes())
    assert magic == b"TRNCPLAN", plan
    return f"{major}.{minor}"


def write_data(path):
    """Samples of a small function, by whole numbers alone."""
    x = [((7 * sample + 3 * feature) % 11 - 5) / 4 for sample in range(SAMPLES) for feature in range(FEATURES)]
    y = [sum(x[sample * FEATURES:(sample + 1) * FEATURES]) / 8 for sample in range(SAMPLES)]
    harness.write_safetensors(path, {"x": harness.Tensor("F32", [SAMPLES, FEATURES], x), "y": harness.Tensor("F32", [SAMPLES, 1], y)})


def command(trainrun, plan, folder):
    write_data(folder / "data.safetensors")
    return [trainrun, plan, "--data", folder / "data.safetensors", "--steps", str(STEPS), "--seed=3", "--metrics", folder / "metrics.jsonl"]


def losses_of(trainrun, plan, folder):
    run(*command(trainrun, plan, folder))
    return losses_in(folder)


def losses_in(folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]
