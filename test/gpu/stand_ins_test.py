"""Parts of the checklist that need a real GPU: here with stand-ins for PyTorch, nvidia-smi and compute-sanitizer."""

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from unittest import mock

import paths  # noqa: F401
import harness
import kit
import vendor
from kit_of_tests import emulated_kit
from parts_test import PROFILE
from session import Session, Skipped
from stages import benchmark, facts, kernels, sanitizer

PEER = {"step_seconds": 2.0, "tokens_per_second": 1e-3, "flops_per_token": 1e9, "losses": [4.5, 4.4], "used_bytes": 1 << 40,
        "allocated_bytes": 1 << 20, "reserved_bytes": 2 << 20}  # fmt: skip
# The memory in use grows with every question.
STAND_INS = {
    "python": f"#!{sys.executable}\nopen('peers', 'a').write('x')\nprint('{json.dumps(PEER)}')\n",
    "nvidia-smi": "#!/bin/sh\ncase $1 in *memory.used*) echo 1 >>asked; wc -l <asked;; *) echo 'NVIDIA H100 80GB HBM3, 580.1, 81559 MiB, 1980 MHz, 2619 MHz, 700 W';; esac\n",
    # Runs the command after its own eight arguments. Without the variable that initcheck needs, it ends without a summary.
    "compute-sanitizer": '#!/bin/sh\nlog=$8; test $2 != initcheck || test "$TRAINC_UNWRITTEN_SCRATCH" = 1 || exit; shift 8; "$@" && echo "========= ERROR SUMMARY: 0 errors" >$log\n',
}  # fmt: skip
AUTOCAST = "PyTorch precision autocast"
TOKENS, MEMORY = "tokens/s, of the fastest PyTorch's, at least 1.15", "memory, of that PyTorch's, at most 0.8"


def sanitizer_that_finds(report, place):
    return f'#!/bin/sh\nprintf "========= {report}\\n=========     at {place}+0x10\\n========= ERROR SUMMARY: 1 error\\n" >$8; exit 97\n'


class StandInsTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.multiple(benchmark, WARMUP=1, STEPS=2))

    def session(self, **programs):
        """A session as on a GPU, with stand-ins."""
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        Path("bin").mkdir()
        for name, text in (STAND_INS | programs).items():
            self.stand_in(name, text)
        self.enterContext(mock.patch.dict(os.environ, PATH=f"{Path('bin').resolve()}:{os.environ['PATH']}"))
        work = Path("work").resolve()
        session = Session(kit.Kit(emulated_kit(), True, work, sys.executable), False, Path("bin", "python").resolve(), work)
        session.begin(100)
        return session

    def stand_in(self, name, text):
        Path("bin", name).write_text(text)
        Path("bin", name).chmod(0o755)

    def found(self, session):
        return {line.name: (line.verdict, line.detail) for line in session.lines}

    def test_stands_beside_pytorch(self):
        session = self.session()
        benchmark.run("tiny", session)
        found = self.found(session)
        self.assertEqual(found[AUTOCAST][0], "PASS")
        self.assertIn("0 tokens/s, 2000.0 ms a step", found[AUTOCAST][1])
        self.assertEqual((found[TOKENS][0], found[MEMORY][0]), ("PASS", "PASS"))
        self.assertEqual(found["share of the peak FLOP/s (MFU), at least 60%"][0], "FAIL")
        self.assertIn("of 989 TFLOP/s", found["share of the peak FLOP/s (MFU), at least 60%"][1])
        # Another stage that compares with the same run has its numbers.
        session.begin(100)
        benchmark.run("tiny", session)
        self.assertEqual(self.found(session)[AUTOCAST][0], "PASS")
        self.assertEqual(Path("work", "peers").read_text(), "x")

    def test_nobody_asks_for_memory_while_steps_are_timed(self):
        session = self.session()
        asked = []
        with mock.patch.object(session, "trainrun", side_effect=lambda *_, **__: asked.append(Path("asked").exists())):
            benchmark.train(session, "tiny", "data", "tiny.jsonl")
            benchmark.used_bytes(session, "tiny", "data")
        self.assertEqual(asked, [False, True])

    def test_pytorch_may_lack_memory_or_be_missing(self):
        session = self.session(python=f"#!{sys.executable}\nprint('{{\"out_of_memory\": true}}')\n")
        benchmark.run("tiny", session)
        self.assertEqual(self.found(session)[AUTOCAST], ("SKIPPED", "it needs more memory than the GPU has"))
        self.assertEqual(self.found(session)[TOKENS][0], "SKIPPED")
        self.stand_in("python", "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\" >&2; exit 1\n")
        session.begin(100)
        benchmark.run("tiny", session)
        self.assertIn("this Python has no torch; say which has with --python", self.found(session)[AUTOCAST][1])

    def test_pytorch_may_take_too_long(self):
        session = self.session(python="#!/bin/sh\nsleep 60\n")
        with mock.patch.dict(benchmark.PEER_SECONDS, tiny=0.5):
            benchmark.run("tiny", session)
        found = self.found(session)
        self.assertEqual(found["trainc"][0], "PASS")
        self.assertEqual(found[AUTOCAST][0], "SKIPPED")
        self.assertIn("python did not end in its 0 s", found[AUTOCAST][1])
        self.assertEqual(found[TOKENS], ("SKIPPED", "one side did not run"))

    def test_libraries_must_be_new_enough(self):
        session = self.session()
        session.kit.vendor = {name: vendor.Library(Path("/usr/lib"), least, least) for name, least in vendor.LEAST.items()}
        facts.judge_libraries(session)
        self.assertEqual({verdict for verdict, _ in self.found(session).values()}, {"PASS"})
        session.kit.vendor["libcublasLt.so.13"] = vendor.Library(Path("/python/nvidia/cu13/lib"), 120900, 130000)
        del session.kit.vendor["libnvrtc.so.13"]
        session.begin(100)
        facts.judge_libraries(session)
        found = self.found(session)
        self.assertEqual([verdict for verdict, _ in found.values()], ["FAIL", "PASS", "PASS", "FAIL"])
        self.assertIn("expected 130000 or newer in the system or in PyTorch's packages, found 120900 of Python's packages", found["libcublasLt.so.13"][1])
        self.assertIn("found none", found["libnvrtc.so.13"][1])

    def test_sanitizes(self):
        session = self.session()
        self.enterContext(mock.patch.object(sanitizer, "PLANS", ("gpt-bf16",)))
        self.enterContext(mock.patch.object(sanitizer, "TOOLS", ("memcheck", "initcheck")))
        sanitizer.run(session)
        self.assertEqual(set(self.found(session).values()), {("PASS", "ERROR SUMMARY: 0 errors")})
        own, read = session.kit.symbols("gpt-bf16")[0], "Invalid __global__ read of size 4 bytes"
        for text, place, verdicts in ((read, own, ["FAIL", "PASS", "FAIL", "PASS"]), (read, "vendors_kernel", ["PASS", "FAIL", "PASS", "SKIPPED"]),
                                      ("Program hit CUDA_ERROR_NOT_FOUND", "library", ["PASS", "SKIPPED", "PASS", "SKIPPED"])):  # fmt: skip
            self.stand_in("compute-sanitizer", sanitizer_that_finds(text, place))
            session.begin(100)
            sanitizer.run(session)
            self.assertEqual([line.verdict for line in session.lines], verdicts, place)
            self.assertIn(text, "".join(line.figures.get("log", "") for line in session.lines))
        self.stand_in("compute-sanitizer", "#!/bin/sh\nexit 1\n")
        session.begin(100)
        sanitizer.run(session)
        self.assertEqual([line.verdict for line in session.lines], ["FAIL", "SKIPPED"] * 2)

    def test_kernels_are_judged(self):
        session = self.session()
        kernels.judge_copies(session, PROFILE | {"rates": PROFILE["rates"] | {"copied_bytes": 4e12}})
        self.assertEqual(self.found(session)["rows_1 (b:2): of a copy's bandwidth, at least 0.85"], ("FAIL", "0.675"))
        for step_seconds, verdict in ((0.102, "FAIL"), (0.1005, "SKIPPED")):
            session.begin(100)
            kernels.judge_idle(session, PROFILE, lambda: step_seconds)
            self.assertEqual(session.lines[0].verdict, verdict)

    def test_a_stage_has_its_time(self):
        session = self.session()
        session.begin(0.5)
        with session.line("slow"):
            session.run("sleep", "60")
        with session.line("late"):
            session.run("true")
        with session.line("absent"):
            raise Skipped("a reason")
        self.assertEqual([line.verdict for line in session.lines], ["FAIL", "FAIL", "SKIPPED"])
        self.assertIn("sleep did not end in its 0 s", session.lines[0].detail)


if __name__ == "__main__":
    harness.main()
