"""Moments on disk: the same bits as in memory, less memory, and disks that fail."""

import itertools
import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import harness
import small_gpt
import trace_file

SMALL = "--offload-group=16KiB"
GROUPS = ("--offload=optimizer", SMALL)


def contents(folder):
    return {path: path.read_bytes() for path in Path(folder).iterdir()}


class RunTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.text = small_gpt.text(('nn.output "logits"', 'nn.output "scores"'))  # plans are made sooner
        small_gpt.write_tokens("tokens.bin", 40)

    def plan(self, name, *options):
        """Compiles; the report's bytes."""
        self.compile(self.text, f"--report={name}.json", *options, to=f"{name}.plan")
        return json.loads(Path(f"{name}.json").read_text())["memory"]

    def train(self, name, folder, ranks=1, steps=4, **kwargs):
        """What each step measured, without times."""
        self.trainrun(f"{name}.plan", f"--nproc-per-node={ranks}", "--threads=1", "--data", "tokens.bin", f"--steps={steps}",
                      "--checkpoint-dir", folder, "--resume=auto", "--metrics", f"{folder}.jsonl", **kwargs)
        return harness.metrics(f"{folder}.jsonl")


class OffloadTest(RunTest):
    def check(self, ranks, *options, states="optimizer", share=1 / 2):
        """Equal losses and checkpoints; planned bytes are allocated, and fewer by a share of what lies on disk."""
        options = (f"--ranks={ranks}", *options)
        plain, off = self.plan("plain", *options), self.plan("off", *options, f"--offload={states}", SMALL)
        folders = [f"{name}-{'-'.join((*options, states))}" for name in ("plain", "off")]
        runs = [self.train(name, folder, ranks) for name, folder in zip(("plain", "off"), folders)]
        keys = ("step", "loss", "lr", "grad_norm")
        self.assertEqual(*([[line[key] for key in keys] for line in run] for run in runs))
        self.assert_same_folder(*(f"{folder}/step-00000004" for folder in folders))
        self.assertEqual({line["peak_bytes"] for line in runs[1]}, {off["peak"]})
        self.assertGreater(off["disk"], plain["optimizer"] / 4)
        self.assertLess(off["peak"], plain["peak"] - share * off["disk"])

    def test_one_rank(self):
        self.check(1)

    def test_moments_in_bf16_with_working_copies(self):
        self.check(1, "--precision=bf16", "--optimizer-states=bf16", "--accumulate=2")

    def test_divided_states(self):
        self.check(2, "--zero-stage=1")
        self.check(2, "--zero-stage=3", "--accumulate=2", "--precision=fp16")

    def test_all_states(self):
        """Parameters are fetched by each op that reads them, gradients by each micro-batch."""
        for ranks, share, *options in ((1, 1 / 2, "--accumulate=2"), (2, 1 / 2, "--zero-stage=3", "--accumulate=2", "--precision=bf16"),
                                       # An access to the disk takes longer than most ops of so small a model: fetches begin early, and lie in memory together.
                                       (2, 1 / 4, "--zero-stage=1")):
            self.check(ranks, *options, states="optimizer,gradients,parameters", share=share)

    def test_activations(self):
        """What the backward reads late leaves memory, alone and with all states."""
        for ranks, states, *options in ((1, "activations"), (1, "optimizer,gradients,parameters,activations", "--accumulate=2", "--precision=bf16"),
                                        (2, "activations,optimizer", "--zero-stage=3", "--activation-checkpointing=full")):
            with self.subTest(ranks=ranks, states=states, options=options):
                self.check(ranks, *options, states=states, share=1 / 3)
                dump, _ = self.trainc("dump", "off.plan")
                self.assertRegex(dump, r"arena disk_scratch in disk bytes=\d+\n")
                self.assertRegex(dump, r"copy micro_step\S* -> saved\S* bytes=\d+ on disk")

    def test_what_is_measured(self):
        """Each stream's predictions lie beside what was measured, and each instruction knows its own."""
        self.plan("off", "--ranks=2", "--zero-stage=1", *GROUPS)
        _, err = self.trainrun("off.plan", "--nproc-per-node=2", "--threads=1", "--data", "tokens.bin", "--steps=2", "--profile", "--trace=trace.json")
        self.assertIn("wait for the disk", err)
        tracks = trace_file.read(self, "trace.json", "gpt")
        streams = ("compute", "communication", "disk")
        beside = [(stream, f"predicted: {stream}") for stream in streams]
        self.assertEqual(list(tracks), ["steps", *beside[0], "compute, thread 0", *beside[1], *beside[2]])
        for measured, predicted in beside:
            for event in tracks[measured]:
                self.assertEqual(event["args"].get("predicted_us", 0) > 0, event["cat"] != "wait", event)
            self.assertLessEqual({event["name"] for event in tracks[measured] if event["cat"] != "wait"}, {event["name"] for event in tracks[predicted]})
        self.assertEqual({event["args"]["kernel"] for event in tracks["disk"]}, {"copy from disk to device", "copy from device to disk"})

    def test_what_one_plan_has_saved_the_other_resumes(self):
        self.plan("plain")
        self.plan("off", *GROUPS)
        self.train("plain", "whole", steps=4)
        self.train("off", "mixed", steps=2)
        self.train("plain", "mixed", steps=3)
        self.train("off", "mixed", steps=4)
        self.assert_same_folder("whole/step-00000004", "mixed/step-00000004")

    def test_hidden_activations(self):
        self.check(1, "--accumulate=2", states="optimizer,hidden_activations")

    def test_a_limit_that_moments_in_memory_exceed(self):
        off = self.plan("off", *GROUPS)
        limit = f"--memory-limit={off['peak'] + off['unplanned']}"
        Path("model.mlir").write_text(self.text)
        compile = [harness.TRAINC, "compile", "model.mlir", "-o", "no.plan", "--cpu=native", "--accumulate=1", "--activation-checkpointing=none", limit]
        self.fails([*compile, "--offload=none"], 2, "the memory limit allows")
        _, err = self.run_program(*compile, SMALL)
        self.assertIn("took --offload=hidden_activations: ", err)
        self.plan("limited", *GROUPS, limit)
        self.train("limited", "run", steps=1)

    def test_every_seeded_fault_is_refused(self):
        self.plan("off", "--ranks=2", "--zero-stage=1", "--offload=optimizer,activations", SMALL)
        out, _ = self.run_program(harness.MUTATE_PLAN, "off.plan", 40, timeout=300)
        for kind in ["swap", "overlap", "drop", "lengthen", "stream", "copy", "reorder"]:
            self.assertRegex(out, rf"{kind}: ([1-9]\d*) of \1 refused")


