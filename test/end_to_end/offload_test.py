"""Moments on disk: the same bits as in memory, less memory, and disks that fail."""

import itertools
import json
import os
import re
import shutil
import subprocess
import time
import unittest
from pathlib import Path

import harness
import small_gpt
import trace_file
from harness import Tensor

SMALL = "--offload-group=16KiB"
GROUPS = ("--offload=optimizer", SMALL)


def contents(folder):
    return {path: path.read_bytes() for path in Path(folder).iterdir()}


# 13.4 million parameters: 153 MiB with the optimizer's states.
WIDE = """
nn.block @layer(%x: tensor<?x1024xf32>) {
  %h = nn.linear "fc" %x to 1024
  %a = nn.relu %h
  nn.return %a
}
nn.model @wide(%features: tensor<?x64xf32>, %labels: tensor<?xi32>) {
  %x = nn.linear "in" %features to 1024
  %y = nn.repeat @layer "h" times 12 (%x)
  %logits = nn.linear "out" %y to 10
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @classify { model @wide optimizer adamw(lr 1e-3, weight_decay 0.01) clip 1.0 batch 16 }
"""


def write_wide_data(path):
    harness.write_safetensors(path, {"features": Tensor("F32", [64, 64], [(7 * i % 13) / 13 - 0.5 for i in range(64 * 64)]),
                                     "labels": Tensor("I32", [64], [i % 10 for i in range(64)])})


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
        """Metrics of each step, without times."""
        self.trainrun(f"{name}.plan", f"--nproc-per-node={ranks}", "--threads=1", "--data", "tokens.bin", f"--steps={steps}",
                      "--checkpoint-dir", folder, "--resume=auto", "--metrics", f"{folder}.jsonl", **kwargs)
        return harness.metrics(f"{folder}.jsonl")


