"""The checklist for GPUs on emulated libraries: it passes, it fails where something is wrong, and it says what is missing.

What it does on a real GPU alone, it does here with stand-ins for PyTorch, nvidia-smi and compute-sanitizer.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import paths  # noqa: F401
import harness
import kit
import prepare
import report
from session import Failed, Session, Skipped
from stages import benchmark, golden, kernels, sanitizer, stages

GPU = paths.ROOT / "test" / "gpu"
BUILD = os.environ.get("BUILD_FOLDER", str(paths.ROOT / "build"))
PEER = {"step_seconds": 2.0, "tokens_per_second": 1e-3, "flops_per_token": 1e9, "losses": [4.5, 4.4], "allocated_bytes": 1 << 20, "reserved_bytes": 2 << 20}
STAND_INS = {
    "python": f"#!{sys.executable}\nprint('{json.dumps(PEER)}')\n",
    "nvidia-smi": "#!/bin/sh\ncase $1 in *memory.used*) echo 100;; *) echo 'NVIDIA H100 80GB HBM3, 580.1, 81559 MiB, 1980 MHz, 2619 MHz, 700 W';; esac\n",
    # Runs what stands behind its own eight arguments.
    "compute-sanitizer": '#!/bin/sh\nlog=$8; shift 8; "$@" && echo "========= ERROR SUMMARY: 0 errors" >$log\n',
}  # fmt: skip
PROFILE = {
    "rates": {"copied_bytes": 3e12, "half_flops": 9e14, "flops_source": "H100"}, "steps": 2, "step_seconds": 0.3, "idle_seconds": 0.1,
    "rows": [{"entry": "micro_step", "what": "matrix product", "kind": "products", "source": "a:1", "calls": 2, "seconds": 0.1, "flops": 5e13,
              "bytes": 1e9, "least_seconds": 0.05},
             {"entry": "micro_step", "what": "rows_1", "kind": "kernels", "source": "b:2", "calls": 1, "seconds": 1e-3, "flops": 0, "bytes": 2.7e9,
              "least_seconds": 9e-4},
             {"entry": "micro_step", "what": "rows_small", "kind": "kernels", "source": "c:3", "calls": 9, "seconds": 1e-3, "flops": 0, "bytes": 9e3,
              "least_seconds": 1e-6},
             {"entry": "init", "what": "rows_2", "kind": "kernels", "source": "d:4", "calls": 1, "seconds": 5e-3, "flops": 0, "bytes": 1e9,
              "least_seconds": 4e-4}],
}  # fmt: skip


class ChecklistTest(harness.EndToEndTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.kit = Path(folder.name, "kit")
        subprocess.run([GPU / "prepare.sh", "--emulated", f"--build={BUILD}", f"--out={cls.kit}"], check=True)

    def checklist(self, *arguments, code=0, **environment):
        """(what it prints, its results)."""
        out, _ = self.run_program(GPU / "run.sh", "--emulated", f"--kit={self.kit}", "--out=results", *arguments, code=code, timeout=300,
                                  env=os.environ | environment)
        return out, report.read(next(Path("results").glob("*.json")))

    def verdicts(self, results):
        return {line["name"]: line["verdict"] for line in report.lines_of(results)}

    def session(self, **programs):
        """A session as on a GPU, with stand-ins."""
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        Path("bin").mkdir()
        for name, text in (STAND_INS | programs).items():
            Path("bin", name).write_text(text)
            Path("bin", name).chmod(0o755)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.update, PATH=path)
        os.environ["PATH"] = f"{Path('bin').resolve()}:{path}"
        session = Session(kit.Kit(self.kit, True, Path("work").resolve(), sys.executable), False, Path("bin", "python").resolve(), Path("work").resolve())
        session.begin(100)
        return session

    def found(self, session):
        return {line.name: (line.verdict, line.detail) for line in session.lines}

    def test_passes(self):
        out, results = self.checklist()
        self.assertEqual(list(results["stages"]), list(stages(True)))
        self.assertNotIn("FAIL", out)
        self.assertGreater(report.counts(results)["PASS"], 20)
        page = next(Path("results").glob("*.md")).read_text()
        self.assertTrue(page.startswith("# The checklist for GPUs on emulated libraries (test/emulator), not on a GPU\n"))
        self.assertNotRegex(page + json.dumps(results), r"tokens/s|seconds")  # nothing is timed

    def test_a_fault_fails_and_stops_nothing(self):
        out, results = self.checklist("--stage=golden,memory", code=1, TRAINC_EMULATOR_FAULT="cuGraphLaunch:3=CUDA_ERROR_ILLEGAL_ADDRESS")
        verdicts = self.verdicts(results)
        self.assertEqual(verdicts["gpt, bf16, ten steps"], "FAIL")
        self.assertEqual(verdicts["mlp, fp32, gradients"], "PASS")  # one step has no graph
        self.assertEqual(verdicts["gpt-bf16"], "PASS")
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", json.dumps(results["stages"]["golden"]))
        self.assertIn("FAIL    gpt, bf16, ten steps", out)

    def test_other_bytes_than_planned_fail(self):
        shutil.copytree(self.kit, "kit")
        manifest = json.loads(Path("kit", kit.MANIFEST).read_text())
        manifest["plans"]["mlp-fp32"]["peak_bytes"] += 1
        Path("kit", kit.MANIFEST).write_text(json.dumps(manifest))
        out, results = self.checklist("--kit=kit", "--stage=memory", code=1)
        self.assertEqual(self.verdicts(results)["mlp-fp32"], "FAIL")
        self.assertEqual(report.counts(results)["FAIL"], 1)
        self.assertRegex(out, r"FAIL +mlp-fp32: expected \d+ bytes, found \d+ in the dry run and \d+ allocated")

    def test_a_gpu_that_is_too_small_is_said(self):
        _, results = self.checklist("--stage=memory", TRAINC_EMULATOR_MEMORY="34950000")
        verdicts = self.verdicts(results)
        self.assertEqual((verdicts["mlp-fp32"], verdicts["one-rank"]), ("PASS", "SKIPPED"))
        self.assertRegex(json.dumps(results), r"SKIPPED[^}]*expected \d+ bytes[^}]* of 34950000")

    def test_stages_are_joined(self):
        self.checklist("--stage=facts")
        _, results = self.checklist("--stage=cases")
        self.assertEqual(list(results["stages"]), ["facts", "cases"])
        first = next(Path("results").glob("*.json"))
        out, _ = self.run_program(GPU / "run.sh", "--join", first, first, "--out=joined")
        self.assertIn("joined/", out)
        page = next(Path("joined").glob("*.md")).read_text()
        self.assertIn("Stages that did not run: device, golden, ", page)
        other = json.loads(first.read_text()) | {"device": "another"}
        Path("other.json").write_text(json.dumps(other))
        self.fails([GPU / "run.sh", "--join", first, "other.json", "--out=joined"], 2, "results of different runs: device is")
        Path("other.json").write_text("{}")
        self.fails([GPU / "run.sh", "--join", "other.json", "--out=joined"], 2, "other.json: expected results of test/gpu/run.sh")

    def test_errors_say_what_to_do(self):
        self.fails([GPU / "run.sh", "--kit=nowhere"], 2, "nowhere: expected a kit, found no kit.json; make one with test/gpu/prepare.sh on")
        self.fails([GPU / "run.sh", f"--kit={self.kit}"], 2, "expected a kit for GPUs, found an emulated one; run both")
        self.fails([GPU / "run.sh", "--stage=goldne"], 2, "expected names of facts, device, ", "found 'goldne'")
        self.fails([GPU / "run.sh", "--join", "a.json", "--emulated"], 2, "--join runs nothing")
        self.fails([GPU / "run.sh", "--emulated", f"--kit={self.kit}", "--out=results"], 2, "trainrun finds no GPU that it can use", "7.5",
                   env=os.environ | {"TRAINC_EMULATOR_CAPABILITY": "7.5"})
        Path("full").mkdir()
        Path("full", "file").write_text("")
        self.fails([GPU / "prepare.sh", "--out=full"], 2, "--out=full: expected a new folder or a kit")
        self.fails([GPU / "prepare.sh", "--build=nowhere", "--out=new"], 1, "nowhere/bin/trainrun: expected a program, found none; build it")
        with self.assertRaisesRegex(prepare.PrepareError, r"expected at most 1000 bytes with the \d+ of the tracked files, found \d+; leave plans out"):
            prepare.check_size(self.kit, 1000)

    def test_stands_beside_pytorch(self):
        session = self.session()
        benchmark.run("tiny", session)
        found = self.found(session)
        self.assertEqual(found["PyTorch precision autocast"][0], "PASS")
        self.assertIn("0 tokens/s, 2000.0 ms a step", found["PyTorch precision autocast"][1])
        self.assertEqual(found["tokens/s, of the fastest PyTorch's, at least 1.15"][0], "PASS")
        self.assertEqual(found["memory, of that PyTorch's, at most 0.8"][0], "SKIPPED")  # the stand-in's memory never changes
        self.assertEqual(found["share of the peak FLOP/s (MFU), at least 60%"][0], "FAIL")
        self.assertIn("of 989 TFLOP/s", found["share of the peak FLOP/s (MFU), at least 60%"][1])

    def test_pytorch_may_lack_memory_or_be_missing(self):
        session = self.session(python=f"#!{sys.executable}\nprint('{{\"out_of_memory\": true}}')\n")
        benchmark.run("tiny", session)
        self.assertEqual(self.found(session)["PyTorch precision autocast"], ("SKIPPED", "it needs more memory than the GPU has"))
        self.assertEqual(self.found(session)["tokens/s, of the fastest PyTorch's, at least 1.15"][0], "SKIPPED")
        Path("bin", "python").write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\" >&2; exit 1\n")
        session.begin(100)
        benchmark.run("tiny", session)
        self.assertIn("this Python has no torch; say which has with --python", self.found(session)["PyTorch precision autocast"][1])

    def test_sanitizes(self):
        session = self.session()
        sanitizer.PLANS, plans = ("gpt-bf16",), sanitizer.PLANS
        self.addCleanup(setattr, sanitizer, "PLANS", plans)
        sanitizer.run(session)
        self.assertEqual(set(self.found(session).values()), {("PASS", "ERROR SUMMARY: 0 errors")})
        Path("bin", "compute-sanitizer").write_text('#!/bin/sh\necho "========= Invalid __global__ read" >$8; exit 97\n')
        session.begin(100)
        sanitizer.run(session)
        self.assertEqual({verdict for verdict, _ in self.found(session).values()}, {"FAIL"})
        self.assertIn("Invalid", session.lines[0].figures["log"])

    def test_kernels_stand_beside_a_copy(self):
        self.assertEqual(kernels.copy_shares(PROFILE), [("rows_1", "b:2", 0.9)])
        self.assertEqual([row[1] for row in kernels.table(PROFILE)], ["matrix product", "rows_1", "rows_small"])
        self.assertEqual(kernels.table(PROFILE)[0][5:], ["500.0", "10", "50%"])
        self.assertAlmostEqual(kernels.idle_share(PROFILE, 0.101), 1 - 0.1 / 0.101)
        self.assertEqual(kernels.idle_share(PROFILE, 0.09), 0)
        slow = PROFILE | {"rates": PROFILE["rates"] | {"copied_bytes": 4e12}}
        session = self.session()
        kernels.judge_copies(session, slow)
        self.assertEqual(self.found(session)["rows_1 (b:2): of a copy's bandwidth, at least 0.85"], ("FAIL", "0.675"))

    def test_what_lies_beyond_its_bound_fails(self):
        self.assertEqual(golden.worst({"a": (0.1, 1), "b": (0.2, 1)}), "b: 0.2 of 1")
        for error in (2, float("nan"), float("inf")):
            with self.assertRaisesRegex(Failed, "a: .* of 1"):
                golden.worst({"a": (error, 1), "b": (0.2, 1)})

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
        self.assertIn("sleep did not end in the stage's time", session.lines[0].detail)


if __name__ == "__main__":
    harness.main()
