"""Helpers of the end-to-end tests: running the programs, reading and writing safetensors, comparing numbers.

The programs are those of build/bin unless the environment variables TRAINC, TRAINC_CHECK, TRAINC_OPT, TRAINRUN, MAKE_TOY_PLAN, DAMAGE_PLAN and MUTATE_PLAN say otherwise.
"""

import array
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import plan_cache

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test" / "golden"
BIN = ROOT / "build" / "bin"
TRAINC = os.environ.get("TRAINC", str(BIN / "trainc"))
TRAINC_CHECK = os.environ.get("TRAINC_CHECK", str(BIN / "trainc-check"))
TRAINC_OPT = os.environ.get("TRAINC_OPT", str(BIN / "trainc-opt"))
TRAINRUN = os.environ.get("TRAINRUN", str(BIN / "trainrun"))
MAKE_TOY_PLAN = os.environ.get("MAKE_TOY_PLAN", str(BIN / "make_toy_plan"))
DAMAGE_PLAN = os.environ.get("DAMAGE_PLAN", str(BIN / "damage_plan"))
MUTATE_PLAN = os.environ.get("MUTATE_PLAN", str(BIN / "mutate_plan"))

# Device of trainrun(): the CPU, or the emulated device with a seed.
SEED = os.environ.get("TRAINC_TEST_SEED")
DEVICE = ["--device=emulated", "--device-seed", SEED] if SEED else []

# Floats of 16 bits, which arrays do not have, are integers here: their bits.
TYPE_CODES = {"F64": "d", "F32": "f", "F16": "H", "BF16": "H", "I32": "i", "I64": "q", "U8": "B", "U16": "H"}


class Tensor:
    """A dtype by its safetensors name, a shape, and an array of the elements in row-major order."""

    def __init__(self, dtype, shape, values):
        self.dtype, self.shape, self.values = dtype, list(shape), array.array(TYPE_CODES[dtype], values)


def read_safetensors(path):
    """Name -> Tensor."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = Tensor(entry["dtype"], entry["shape"], [])
        tensors[name].values.frombytes(data[8 + length + begin:8 + length + end])
    return tensors


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, tensor in tensors.items():
        data = tensor.values.tobytes()
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


def relative_error(actual, expected):
    """max|actual - expected| / max|expected|; infinity if any number is non-finite."""
    if len(actual) != len(expected):
        raise AssertionError(f"{len(actual)} numbers where {len(expected)} were expected")
    if not all(map(math.isfinite, actual)):
        return math.inf
    scale = max(map(abs, expected))
    return max(abs(a - b) for a, b in zip(actual, expected)) / scale


# Tests may run side by side.
PORT = str(20000 + os.getpid() % 40000)


def rank_variables(rank, ranks):
    """The environment that torchrun sets for one of the ranks of this host."""
    return dict(RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=PORT)


def metrics(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def program(name):
    """The text of a golden model."""
    return (GOLDEN / name / f"{name}.mlir").read_text()


def edited(text, *edits):
    """The text with each (old, new) applied; an old text that is missing is a mistake of the test."""
    for old, new in edits:
        if old not in text:
            raise AssertionError(f"{old!r} is not in the model")
        text = text.replace(old, new)
    return text


# Marks a test that takes long and whose neighbours find the same faults: `test/run.sh matrix` runs it.
ALL_COMBINATIONS = bool(os.environ.get("TRAINC_ALL_COMBINATIONS"))
in_matrix = unittest.skipUnless(ALL_COMBINATIONS, "test/run.sh matrix runs it")


class EndToEndTest(unittest.TestCase):
    """Each test runs in a temporary folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def run_program(self, *command, code=0, timeout=120, **kwargs):
        """Runs a program that must end with `code`; returns standard output and error."""
        done = subprocess.run([str(part) for part in command], capture_output=True, timeout=timeout, **kwargs)
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"{command}\n{out}\n{err}")
        return out, err

    def trainc(self, *args, **kwargs):
        return self.run_program(TRAINC, *args, **kwargs)

    def trainrun(self, *args, **kwargs):
        device = [] if "--device=null" in args else DEVICE
        return self.run_program(TRAINRUN, *args, *device, **kwargs)

    def compile(self, text, *args, to="model.plan", cpu="native"):
        """Compiles a model's text: for this machine alone, which is faster, unless `cpu` says otherwise."""
        source = Path("model.mlir")  # of one name, which plans hold, so that equal texts make equal plans
        beside = Path(f"model.{threading.get_ident()}")  # several threads may compile the same text, of which none may read half
        beside.write_text(text)
        beside.replace(source)
        options = [f"--cpu={cpu}", *map(str, args)]
        plan_cache.compiled(TRAINC, source, to, options, lambda: self.trainc("compile", source, "-o", to, *options))
        return to

    def fails(self, command, code, *expected, **kwargs):
        """Runs a command that must end with `code` and say all of the expected texts; returns standard error."""
        out, err = self.run_program(*command, code=code, **kwargs)
        for text in expected:
            self.assertRegex(err, text) if isinstance(text, re.Pattern) else self.assertIn(text, err)
        self.assertNotIn("Stack dump", err)
        return err

    def assert_same_folder(self, a, b):
        """Two folders hold files of equal names and bytes."""
        names = sorted(path.name for path in Path(a).iterdir())
        self.assertEqual(names, sorted(path.name for path in Path(b).iterdir()))
        self.assertTrue(names)
        for name in names:
            self.assertTrue(Path(a, name).read_bytes() == Path(b, name).read_bytes(), f"{name} differs in {a} and {b}")

    def assert_close(self, actual, expected, bound, what):
        error = relative_error(actual, expected)
        self.assertLess(error, bound, f"{what}: relative error")


def main():
    unittest.main(argv=sys.argv, verbosity=2)