@unittest.skipIf(os.environ.get("TRAINC_SANITIZE"), "sanitizers want to be loaded before other libraries")
class FailingDiskTest(RunTest):
    """Of a run of two steps, whose transfers are some hundreds."""

    def setUp(self):
        super().setUp()
        self.plan("off", *GROUPS)

    def with_faults(self, faults, *more, folder="run"):
        library = os.environ.get("DISK_FAULTS_LIBRARY", str(harness.BIN.parent / "test/end_to_end/libdisk_faults.so"))
        command = [harness.TRAINRUN, "off.plan", "--threads=1", "--data", "tokens.bin", "--steps=2", f"--checkpoint-dir={folder}", "--checkpoint-every=1",
                   "--resume=auto", *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "LD_PRELOAD": library, "DISK_FAULTS": faults})

    def test_short_and_slow_transfers_and_no_io_uring(self):
        self.train("off", "whole", steps=2)
        for faults in ("short 0", "plain 0", "plain short 0", "slow 5"):
            done = self.with_faults(faults, folder=faults)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_same_folder("whole/step-00000002", f"{faults}/step-00000002")

    def test_errors_at_every_kind_of_transfer(self):
        self.train("off", "run", steps=1)
        before = contents("run/step-00000001")
        seen = set()
        for kind, text in (("error", "Input/output error"), ("full", "No space left on device"), ("plain error", "Input/output error")):
            for number in (1, 20, 40, 70, 90):  # of the load, of the step, and of the checkpoint
                done = self.with_faults(f"{kind} {number}")
                self.assertEqual(done.returncode, 1, (kind, number, done.stderr))
                self.assertRegex(done.stderr, rf"error: .*cannot (read|write) \d+ bytes of arena 'disk' on disk: {text}")
                seen |= {word for word in ("cannot read", "cannot write", "train.get", "train.set", "copying '") if word in done.stderr}
                self.assertEqual(contents("run/step-00000001"), before)
                self.assertEqual([path.name for path in Path("run").iterdir()], ["step-00000001"])
        self.assertEqual(seen, {"cannot read", "cannot write", "train.get", "train.set", "copying '"})

    def test_a_fault_at_every_transfer(self):
        """Of a load, a step and a checkpoint, from the first transfer on until there is no further one."""
        self.plan("off", "--offload=optimizer,activations", "--offload-group=1MiB")
        self.train("off", "whole", steps=2)
        self.train("off", "run", steps=1)
        before = contents("run/step-00000001")
        Path("disk").mkdir()

        def run(faults):
            done = self.with_faults(faults, "--offload-dir=disk")
            self.assertEqual(contents("run/step-00000001"), before)
            self.assertEqual(os.listdir("disk"), [])
            if done.returncode == 0:
                self.assert_same_folder("whole/step-00000002", "run/step-00000002")
                shutil.rmtree("run/step-00000002")
            self.assertEqual(os.listdir("run"), ["step-00000001"])
            return done

        for kind, text in (("error", "Input/output error"), ("full", "No space left on device")):
            for number in itertools.count(1):
                done = run(f"{kind} {number}")
                if done.returncode == 0:
                    break
                self.assertEqual(done.returncode, 1, (kind, number, done.stderr))
                self.assertRegex(done.stderr, rf"error: .*cannot (read|write) \d+ bytes of arena 'disk(_scratch)?' on disk: {text}\n$")
            self.assertGreater(number, 20)
        for kind, other in itertools.product(("short", "slow"), range(1, number)):
            self.assertEqual(run(f"{kind} {other}").returncode, 0, (kind, other))

    def test_a_disk_without_room(self):
        done = self.with_faults("none")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"cannot make arena 'disk' of \d+ bytes in /.*: No space left on device; name another folder with --offload-dir\n$")

    def test_a_folder_that_is_none(self):
        """Nothing to try again: bad input, on any number of ranks."""
        Path("file").touch()
        for folder, reason in (("nowhere", "No such file or directory"), ("file", "Not a directory"), ("/proc", "Operation not supported")):
            for ranks in (1, 2):
                with self.subTest(folder=folder, ranks=ranks):
                    self.plan("off", f"--ranks={ranks}", *GROUPS)
                    self.fails([harness.TRAINRUN, "off.plan", f"--nproc-per-node={ranks}", "--data", "tokens.bin", "--steps=1", f"--offload-dir={folder}"], 2,
                               re.compile(rf"cannot make arena 'disk' of \d+ bytes in {folder}: {reason}; name another folder with --offload-dir"))


if __name__ == "__main__":
    harness.main()
