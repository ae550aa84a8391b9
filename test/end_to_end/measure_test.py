"""`trainrun --profile` and `--trace` on the CPU, with a plan made by hand; on emulated GPUs: cuda_test.py."""

import json
from pathlib import Path

import harness
import trace_file
from harness import MAKE_TOY_PLAN, TRAINRUN
from toy_run import write_uneven_tokens

class MeasureTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.run_program(MAKE_TOY_PLAN, "toy.plan")
        write_uneven_tokens("tokens.bin")

    def train(self, *args, plan="toy.plan", steps=4):
        return self.trainrun(plan, "--data", "tokens.bin", "--data-dtype=uint16", "--steps", steps, *args)[1]

    def test_profile(self):
        err = self.train("--profile")
        self.assertRegex(err, r"micro_step: toy_micro \(loss: nn.cross_entropy at test.mlir:7\)")
        self.assertRegex(err, r"\nroof: the share \(more than 100 % if data was in a cache\) of what is possible at [\d.]+ GB/s of a measured copy; for products give --peak-flops\n")
        self.assertRegex(err, r"\nidle: [\d.]+ of [\d.]+ seconds in 4 steps \([\d.]+%\), in which no stream worked\n")
        self.assertIn(" and 50.0 GFLOP/s (--peak-flops)\n", self.train("--profile", "--peak-flops=5e10"))

    def test_profile_as_json(self):
        self.train("--profile=p.json")
        profile = json.loads(Path("p.json").read_text())
        self.assertGreater(profile["rates"]["copied_bytes"], 0)
        self.assertEqual(profile["steps"], 4)
        self.assertLess(0, profile["idle_seconds"])
        self.assertLess(profile["idle_seconds"], profile["step_seconds"])
        row, = (row for row in profile["rows"] if row["what"] == "toy_micro")
        self.assertEqual((row["entry"], row["kind"], row["calls"]), ("micro_step", "kernels", 8))
        self.assertAlmostEqual(row["least_seconds"], row["bytes"] / profile["rates"]["copied_bytes"])
        self.fails([TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps=1", "--profile=p.csv"], 2,
                   "--profile: expected --profile or --profile=FILE.json, found 'p.csv'")
        self.fails([TRAINRUN, "toy.plan", "--data=tokens.bin", "--steps=1", "--profile", "p.json"], 2, "--profile takes its value after '='")
        self.fails([TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps=1", "--profile=no/p.json"], 2,
                   "--profile=no/p.json: there is no folder 'no'; create it, or name another")

    def test_trace(self):
        self.train("--trace=t.json", "--trace-steps=2", "--threads=2")
        tracks = trace_file.read(self, "t.json", "toy")
        threads = [f"compute, thread {thread}" for thread in range(2)]
        self.assertEqual([name for name in tracks if name not in threads], ["steps", "compute"])
        self.assertTrue(any(tracks.get(thread) for thread in threads))
        steps = tracks["steps"]
        self.assertEqual([step["name"] for step in steps], ["step 1", "step 2"])
        micro = [event for event in tracks["compute"] if event["args"]["kernel"] == "toy_micro"]
        self.assertEqual(len(micro), 4, "two in each of two steps")
        for event in micro:
            self.assertEqual(event["name"], "loss: nn.cross_entropy")
            self.assertEqual(event["args"]["source"], "loss: nn.cross_entropy at test.mlir:7")
            self.assertEqual(event["args"]["entry"], "micro_step")
            self.assertGreater(event["args"]["bytes"], 0)
        self.assertTrue(all(event["ts"] < trace_file.end(steps[-1]) for slices in tracks.values() for event in slices))

    def test_traces_of_ranks(self):
        """A collective is a slice from the moment both ranks have begun it; no waiting rank continues before its end."""
        self.run_program(MAKE_TOY_PLAN, "ranks.plan", 2, 2)
        self.train("--nproc-per-node=2", "--trace=t.json", "--profile=p.json", plan="ranks.plan")
        for rank in range(2):
            tracks = trace_file.read(self, ("t.json", "t.rank-1.json")[rank], "toy", rank)
            waits = [event for event in tracks["compute"] if event["name"] == "wait for all-gather"]
            gathers = [event for event in tracks["communication"] if event["args"]["kernel"] == "all-gather"]
            self.assertGreater(len(waits), 0)
            self.assertEqual(len(waits), len(gathers))
            for wait, gather in zip(waits, gathers):
                self.assertGreater(gather["dur"], 0)
                self.assertEqual(wait["args"]["source"], gather["args"]["source"])
                self.assertLessEqual(trace_file.end(gather), trace_file.end(wait) + trace_file.ROUNDING)
            rows = json.loads(Path(("p.json", "p.rank-1.json")[rank]).read_text())["rows"]
            self.assertLessEqual({"all-gather", "wait for all-gather"}, {row["what"] for row in rows})

    def test_files_of_something_else_stay(self):
        command = [TRAINRUN, "toy.plan", "--data", "tokens.bin", "--data-dtype=uint16", "--steps=1"]
        Path("notes.json").write_text('{"idle": true}')
        Path("t").mkdir()
        Path("t/trace.json").symlink_to("../toy.plan")
        for option, what in (("--trace", "a trace"), ("--profile", "a profile")):
            for file in ("notes.json", "t/trace.json"):
                before = Path(file).read_bytes()
                self.fails([*command, f"{option}={file}"], 2, f"{option}={file}: the file holds something else than {what} of trainrun's, which would be lost")
                self.assertEqual(Path(file).read_bytes(), before)
        self.fails([*command, "--trace=a.json", "--profile=./a.json"], 2, "--profile and --trace both name 'a.json'")
        self.fails([*command, "--trace=a.json", "--metrics=a.json"], 2, "--metrics and --trace both name 'a.json'")
        self.fails([*command, "--profile=t"], 2, "expected --profile or --profile=FILE.json")
        for _ in range(2):  # their own files begin anew
            self.train("--trace=t.json", "--profile=p.json", "--metrics=m.jsonl")
            trace_file.read(self, "t.json", "toy")
            json.loads(Path("p.json").read_text())

    def test_errors_of_traces(self):
        command = [TRAINRUN, "toy.plan", "--data", "tokens.bin", "--data-dtype=uint16", "--steps=1"]
        self.fails([*command, "--trace=no/t.json"], 2, "error: --trace=no/t.json: there is no folder 'no'; create it, or name another")
        self.fails([*command, "--trace-steps=1"], 2, "--trace-steps needs --trace")
        self.fails([*command, "--trace=t.json", "--trace-steps=0"], 2, "--trace-steps")

    def test_files_that_cannot_be_written(self):
        """The run continues to its last checkpoint, and fails at its end, on all ranks."""
        self.run_program(MAKE_TOY_PLAN, "ranks.plan", 2, 2)
        for name in ("full.json", "t.rank-1.json"):
            Path(name).symlink_to("/dev/full")
        command = ["--data", "tokens.bin", "--data-dtype=uint16", "--steps=1", "--checkpoint-dir"]
        error = "error: the run is done, and not all that was asked for could be written; warnings above name the files"
        for option in ("--trace", "--metrics"):
            with self.subTest(option):
                err = self.fails([TRAINRUN, "toy.plan", *command, option[2:], f"{option}=full.json"], 1, error)
                self.assertRegex(err, rf"warning: {option}=.*full.json: cannot write: No space left on device")
                self.assertTrue((Path(option[2:]) / "step-00000001").is_dir())
        err = self.fails([TRAINRUN, "ranks.plan", *command, "ranks", "--nproc-per-node=2", "--trace=t.json"], 1, error)
        self.assertIn("[rank 1] warning: --trace=t.rank-1.json: cannot write: No space left on device", err)
        trace_file.read(self, "t.json", "toy")
        self.assertTrue(Path("ranks/step-00000001").is_dir())


if __name__ == "__main__":
    harness.main()
