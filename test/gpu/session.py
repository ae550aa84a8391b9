"""Session of a checklist stage: runs programs within its time, and records lines of the table."""

import contextlib
import math
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import paths

TAIL = 1500  # characters that a failure shows of a program's output
DEVICE_LINE = re.compile(r"^cuda \d+ \(.*\)$", re.MULTILINE)

NO_ROOM = re.compile(r"expected \d+ bytes.* free .*found \d+.* of \d+|expected \d+ bytes of GPU .*found \d+ free of \d+")
NOT_HERE = re.compile(r"expected a GPU of compute capability .*found \d+\.\d+")


class Failed(Exception):
    """A check found something wrong. `output` is all that a program wrote, of which the text shows the end."""

    def __init__(self, text, output=""):
        super().__init__(text)
        self.output = output


class TimedOut(Failed):
    """A program did not end in its time."""


class Skipped(Exception):
    """A requirement of a check is missing; the text names it."""


class Line:
    """A row of the table."""

    def __init__(self, name):
        self.name, self.verdict, self.detail, self.figures = name, "PASS", "", {}

    def judge(self, passes, detail):
        """A figure compared with its target; later lines continue."""
        self.detail = detail
        if not passes:
            self.verdict = "FAIL"

    def as_json(self):
        return {"name": self.name, "verdict": self.verdict, "detail": self.detail, "figures": self.figures}


class Session:
    def __init__(self, kit, emulated, python, work):
        self.kit, self.emulated, self.python, self.work = kit, emulated, python, Path(work)
        self.lines, self.tables, self.deadline = [], [], 0.0
        self.peers = {}  # PyTorch's results, by case and options; measured once per call of the checklist

    def begin(self, seconds):
        self.lines, self.tables, self.deadline = [], [], time.monotonic() + seconds

    @contextlib.contextmanager
    def line(self, name):
        """A row: PASS, unless the body says otherwise."""
        line = Line(name)
        try:
            yield line
        except Skipped as reason:
            line.verdict, line.detail = "SKIPPED", str(reason)
        except Failed as reason:
            line.verdict, line.detail = "FAIL", str(reason)
        except Exception as error:  # noqa: BLE001: a mistake of the checklist's own is a row as well, and stops nothing
            line.verdict, line.detail = "FAIL", f"{type(error).__name__}: {error}"
        self.lines.append(line)
        print(f"  {line.verdict:8}{line.name}: {line.detail.splitlines()[-1] if line.detail else ''}", flush=True)

    def table(self, title, header, rows):
        """One more table of the report."""
        self.tables.append({"title": title, "header": header, "rows": rows})

    def tidy(self, text):
        """Without the folders of this machine."""
        for folder in (self.work, self.kit.folder / "bin", paths.ROOT):
            text = text.replace(f"{folder}/", "")
        return text

    def run(self, *command, environment=None, seconds=math.inf):
        """(standard output, standard error) of a program that ends well, in the stage's time and in `seconds`."""
        left = min(self.deadline - time.monotonic(), seconds)
        if left <= 0:
            raise Failed("the stage's time was over before this began")
        command = [str(part) for part in command]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                              cwd=self.work, env=os.environ | (environment or {})) as process:
            try:
                out, err = process.communicate(timeout=left)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                raise TimedOut(f"{Path(command[0]).name} did not end in its {left:.0f} s:\n{(out + err)[-TAIL:]}", out + err) from None
        if process.returncode != 0:
            raise Failed(self.tidy(f"{' '.join(command)} ended with {process.returncode}:\n{(out + err)[-TAIL:]}"), out + err)
        return out, err

    def run_program(self, name, *arguments, environment=None, under=(), seconds=math.inf):
        """One of the kit's, with its libraries; `under` is the command of a tool that runs it."""
        return self.run(*under, self.kit.program(name), *arguments, environment=self.kit.environment | (environment or {}), seconds=seconds)

    def trainrun(self, plan, *arguments, environment=None, seconds=math.inf):
        """Skips a plan that needs more memory than the GPU has."""
        try:
            return self.run_program("trainrun", self.kit.plan(plan), *arguments, environment=environment, seconds=seconds)
        except Failed as reason:
            if found := NO_ROOM.search(str(reason)) or NOT_HERE.search(str(reason)):
                raise Skipped(found.group()) from None
            raise