class OffloadTest(RunTest):
    def check(self, ranks, *options, states="optimizer", share=1 / 2):
        """Losses and checkpoints are equal; planned bytes are allocated, and are reduced by a share of the bytes on disk."""
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
        """Activations that the backward reads late are offloaded, alone and with all states."""
        for ranks, states, *options in ((1, "activations"), (1, "optimizer,gradients,parameters,activations", "--accumulate=2", "--precision=bf16"),
                                        (2, "activations,optimizer", "--zero-stage=3", "--activation-checkpointing=full")):
            with self.subTest(ranks=ranks, states=states, options=options):
                self.check(ranks, *options, states=states, share=1 / 3)
                dump, _ = self.trainc("dump", "off.plan")
                self.assertRegex(dump, r"arena disk_scratch in disk bytes=\d+\n")
                described, _ = self.trainrun("off.plan", "--device=null")
                peak = json.loads(Path("off.json").read_text())["memory"]["peak"]
                self.assertIn(f"\nplanned: {peak} bytes; by kind:", described)
                self.assertRegex(described, r"\narena disk_scratch: \d+ bytes \(.*\) on disk\n")
                self.assertRegex(dump, r"copy micro_step\S* -> saved\S* bytes=\d+ on disk")

    def test_what_is_measured(self):
        """Predictions of each stream are beside the measurements, and each instruction has its own."""
        self.plan("off", "--ranks=2", "--zero-stage=1", *GROUPS)
        self.trainrun("off.plan", "--nproc-per-node=2", "--threads=1", "--data", "tokens.bin", "--steps=2", "--profile=profile.json", "--trace=trace.json")
        self.assertIn("wait for the disk", Path("profile.json").read_text())
        tracks = trace_file.read(self, "trace.json", "gpt")
        streams = ("compute", "communication", "disk")
        beside = [(stream, f"predicted: {stream}") for stream in streams]
        self.assertEqual(list(tracks), ["steps", *beside[0], "compute, thread 0", *beside[1], *beside[2]])
        for measured, predicted in beside:
            for event in tracks[measured]:
                self.assertEqual(event["args"].get("predicted_us", 0) > 0, event["cat"] != "wait", event)
            self.assertLessEqual({event["name"] for event in tracks[measured] if event["cat"] != "wait"}, {event["name"] for event in tracks[predicted]})
        self.assertEqual({event["args"]["kernel"] for event in tracks["disk"]}, {"copy from disk to device", "copy from device to disk"})

    def test_stores_go_on_beside_the_next_step(self):
        """The last copies begin when a step ends. Those of the trace's last step are included."""
        write_wide_data("data.safetensors")
        self.text = WIDE
        self.plan("off", "--offload=optimizer")
        self.trainrun("off.plan", "--data", "data.safetensors", "--steps=7", "--trace=trace.json", "--trace-steps=6")
        tracks = trace_file.read(self, "trace.json", "wide")
        copies = [event for event in tracks["disk"] if event["args"]["entry"] == "micro_step"]
        stores = [event for event in copies if event["args"]["kernel"] == "copy from device to disk"]
        self.assertEqual(2 * len(stores), len(copies))
        self.assertEqual(len(stores) % 6, 0)
        self.assertTrue(any(event["ts"] < trace_file.end(step) < trace_file.end(event) for event in stores for step in tracks["steps"]))

    def test_what_one_plan_has_saved_the_other_resumes(self):
        self.plan("plain")
        self.plan("off", *GROUPS)
        self.train("plain", "whole", steps=4)
        self.train("off", "mixed", steps=2)
        self.train("plain", "mixed", steps=3)
        self.train("off", "mixed", steps=4)
        self.assert_same_folder("whole/step-00000004", "mixed/step-00000004")

    def test_says_what_lies_on_disk_and_where(self):
        memory = self.plan("off", *GROUPS)
        self.plan("plain")
        Path("disk").mkdir()

        def kind_of(folder):
            return subprocess.check_output(["stat", "-f", "-c", "%T", folder], text=True).strip()

        def said(name, folder):
            return self.trainrun(f"{name}.plan", "--data", "tokens.bin", "--steps=1", f"--offload-dir={folder}")[1]

        self.assertEqual(kind_of("/dev/shm"), "tmpfs")
        err = said("off", "disk")
        self.assertRegex(err, rf"\non disk: {memory['disk'] / 1024:.0f} KiB, in {Path('disk').absolute()}\n")
        self.assertEqual("warning: " in err, kind_of("disk") == "tmpfs")
        self.assertRegex(said("off", "/dev/shm"), r"^warning: /dev/shm lies in memory, and so do the \d+ KiB that the plan keeps on disk; "
                                                  r"name a folder on a disk with --offload-dir\n")
        self.assertTrue(said("plain", "disk").startswith("warning: --offload-dir=disk does nothing: the plan keeps nothing on disk; leave it out, or compile with "))

    def test_hidden_activations(self):
        self.check(1, "--accumulate=2", states="optimizer,hidden_activations")

    def test_a_limit_that_moments_in_memory_exceed(self):
        off = self.plan("off", *GROUPS)
        limit = f"--memory-limit={off['peak'] + off['unplanned']}"
        Path("model.mlir").write_text(self.text)
        compile = [harness.TRAINC, "compile", "model.mlir", "-o", "no.plan", "--cpu=native", "--accumulate=1", "--activation-checkpointing=none", limit]
        self.fails([*compile, "--offload=none"], 2, "the memory limit is")
        _, err = self.run_program(*compile, SMALL)
        self.assertIn("took --offload=hidden_activations: ", err)
        self.plan("limited", *GROUPS, limit)
        self.train("limited", "run", steps=1)

    def test_states_exceed_the_limit(self):
        """The planner's own choice has the bits of a run without a limit. With all in memory nothing fits."""
        limit = 132 << 20
        write_wide_data("data.safetensors")
        Path("wide.mlir").write_text(WIDE)
        for ranks in (1, 2):
            options = ["wide.mlir", f"--ranks={ranks}", "--accumulate=1", "--cpu=native"]
            limited = f"--memory-limit={limit}"
            self.fails([harness.TRAINC, "compile", *options, "-o", "no.plan", "--offload=none", limited], 2, "the memory limit is")
            for name, more in (("plain", []), ("limited", [limited])):
                self.trainc("compile", *options, "-o", f"{name}.plan", f"--report={name}.json", *more)
                self.trainrun(f"{name}.plan", f"--nproc-per-node={ranks}", "--threads=1", "--data=data.safetensors", "--steps=2",
                              f"--checkpoint-dir={name}-{ranks}", f"--metrics={name}.jsonl")
            memory = json.loads(Path("plain.json").read_text())["memory"]
            self.assertGreater(ranks * (memory["parameters"] + memory["optimizer"]), limit)
            planned = json.loads(Path("limited.json").read_text())["memory"]
            self.assertLessEqual(planned["peak"] + planned["unplanned"], limit)
            self.assertGreater(planned["disk"], 40 << 20)
            self.assertEqual({line["peak_bytes"] for line in harness.metrics("limited.jsonl")}, {planned["peak"]})
            self.assert_same_folder(f"plain-{ranks}/step-00000002", f"limited-{ranks}/step-00000002")

    def test_a_killed_run_leaves_nothing_behind(self):
        Path("disk").mkdir()
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                self.plan("off", f"--ranks={ranks}", *GROUPS)
                whole, run = f"whole-{ranks}", Path(f"run-{ranks}")
                self.train("off", whole, ranks)
                self.train("off", run, ranks, steps=2)
                before = contents(run / "step-00000002")
                killed = self.start(run, ranks)
                killed.kill()
                killed.wait()
                self.assertEqual(os.listdir("disk"), [])
                self.assertEqual(contents(run / "step-00000002"), before)
                self.assertEqual([path.name for path in run.iterdir()], ["step-00000002"])
                self.train("off", run, ranks)
                self.assert_same_folder(f"{whole}/step-00000004", run / "step-00000004")

    def start(self, run, ranks, *options, stderr=subprocess.DEVNULL):
        """A run of off.plan without an end, after a few steps."""
        metrics = Path(f"{run}.metrics")
        metrics.unlink(missing_ok=True)
        started = subprocess.Popen([harness.TRAINRUN, "off.plan", f"--nproc-per-node={ranks}", "--threads=1", "--data", "tokens.bin", "--steps=1000000",
                                    f"--checkpoint-dir={run}", "--resume=auto", "--offload-dir=disk", f"--metrics={metrics}", *options],
                                   stderr=stderr, text=True)
        self.addCleanup(started.kill)
        while started.poll() is None and not (metrics.exists() and metrics.read_text().count('"step":') > 3):
            time.sleep(0.01)
        self.assertIsNone(started.poll())
        return started

    def test_a_file_that_is_cut_ends_the_run(self):
        """Stores after the new end would fill the truncated part with zeros, which fetches would take for moments."""
        Path("disk").mkdir()
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                self.plan("off", f"--ranks={ranks}", *GROUPS)
                run = Path(f"cut-{ranks}")
                self.train("off", run, ranks, steps=2)
                before = contents(run / "step-00000002")
                started = self.start(run, ranks, stderr=subprocess.PIPE)
                (file, *_) = files = [path for path in self.open_files(started.pid) if self.is_on_disk(path)]
                self.assertEqual(len(files), ranks)
                os.truncate(file, 4096)
                _, error = started.communicate(timeout=60)
                self.assertEqual(started.returncode, 1, error)
                self.assertRegex(error, r"error: .*cannot (read|write) \d+ bytes of arena 'disk' on disk: (its file was cut: it has \d+ bytes, \d+ were expected|the file ends before)")
                self.assertEqual(contents(run / "step-00000002"), before)
                self.assertEqual([path.name for path in run.iterdir()], ["step-00000002"])

    def open_files(self, process):
        """Open files of a process and its children, as paths."""
        children = [int(child) for task in Path(f"/proc/{process}/task").iterdir() for child in (task / "children").read_text().split()]
        return [path for each in (process, *children) for path in Path(f"/proc/{each}/fd").iterdir()]

    def is_on_disk(self, path):
        """Whether an open file is one without a name in the folder `disk`."""
        try:
            return os.readlink(path).startswith(str(Path("disk").resolve() / "#"))
        except FileNotFoundError:  # it was closed meanwhile
            return False

    def test_a_run_that_is_killed_beside_checkpoints_goes_on(self):
        """A killed process leaves an incomplete checkpoint, which the next run removes."""
        Path("disk").mkdir()
        self.plan("off", "--ranks=2", *GROUPS)
        for part in range(3):
            killed = self.start("run", 2, "--checkpoint-every=1")
            time.sleep(0.013 * part)  # at another place of a step
            killed.kill()
            killed.wait()
            self.assertEqual(os.listdir("disk"), [])
        steps = max(int(path.name.removeprefix("step-")) for path in Path("run").iterdir() if path.name.startswith("step-")) + 1
        self.train("off", "run", 2, steps=steps)
        self.train("off", "whole", 2, steps=steps)
        self.assert_same_folder(f"whole/step-{steps:08}", f"run/step-{steps:08}")
        self.assertEqual([path.name for path in Path("run").iterdir() if not path.name.startswith("step-")], [])

    def test_with_evaluation_and_generation(self):
        """Parameters are fetched from the disk by each program of a plan."""
        small_gpt.write_tokens("eval.bin", 8, seed=2)
        self.text = small_gpt.text()
        found = []
        for name, *options in (("plain",), ("off", "--offload=optimizer,gradients,parameters", SMALL)):
            self.plan(name, *options)
            self.trainrun(f"{name}.plan", "--data=tokens.bin", "--eval-data=eval.bin", "--steps=2", f"--checkpoint-dir={name}", f"--metrics={name}.jsonl")
            text, _ = self.trainrun(f"{name}.plan", f"--resume={name}", "--tokenizer=bytes", "--generate=!X+", "--max-tokens=16", "--temperature=0")
            found.append((text, [line.get("eval_loss", line.get("loss")) for line in harness.metrics(f"{name}.jsonl")]))
        self.assertEqual(*found)
        self.assertEqual(len(found[0][1]), 3)  # of two steps and of the evaluation

    def test_with_hybrid_shard_and_reproducible_ranks(self):
        self.check(4, "--zero-stage=3", "--hybrid-shard=2", states="optimizer,parameters", share=1 / 4)
        self.check(2, "--zero-stage=3", "--reproducible=ranks", share=1 / 4)

    def test_every_seeded_fault_is_refused(self):
        self.plan("off", "--ranks=2", "--zero-stage=1", "--offload=optimizer,activations", SMALL)
        out, _ = self.run_program(harness.MUTATE_PLAN, "off.plan", 40, timeout=300)
        for kind in ["swap", "overlap", "drop", "lengthen", "stream", "copy", "reorder"]:
            self.assertRegex(out, rf"{kind}: ([1-9]\d*) of \1 refused")


