"""`trainrun --profile` and `--trace` on the CPU, with a plan made by hand; on emulated GPUs: cuda_test.py."""

import json
from collections import Counter
from pathlib import Path

import harness
from harness import MAKE_TOY_PLAN, TRAINRUN
from toy_run import write_uneven_tokens

TRACKS = ["steps", "compute", "communication", "copies to the device", "copies to the host", "disk"]


class MeasureTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.run_program(MAKE_TOY_PLAN, "toy.plan")
        write_uneven_tokens("tokens.bin")

    def train(self, *args, plan="toy.plan", steps=4):
        return self.trainrun(plan, "--data", "tokens.bin", "--data-dtype=uint16", "--steps", steps, *args)[1]

    def slices(self, file, rank=0):
        """Those of a trace, which is one that a viewer reads: complete events on named tracks of one process."""
        events = json.loads(Path(file).read_text())
        self.assertEqual({event["pid"] for event in events}, {rank})
        names = {event["name"]: event for event in events if event["ph"] == "M" and event["tid"] == 0}
        self.assertRegex(names["process_name"]["args"]["name"], rf"^rank {rank}: toy on ")
        tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(tracks, dict(enumerate(TRACKS)))
        found = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(found) + len(TRACKS) + 1, len(events))
        for event in found:
            self.assertGreaterEqual(event["dur"], 0)
        return found

    def of_track(self, slices, track):
        found = sorted((event for event in slices if event["tid"] == TRACKS.index(track)), key=lambda event: event["ts"])
        for before, after in zip(found, found[1:]):
            self.assertLess(before["ts"] + before["dur"], after["ts"] + 1, "slices of a track follow each other")
        return found

    def test_profile(self):
        err = self.train("--profile")
        self.assertRegex(err, r"micro_step: toy_micro \(loss: nn.cross_entropy at test.mlir:7\)")
        self.assertRegex(err, r"\nroof: the share of what is possible at [\d.]+ GB/s of a measured copy; for products give --peak-flops\n")
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
                   "--profile=no/p.json: cannot open for writing: No such file or directory; name a file")

    def test_trace(self):
        self.train("--trace=t.json", "--trace-steps=2")
        slices = self.slices("t.json")
        steps = self.of_track(slices, "steps")
        self.assertEqual([step["name"] for step in steps], ["step 1", "step 2"])
        compute = self.of_track(slices, "compute")
        micro = [event for event in compute if event["args"]["kernel"] == "toy_micro"]
        self.assertEqual(len(micro), 4, "two in each of two steps")
        for event in micro:
            self.assertEqual(event["name"], "loss: nn.cross_entropy")
            self.assertEqual(event["args"]["source"], "loss: nn.cross_entropy at test.mlir:7")
            self.assertEqual(event["args"]["entry"], "micro_step")
            self.assertGreater(event["args"]["bytes"], 0)
            self.assertTrue(any(step["ts"] <= event["ts"] and event["ts"] + event["dur"] <= step["ts"] + step["dur"] for step in steps))
        last = steps[-1]["ts"] + steps[-1]["dur"]
        self.assertTrue(all(event["ts"] < last for event in slices))

    def test_traces_of_ranks(self):
        self.run_program(MAKE_TOY_PLAN, "ranks.plan", 2, 2)
        self.train("--nproc-per-node=2", "--trace=t.json", "--profile=p.json", plan="ranks.plan")
        for rank in range(2):
            slices = self.slices(("t.json", "t.rank-1.json")[rank], rank)
            waits = Counter(event["name"] for event in self.of_track(slices, "compute") if event["cat"] == "wait")
            started = Counter(event["args"]["kernel"] for event in self.of_track(slices, "communication"))
            self.assertGreater(waits["wait for all-gather"], 0)
            self.assertEqual(waits["wait for all-gather"], started["start all-gather"])
            rows = json.loads(Path(("p.json", "p.rank-1.json")[rank]).read_text())["rows"]
            self.assertIn("wait for all-gather", {row["what"] for row in rows})

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
            self.slices("t.json")
            json.loads(Path("p.json").read_text())

    def test_errors_of_traces(self):
        command = [TRAINRUN, "toy.plan", "--data", "tokens.bin", "--data-dtype=uint16", "--steps=1"]
        self.fails([*command, "--trace=no/t.json"], 2, "--trace=no/t.json: cannot open for writing: No such file or directory; name a file")
        self.fails([*command, "--trace-steps=1"], 2, "--trace-steps needs --trace")
        self.fails([*command, "--trace=t.json", "--trace-steps=0"], 2, "--trace-steps")
        self.assertIn("warning: --trace=/dev/full: cannot write: No space left on device", self.train("--trace=/dev/full"))


if __name__ == "__main__":
    harness.main()
