"""Helpers of the tests of trainc_data. A missing package is an error: scripts/python.sh installs all."""

import io
import json
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test" / "golden" / "chat"
sys.path.insert(0, str(ROOT / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])  # of worker processes

from safetensors import safe_open  # noqa: E402

from trainc_data import cli  # noqa: E402

TOKENIZER = GOLDEN / "byte_level"
CHATML = GOLDEN / "templates" / "chatml.jinja"


def chat(*contents, system=None):
    """The messages of a chat in which the user begins."""
    messages = [{"role": "system", "content": system}] if system else []
    return messages + [{"role": ("user", "assistant")[index % 2], "content": content} for index, content in enumerate(contents)]


def columns(path):
    """Name -> array, and the metadata."""
    with safe_open(path, "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()


class DataTest(unittest.TestCase):
    """Each test runs in a temporary folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(folder.name)

    def write_rows(self, rows, name="rows.jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name

    def run_cli(self, *arguments, code=0):
        """Runs trainc-data; returns standard output and error."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                found = cli.main([str(each) for each in arguments])
            except SystemExit as end:
                found = end.code
        self.assertEqual(found, code, out.getvalue() + err.getvalue())
        return out.getvalue(), err.getvalue()

    def chat(self, *arguments, code=0, length=("--pack=256",), template=CHATML, output="out.safetensors"):
        return self.run_cli("chat", *arguments, f"--tokenizer={TOKENIZER}", f"--chat-template={template}", *length, "-o", output, code=code)

    def fails(self, *expected, **kwargs):
        """The error of `trainc-data chat` with the arguments of `kwargs`."""
        arguments = kwargs.pop("arguments")
        output = kwargs.get("output", "out.safetensors")
        before = Path(output).read_bytes() if Path(output).exists() else None
        _, err = self.chat(*arguments, code=2, **kwargs)
        for text in expected:
            self.assertIn(text, err)
        self.assertEqual(Path(output).read_bytes() if Path(output).exists() else None, before)
        self.assertEqual([each for each in Path().iterdir() if each.name.startswith(f"{output}.")], [])
        return err