@unittest.skipIf(os.environ.get("TRAINC_SANITIZE"), "sanitizers want to be loaded before other libraries")
class FailingDiskTest(RunTest):
    """Faults in a run of two steps, which has some hundreds of transfers."""

    def setUp(self):
        super().setUp()
        self.plan("off", *GROUPS)

    def fault_environment(self, faults):
        library = os.environ.get("DISK_FAULTS_LIBRARY", str(harness.BIN.parent / "test/end_to_end/libdisk_faults.so"))
        return {"LD_PRELOAD": library, "DISK_FAULTS": faults}

    def with_faults(self, faults, *more, folder="run", data="tokens.bin"):
        command = [harness.TRAINRUN, "off.plan", "--threads=1", "--data", data, "--steps=2", f"--checkpoint-dir={folder}", "--checkpoint-every=1",
                   "--resume=auto", *more]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **self.fault_environment(faults)})

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
        self.check_faults("--offload=optimizer,activations")

    def test_a_fault_at_every_transfer_of_all_states(self):
        self.check_faults("--offload=optimizer,gradients,parameters", "--accumulate=2")

    def check_faults(self, *options):
        """Fails transfers of a load, a step and a checkpoint in turn, until there is no further one: `test/run.sh matrix` each, other runs each
        thirteenth."""
        stride = 1 if harness.ALL_COMBINATIONS else 13
        self.plan("off", *options, "--offload-group=1MiB")
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
            for number in itertools.count(1, stride):
                done = run(f"{kind} {number}")
                if done.returncode == 0:
                    break
                self.assertEqual(done.returncode, 1, (kind, number, done.stderr))
                self.assertRegex(done.stderr, rf"error: .*cannot (read|write) \d+ bytes of arena 'disk(_scratch)?' on disk: {text}\n$")
            self.assertGreater(number, 20)
        for kind, other in itertools.product(("short", "slow"), range(1, number, stride)):
            self.assertEqual(run(f"{kind} {other}").returncode, 0, (kind, other))

    def test_a_failed_fetch_after_the_last_step_loses_no_checkpoint(self):
        """An evaluation fetches parameters while the checkpoint of the previous step is written."""
        self.plan("off", "--offload=optimizer,parameters", SMALL)
        command = [harness.TRAINRUN, "off.plan", "--threads=1", "--data", "tokens.bin", "--steps=1", "--eval-data", "tokens.bin"]

        def run(folder, faults):
            return subprocess.run([*command, f"--checkpoint-dir={folder}"], capture_output=True, text=True, timeout=120, env={**os.environ, **self.fault_environment(faults)})

        self.assertEqual(run("whole", "").returncode, 0)
        failed = 0
        for number in itertools.count(1, 7):
            done = run(f"run-{number}", f"error {number}")
            if done.returncode == 0:
                break
            if "error: after step 1: entry eval" in done.stderr:
                self.assert_same_folder("whole/step-00000001", f"run-{number}/step-00000001")
                failed += 1
        self.assertGreater(failed, 2)

    def test_a_slow_store_holds_up_what_needs_its_memory(self):
        """Whichever transfer of three steps is delayed, the bits are the same. The second and the third step begin concurrently with stores of the
        previous one."""
        self.plan("off", "--offload=optimizer", "--offload-group=1MiB")
        run = [harness.TRAINRUN, "off.plan", "--threads=1", "--data", "tokens.bin", "--steps=3"]

        def weights(folder, faults):
            done = subprocess.run([*run, f"--checkpoint-dir={folder}"], capture_output=True, text=True, timeout=120, env={**os.environ, **self.fault_environment(faults)})
            self.assertEqual(done.returncode, 0, done.stderr)
            return (Path(folder) / "step-00000003" / "model.safetensors").read_bytes()

        whole = weights("whole", "")
        for number in range(1, 120, 3):
            self.assertEqual(weights(f"slow-{number}", f"slow {number}"), whole, number)

    def test_the_last_store_of_a_run_counts(self):
        """Nothing reads the stored bytes, because there is no checkpoint. The run fails all the same."""
        self.plan("off", "--offload=optimizer", "--offload-group=1MiB")
        run = [harness.TRAINRUN, "off.plan", "--threads=1", "--data", "tokens.bin", "--steps=1"]
        for number in itertools.count(1):
            done = subprocess.run(run, capture_output=True, text=True, timeout=120, env={**os.environ, **self.fault_environment(f"error {number}")})
            if done.returncode == 0:
                break
            self.assertRegex(done.stderr, r"error: .*cannot (read|write) \d+ bytes of arena 'disk' on disk: Input/output error\n$")
            last = done.stderr
        self.assertRegex(last, r"error: after step 1: entry micro_step, instruction \d+ \(train.set at .*\): cannot write ")

    def test_faults_of_pieces_that_io_uring_moves_side_by_side(self):
        """Each moment of a matrix takes 6.25 MiB, which are two pieces."""
        write_wide_data("data.safetensors")
        self.text = WIDE.replace("1024", "1280").replace("times 12", "times 2")
        self.plan("off", "--offload=optimizer", "--offload-group=32MiB")
        self.assertEqual(self.with_faults("", data="data.safetensors", folder="whole").returncode, 0)
        for number, faults in enumerate(("short 0", "slow 7")):
            done = self.with_faults(faults, data="data.safetensors", folder=f"run-{number}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_same_folder("whole/step-00000002", f"run-{number}/step-00000002")
        # All fall into the first step. Beside the second one the first checkpoint is copied, so there numbers say less.
        for faults, text in (("error 3", "Input/output error"), ("error 22", "Input/output error"), ("full 16", "No space left on device"),
                             ("refuse 1", "No such device or address"), ("refuse 4", "No such device or address")):
            done = self.with_faults(faults, data="data.safetensors", folder=f"failed {faults}")
            self.assertEqual(done.returncode, 1, (faults, done.stderr))
            self.assertRegex(done.stderr, rf"error: .*cannot (read|write) \d+ bytes of arena 'disk' on disk: {text}")

    def run_two_ranks(self, faulty, faults, *options):
        """Return codes and errors of both ranks, of which one has a faulty disk."""
        command = [harness.TRAINRUN, "off.plan", "--threads=1", "--data", "tokens.bin", "--steps=3", "--checkpoint-dir=run", "--resume=auto", *options]
        ranks = [subprocess.Popen(command, env={**os.environ, **harness.rank_variables(rank, 2), **(self.fault_environment(faults) if rank == faulty else {})},
                                  text=True, stderr=subprocess.PIPE) for rank in (0, 1)]
        errors = [rank.communicate(timeout=60)[1] for rank in ranks]
        return [rank.returncode for rank in ranks], errors

    def test_a_fault_of_one_of_two_ranks(self):
        self.plan("off", "--ranks=2", "--zero-stage=1", *GROUPS)
        self.train("off", "run", 2, steps=1)
        before = contents("run/step-00000001")
        for kind, text in (("error", "Input/output error"), ("full", "No space left on device")):
            codes, errors = self.run_two_ranks(1, f"{kind} 30")
            self.assertEqual(codes, [1, 1], errors)
            self.assertRegex(errors[1], rf"error: .*cannot (read|write) \d+ bytes of arena 'disk' on disk: {text}")
            self.assertIn("rank 1", errors[0])
            self.assertEqual(contents("run/step-00000001"), before)
            self.assertEqual(os.listdir("run"), ["step-00000001"])

    def test_a_fault_beside_a_checkpoint_of_two_ranks(self):
        """The failing rank has a checkpoint in flight, which needs the other rank, while that rank waits for the next step's collectives."""
        self.plan("off", "--ranks=2", "--zero-stage=2", "--offload=optimizer", "--offload-group=1MiB")
        self.train("off", "run", 2, steps=1)
        before = contents("run/step-00000001")
        for faulty in (0, 1):
            for number in itertools.count(1):
                codes, errors = self.run_two_ranks(faulty, f"error {number}", "--checkpoint-every=1")
                self.assertEqual(contents("run/step-00000001"), before)
                self.assertLessEqual(set(os.listdir("run")), {"step-00000001", "step-00000002", "step-00000003"})
                for step in ("step-00000002", "step-00000003"):
                    shutil.rmtree(f"run/{step}", ignore_errors=True)
                if codes == [0, 0]:
                    break
                self.assertEqual(codes, [1, 1], errors)
                self.assertRegex(errors[faulty], r"error: .*cannot (read|write) \d+ bytes of arena 'disk' on disk: Input/output error")
            self.assertGreater(number, 20)

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
        self.fails([harness.TRAINRUN, "off.plan", "--nproc-per-node=2", "--data", "tokens.bin", "--steps=1"], 2,
                   re.compile(r"cannot make arena 'disk' of \d+ bytes in nowhere: No such file or directory; set TMPDIR to another folder"),
                   env={**os.environ, "TMPDIR": "nowhere"})


if __name__ == "__main__":
    harness.main()
