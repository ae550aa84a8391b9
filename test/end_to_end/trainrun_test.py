"""Every option and error of trainrun, with a plan made by hand (test/unit/runtime/training/toy_plan.cpp): a bigram model over
16 tokens, 8 samples of 8 tokens a step."""

import array
import json
import math
import os
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import harness
from harness import MAKE_TOY_PLAN, TRAINRUN, Tensor, write_safetensors


def write_tokens(path, samples, first=1):
    """A stream in which token t is followed by 3t + 1 modulo 16."""
    tokens = array.array("H", [first])
    for _ in range(8 * samples):
        tokens.append((3 * tokens[-1] + 1) % 16)
    Path(path).write_bytes(tokens.tobytes())


class TrainrunTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        subprocess.run([MAKE_TOY_PLAN, "toy.plan"], check=True)
        write_tokens("tokens.bin", 100)

    def start(self, *args, **kwargs):
        return subprocess.Popen([TRAINRUN, "toy.plan", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)

    def run_ok(self, *args, **kwargs):
        return self.trainrun("toy.plan", *args, **kwargs)

    def run_fails(self, code, expected, *args):
        self.fails([TRAINRUN, "toy.plan", *args], code, *([expected] if isinstance(expected, str) else expected))

    def train(self, steps, *args, **kwargs):
        return self.run_ok("--data", "tokens.bin", "--steps", steps, *args, **kwargs)

    def wait_for(self, pattern):
        """Until a file of that name has content."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if any(path.stat().st_size for path in Path(".").glob(pattern)):
                return
            time.sleep(0.001)
        self.fail(f"no file {pattern}")

    def wait_until_signals_are_caught(self, process):
        """That is when the process asks whether to stop; before, a signal ends it at once."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            caught = int(re.search(r"^SigCgt:\t(\w+)$", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)[1], 16)
            if caught >> (signal.SIGTERM - 1) & 1:
                return
            time.sleep(0.001)
        self.fail("SIGTERM is not caught")

    def metrics(self, path="m.jsonl"):
        return harness.metrics(path)

    def checkpoints(self, folder):
        return sorted(path.name for path in Path(folder).iterdir())


class Training(TrainrunTest):
    def test_loss_falls_and_metrics_are_complete(self):
        _, err = self.train(60, "--metrics", "m.jsonl", "--eval-data", "tokens.bin", "--eval-every", "25")
        lines = self.metrics()
        steps = [line for line in lines if "loss" in line]
        self.assertEqual([line["step"] for line in steps], list(range(1, 61)))
        self.assertGreater(steps[0]["loss"], 2)
        self.assertLess(steps[-1]["loss"], 1)
        keys = {"step", "loss", "lr", "grad_norm", "tokens", "step_seconds", "tokens_per_second", "peak_bytes", "mfu"}
        self.assertEqual(set(steps[1]), keys)
        self.assertEqual(set(steps[0]), keys | {"start_seconds"})
        self.assertLess(steps[0]["start_seconds"], 5)
        self.assertIsNone(steps[0]["mfu"])
        evaluations = [line for line in lines if "eval_loss" in line]
        self.assertEqual([line["step"] for line in evaluations], [25, 50, 60])
        self.assertAlmostEqual(evaluations[-1]["perplexity"], math.exp(evaluations[-1]["eval_loss"]))
        for text in ["256 parameters", "threads", "step 1/60", "tok/s", "ETA", "step 60/60"]:
            self.assertIn(text, err)

    def test_planned_bytes_are_those_of_the_dry_run(self):
        self.train(1, "--metrics", "m.jsonl")
        out, _ = self.run_ok("--device=null", "--data", "tokens.bin")
        self.assertIn(f"planned: {self.metrics()[0]['peak_bytes']} bytes", out)
        for text in ["entry micro_step", "input labels i32 [8, 8] of the whole step, below 16", "100 samples"]:
            self.assertIn(text, out)

    def test_progress_line_on_a_terminal(self):
        reader, writer = pty.openpty()
        process = subprocess.Popen([TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps", "30000"], stderr=writer)
        os.close(writer)
        text = b""
        try:
            while chunk := os.read(reader, 4096):
                text += chunk
        except OSError:  # Linux reports the end of a pseudo-terminal as an error
            pass
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"\r\x1b[Kstep ", text)
        self.assertIn(b"ETA", text)
        self.assertIn(b"step 30000/30000", text)

    def test_log_level(self):
        self.assertEqual(self.train(2, "--log-level", "warning"), ("", ""))

    def test_options_of_ranks_do_nothing_on_one(self):
        options = ["--comm=local", "--comm-timeout=3", "--log-level-replica=info", "--log-on-each-node"]
        _, err = self.train(2, "--log-level", "warning", *options)
        self.assertEqual(err.splitlines(), [f"warning: {option.split('=')[0]} does nothing: the plan is for one rank" for option in options])

    def test_not_finite(self):
        write_safetensors("nan.safetensors", {"wte.weight": Tensor("F32", [16, 16], [math.nan] * 256)})
        _, err = self.train(5, "--init", "nan.safetensors", "--metrics", "m.jsonl", code=1)
        for text in ["step 1: the loss is nan", "update was not applied", "nn.cross_entropy", "micro_step"]:
            self.assertIn(text, err)
        self.assertEqual(len(self.metrics()), 1)
        self.assertIsNone(self.metrics()[0]["loss"])
        _, err = self.train(5, "--init", "nan.safetensors", "--on-nonfinite=skip")
        self.assertIn("warning: step 5: the loss is nan", err)
        write_safetensors("nan.safetensors", {"wte.weight": Tensor("F32", [16, 16], [-math.nan] * 256)})
        self.assertNotIn("-nan", self.train(5, "--init", "nan.safetensors", code=1)[1])

    def test_data_errors(self):
        self.run_fails(2, "no such file", "--data", "none.bin", "--steps", "1")
        Path("empty.bin").write_bytes(b"")
        self.run_fails(2, "empty.bin", "--data", "empty.bin", "--steps", "1")
        data = bytearray(Path("tokens.bin").read_bytes())
        data[400] = 16
        Path("tokens.bin").write_bytes(data)
        _, err = self.train(40, code=2)
        for text in ["tokens.bin", "400", "16"]:
            self.assertIn(text, err)


class Checkpoints(TrainrunTest):
    def test_resume_after_kill_gives_the_same_bytes(self):
        steps = 40000
        arguments = ["--checkpoint-every", "2000", "--keep-last", "3", "--seed", "7"]
        self.train(steps, "--checkpoint-dir", "whole", "--metrics", "whole.jsonl", *arguments)
        process = self.start("--data", "tokens.bin", "--steps", str(steps), "--checkpoint-dir", "killed", "--metrics",
                             "killed.jsonl", *arguments)
        self.wait_for("killed/step-*/trainer_state.json")
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL, "finished before it was killed")
        resumed = int(max(Path("killed").glob("step-*")).name[5:])
        self.assertGreater(steps, resumed)
        _, err = self.train(steps, "--checkpoint-dir", "killed", "--metrics", "killed.jsonl", "--resume", "--threads",
                            "1", "--checkpoint-every", "2000", "--keep-last", "3")
        self.assertIn(f"step {resumed + 1}/", err)
        self.assertEqual(self.checkpoints("killed"), ["step-00036000", "step-00038000", "step-00040000"])
        self.assert_same_folder(f"whole/step-{steps:08}", f"killed/step-{steps:08}")
        whole, killed = self.metrics("whole.jsonl"), self.metrics("killed.jsonl")
        self.assertEqual([line["step"] for line in killed], list(range(1, steps + 1)))
        self.assertEqual([line["loss"] for line in whole], [line["loss"] for line in killed])

    def test_signal_ends_with_a_checkpoint(self):
        process = self.start("--data", "tokens.bin", "--steps", "100000000", "--checkpoint-dir", "ck", "--metrics", "m.jsonl")
        self.wait_for("m.jsonl")
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("stopped by SIGTERM after step", err)
        step = self.metrics()[-1]["step"]
        self.assertEqual(self.checkpoints("ck"), [f"step-{step:08}"])
        self.train(step + 5, "--checkpoint-dir", "ck", "--resume")

    def test_a_run_does_not_overwrite_another(self):
        self.train(3, "--checkpoint-dir", "ck")
        _, err = self.train(3, "--checkpoint-dir", "ck", code=2)
        self.assertIn("holds checkpoints of another run already (up to step-00000003)", err)
        self.train(6, "--checkpoint-dir", "other", "--checkpoint-every", "3", "--seed", "9")
        before = self.checkpoints("other")
        _, err = self.train(9, "--checkpoint-dir", "other", "--resume=ck", "--keep-last", "1", code=2)
        self.assertIn("other: holds checkpoints of another run already (up to step-00000006); use another folder", err)
        _, err = self.train(9, "--checkpoint-dir", "other", "--resume=other/step-00000003", code=2)
        self.assertIn("other: holds checkpoints later than step-00000003, which --resume names", err)
        self.assertEqual(self.checkpoints("other"), before)
        self.train(9, "--checkpoint-dir", "new", "--resume=other/step-00000003")
        process = self.start("--data", "tokens.bin", "--steps", "100000000", "--checkpoint-dir", "ck", "--resume",
                             "--metrics", "m.jsonl")
        self.wait_for("m.jsonl")
        _, err = self.train(9, "--checkpoint-dir", "ck", "--resume", code=2)
        self.assertIn("another trainrun writes checkpoints there", err)
        process.kill()
        process.communicate()

    def test_what_only_looks_like_a_checkpoint(self):
        self.train(4, "--checkpoint-dir", "ck", "--checkpoint-every", "2")
        Path("ck/step-5").touch()
        for name in ["step-7", "step-abc", "step-99999999999999999999"]:
            Path("ck", name).mkdir()
        _, err = self.train(8, "--checkpoint-dir", "ck", "--resume", "--checkpoint-every", "1", "--keep-last", "1")
        self.assertEqual(err.count("warning: ck: passed over and left alone"), 1, err)
        self.assertIn(": step-5, step-7, step-99999999999999999999, step-abc\n", err)
        self.assertEqual(self.checkpoints("ck"), ["step-00000008", "step-5", "step-7", "step-99999999999999999999", "step-abc"])
        Path("ck/step-00000009").mkdir()
        for form in ["--resume=latest", "--resume=auto", "--resume=ck"]:
            _, err = self.train(10, "--checkpoint-dir", "ck", form, code=2)
            self.assertIn("error: ck/step-00000009: expected a checkpoint, found no trainer_state.json in it; move it away", err)
        Path("ck/step-00000009").rmdir()
        Path("ck/step-00000009").write_text("mine")
        _, err = self.train(10, "--checkpoint-dir", "ck", "--resume=ck/step-00000008", code=2)
        self.assertIn("error: ck/step-00000009: expected a checkpoint, found no trainer_state.json", err)
        self.assertEqual(Path("ck/step-00000009").read_text(), "mine")

    def test_exports_and_position(self):
        self.train(10, "--checkpoint-dir", "ck", "--seed", "3")
        state = json.loads(Path("ck/step-00000010/trainer_state.json").read_text())
        self.assertEqual((state["step"], state["seed"], state["samples"], state["tokens"]), (10, 3, 80, 640))
        self.assertEqual(json.loads(Path("ck/step-00000010/config.json").read_text()), {"model_type": "toy"})

    def test_damage_is_named(self):
        self.train(10, "--checkpoint-dir", "ck")
        path = Path("ck/step-00000010/model.safetensors")
        good = path.read_bytes()
        path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        resume = ["--data", "tokens.bin", "--steps", "20", "--resume", "--checkpoint-dir", "ck"]
        self.run_fails(2, ["model.safetensors", "tensor 'wte.weight' does not have the checksum"], *resume)
        self.run_fails(2, ["byte", "tensor 'wte.weight' does not have the checksum that the checkpoint records"], "--data",
                       "tokens.bin", "--steps", "1", "--init", "ck/step-00000010")
        init = ["--data", "tokens.bin", "--steps", "1", "--init", "ck/step-00000010"]
        path.write_bytes(good.replace(b'"F32"', b'"I32"', 1))
        length = int.from_bytes(good[:8], "little")
        longer = (length + 8).to_bytes(8, "little") + good[8:8 + length] + b" " * 8 + good[8 + length:]
        for command in (resume, init):
            self.run_fails(2, ["model.safetensors: header: expected checksum", "the checkpoint is damaged"], *command)
        for size, bad in ((len(good) - 10, good[:-10]), (len(longer), longer)):
            path.write_bytes(bad)
            for command in (resume, init):
                self.run_fails(2, f"expected {len(good)} bytes, found {size}", *command)
        path.write_bytes(good)
        state = Path("ck/step-00000010/trainer_state.json")
        state.write_text(state.read_text().replace('"step": 10', '"step": 11'))
        self.run_fails(2, ["trainer_state.json", "checksum mismatch"], *resume)

    def test_folder_that_cannot_be_written(self):
        Path("file").write_text("")
        _, err = self.train(3, "--checkpoint-dir", "file/ck", code=2)
        self.assertIn("--checkpoint-dir=file/ck: cannot create the folder", err)

    def test_full_disk(self):
        self.train(10, "--checkpoint-dir", "ck")

        process = self.start("--data", "tokens.bin", "--steps", "100000000", "--checkpoint-dir", "ck", "--resume",
                             "--metrics", "m.jsonl")
        self.wait_for("m.jsonl")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(err, r"the checkpoint of step \d+ was not written \(the last one is that of step 10\)")
        self.assertIn("model.safetensors: cannot write", err)
        self.assertEqual(self.checkpoints("ck"), ["step-00000010"])
        self.train(20, "--checkpoint-dir", "ck", "--resume")

    def test_file_order_is_kept_over_a_resumption(self):
        Path("tokens.bin").write_bytes(array.array("H", random.Random(4).choices(range(16), k=801)).tobytes())
        self.train(20, "--checkpoint-dir", "whole", "--no-shuffle")
        self.train(10, "--checkpoint-dir", "half", "--no-shuffle")
        self.train(20, "--checkpoint-dir", "half", "--resume")
        self.assert_same_folder("whole/step-00000020", "half/step-00000020")
        self.train(20, "--checkpoint-dir", "shuffled")
        whole, shuffled = (harness.read_safetensors(f"{run}/step-00000020/model.safetensors") for run in ["whole", "shuffled"])
        self.assertNotEqual(whole["wte.weight"].values[:4], shuffled["wte.weight"].values[:4])
        _, err = self.train(30, "--checkpoint-dir", "shuffled", "--resume", "--no-shuffle", code=2)
        self.assertIn("--no-shuffle contradicts --resume", err)

    def test_resume_forms(self):
        self.train(4, "--checkpoint-dir", "ck", "--checkpoint-every", "2")
        for form, step in [("--resume=ck/step-00000002", 3), ("--resume=ck", 5), ("--resume=ck/step-00000004", 5)]:
            _, err = self.train(6, form)
            self.assertIn(f"step {step}/6", err)
        _, err = self.train(6, "--resume=auto", "--checkpoint-dir", "new")
        self.assertIn("step 1/6", err)
        _, err = self.train(8, "--resume=auto", "--checkpoint-dir", "new")
        self.assertIn("step 7/8", err)
        _, err = self.train(8, "--resume", "--checkpoint-dir", "new")
        self.assertIn("the training is complete: step 8 of 8 is done; give a larger --steps to go on", err)
        self.assertNotIn("steps 9 to 8", err)
        for steps in [8, 5]:
            _, err = self.train(steps, "--resume=new", "--eval-data", "tokens.bin", "--metrics", "eval.jsonl", "--tokenizer=bytes",
                                "--generate=\x01", "--max-tokens", "1")
            self.assertIn(f"the training is complete: step 8 of {steps} is done", err)
            self.assertIn("step 8: evaluation loss", err)
            self.assertEqual(self.metrics("eval.jsonl")[-1]["step"], 8)
        self.assertIn("no checkpoint", self.train(8, "--resume", "--checkpoint-dir", "none", code=2)[1])
        self.assertIn("--seed=9 contradicts --resume", self.train(8, "--resume=ck", "--seed", "9", code=2)[1])
        self.assertIn("--allow-changes needs --resume", self.train(8, "--allow-changes", code=2)[1])

    def write_data(self, name, seed, count=401):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(array.array("H", random.Random(seed).choices(range(16), k=count)).tobytes())

    def resume_with(self, *data, code=0):
        return self.run_program(TRAINRUN, "toy.plan", "--data", *data, "--steps", "20", "--resume=ck", "--checkpoint-dir",
                                f"to-{len(list(Path('.').iterdir()))}", code=code)[1]

    def test_a_run_goes_on_with_its_data_alone(self):
        self.write_data("data/1.bin", 1)
        self.write_data("data/2.bin", 2)
        self.run_program(TRAINRUN, "toy.plan", "--data", "data/1.bin", "data/2.bin", "--steps", "10", "--checkpoint-dir", "ck")
        self.resume_with("data/1.bin", "data/2.bin")
        Path("data").rename("elsewhere")
        Path("elsewhere/1.bin").rename("elsewhere/0.bin")
        self.resume_with("elsewhere/*.bin")
        refused = "error: --data is not what the checkpoint was trained on: "
        allowed = "; give that data, or add --allow-changes to go on otherwise on purpose"
        self.write_data("other/1.bin", 1)
        self.write_data("other/2.bin", 3)
        changed = f"{refused}other/2.bin holds something else, or the files are in another order{allowed}"
        self.assertIn(changed, self.resume_with("other/1.bin", "other/2.bin", code=2))
        self.assertIn("elsewhere/2.bin holds something else, or", self.resume_with("elsewhere/2.bin", "elsewhere/0.bin", code=2))
        self.write_data("one/1.bin", 1, 801)
        self.assertIn(f"{refused}expected 2 files, found 1{allowed}", self.resume_with("one/1.bin", code=2))
        self.assertIn("expected 100 samples, found 50", self.resume_with("elsewhere/0.bin", code=2))
        self.assertIn("warning: the checkpoint was trained on other data",
                      self.resume_with("other/1.bin", "other/2.bin", "--allow-changes"))
        self.resume_with("elsewhere/*.bin", "--seed=9", "--no-shuffle", "--allow-changes")

    def test_changes_on_purpose_count_from_then_on(self):
        self.write_data("1.bin", 1)
        self.write_data("2.bin", 2)
        self.train_on("1.bin", 10, "--checkpoint-dir", "ck")
        self.train_on("2.bin", 20, "--checkpoint-dir", "ck", "--resume", "--allow-changes", "--seed=9")
        state = json.loads(Path("ck/step-00000020/trainer_state.json").read_text())
        self.assertEqual(state["seed"], 9)
        self.train_on("2.bin", 30, "--checkpoint-dir", "ck", "--resume", "--seed=9")

    def train_on(self, data, steps, *more):
        self.run_program(TRAINRUN, "toy.plan", "--data", data, "--steps", str(steps), *more)


class Weights(TrainrunTest):
    def test_init_by_name(self):
        ideal = [50.0 if column == (3 * row + 1) % 16 else 0.0 for row in range(16) for column in range(16)]
        tied = {"transformer.wte.weight": Tensor("F32", [16, 16], ideal), "lm_head.weight": Tensor("F32", [16, 16], ideal),
                "transformer.h.0.attn.bias": Tensor("F32", [1], [1.0])}
        write_safetensors("w.safetensors", tied)
        _, err = self.run_ok("--init", "w.safetensors", "--eval-data", "tokens.bin", "--metrics", "m.jsonl")
        self.assertIn("evaluation loss 0.0000", err)
        self.assertLess(self.metrics()[0]["eval_loss"], 1e-6)

    def test_a_signal_ends_an_evaluation(self):
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 16], [0.0] * 256)})
        write_tokens("many.bin", 500000)
        process = self.start("--init", "w.safetensors", "--eval-data", *["many.bin"] * 50)
        self.wait_until_signals_are_caught(process)
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("error: stopped by SIGTERM before the evaluation was done", err)

    def test_init_mismatch(self):
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 2], [0.0] * 32), "wpe.weight": Tensor("F32", [1], [0.0])})
        self.run_fails(2, ["wte.weight: F32 [16, 2] in the file, F32 [16, 16] in the plan", "only in the file (1)",
                           "wpe.weight"], "--data", "tokens.bin", "--steps", "1", "--init", "w.safetensors")


class Generation(TrainrunTest):
    def setUp(self):
        super().setUp()
        ideal = [9.0 if column == (3 * row + 1) % 16 else 0.0 for row in range(16) for column in range(16)]
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 16], ideal)})
        self.weights = ["--init", "w.safetensors", "--tokenizer=bytes"]

    def test_a_prompt_begins_as_the_tokenizers_file_says(self):
        vocabulary = {letter: id for id, letter in enumerate("abcdefghijklmno")} | {"<s>": 15}
        begins = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
                  "special_tokens": {"<s>": {"id": "<s>", "ids": [15], "tokens": ["<s>"]}}}
        tokenizer = {"model": {"type": "BPE", "vocab": vocabulary, "merges": [], "unk_token": "a"}, "decoder": {"type": "Fuse"}, "post_processor": begins}
        Path("tokenizer.json").write_text(json.dumps(tokenizer))
        generate = ["--init", "w.safetensors", "--tokenizer=tokenizer.json", "--max-tokens", "1"]
        out, _ = self.run_ok(*generate, "--generate=" + "a" * 7)
        self.assertTrue(out.startswith("a" * 7), out)
        self.run_fails(2, "the prompt has 9 tokens, the plan's context holds 8", *generate, "--generate=" + "a" * 8)

    def test_greedy_beyond_the_context(self):
        out, _ = self.run_ok(*self.weights, "--generate=\x01", "--temperature", "0", "--max-tokens", "24")
        expected = [1]
        for _ in range(24):
            expected.append((3 * expected[-1] + 1) % 16)
        self.assertEqual(out.encode(), bytes(expected) + b"\n")

    def test_seed_decides(self):
        def sample(seed):
            return self.run_ok(*self.weights, "--generate=\x01", "--temperature", "5", "--seed", seed)[0]

        self.assertEqual(sample("1"), sample("1"))
        self.assertNotEqual(sample("1"), sample("2"))

    def test_a_signal_ends_the_text(self):
        process = self.start(*self.weights, "--generate=\x01", "--max-tokens", "1000000000")
        self.assertTrue(process.stdout.read(100))
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("error: stopped by SIGINT before the text was done", err)

    def test_after_training_and_from_a_checkpoint(self):
        sidecar = {"tokenizer": "bytes", "vocabulary": 256, "dtype": "uint16", "tokens": 801, "tokenizer_xxh3": "0"}
        Path("tokens.bin.json").write_text(json.dumps(sidecar))
        out, _ = self.train(60, "--generate=\x01", "--temperature", "0", "--max-tokens", "3", "--checkpoint-dir", "ck")
        self.assertEqual(out, "\x01\x04\x0d\x08\n")
        again, _ = self.run_ok("--resume=ck", "--generate=\x01", "--temperature", "0", "--max-tokens", "3")
        self.assertEqual(again, out)
        # Data without the JSON: the tokenizer is still known later.
        Path("tokens.bin").rename("bare.bin")
        self.run_ok("--data", "bare.bin", "--steps", "70", "--resume", "--checkpoint-dir", "ck")
        self.run_ok("--resume=ck", "--generate=\x01", "--max-tokens", "3")

    def test_a_tokenizer_that_changed_is_noticed(self):
        def write_sidecar(path, **fields):
            text = {"tokenizer": "bytes", "vocabulary": 256, "dtype": "uint16", "tokens": 801, "tokenizer_xxh3": "0", **fields}
            Path(path).write_text(json.dumps(text))

        generate = ["--generate=\x01", "--max-tokens", "3"]
        write_sidecar("tokens.bin.json", tokenizer_xxh3="12")
        changed = ["the JSON beside --data: the tokenizer 'bytes' has changed since (XXH3 0000000000000000, then 0000000000000012)"]
        train = ["--data", "tokens.bin", "--steps", "5", "--checkpoint-dir", "ck"]
        self.run_fails(2, changed, *train, *generate)
        self.assertFalse(Path("ck").exists(), "trained before it looked at the tokenizer")
        self.run_ok(*train)
        self.run_fails(2, "the checkpoint: the tokenizer 'bytes' has changed", "--resume=ck", *generate)
        write_sidecar("tokens.bin.json", tokenizer="none/tokenizer.json")
        self.run_fails(2, ["names the tokenizer 'none/tokenizer.json', which cannot be opened; give --tokenizer"], "--resume=ck",
                       "--data", "tokens.bin", *generate)
        _, err = self.train(6, "--resume=ck")
        self.assertIn("warning: the checkpoint was trained on tokens of the tokenizer 'bytes', this data was made with "
                      "'none/tokenizer.json'", err)
        shutil.copy("tokens.bin", "more.bin")
        write_sidecar("more.bin.json", tokenizer_xxh3="34")
        self.run_fails(2, "--data: more.bin was made with the tokenizer 'bytes', tokens.bin with 'none/tokenizer.json'",
                       "--data", "*.bin", "--steps", "1")

    def test_errors(self):
        self.run_fails(2, "the prompt has 9 tokens, the plan's context holds 8", *self.weights, "--generate=" + "\x01" * 9)
        self.run_fails(2, "token 0 of the prompt is 97, beyond the model's vocabulary of 16", *self.weights, "--generate=a")
        self.run_fails(2, "--generate= has no value; is a variable empty?", *self.weights, "--generate=")
        self.run_fails(2, "--generate needs a tokenizer", "--init", "w.safetensors", "--generate=a")
        # Before the training, not after it.
        self.run_fails(2, "beyond the model's vocabulary", "--data", "tokens.bin", "--steps", "1", "--checkpoint-dir", "ck",
                       "--tokenizer=bytes", "--generate=a")
        self.assertFalse(Path("ck").exists())


class CommandLine(TrainrunTest):
    def test_help_and_version(self):
        out, err = self.run_ok("--help")
        self.assertEqual(err, "")
        for text in ["Examples:", "--checkpoint-dir", "Exit codes: 0 done, 1 the run failed, 2 bad usage or input"]:
            self.assertIn(text, out)
        self.assertRegex(self.run_ok("--version")[0], r"^trainrun \d+\.\d+\.\d+\n$")

    def test_bad_usage(self):
        data = ["--data", "tokens.bin"]
        for expected, arguments in [
            ("nothing to do", []),
            ("how long to train? Give --steps", data),
            ("--steps needs --data", ["--steps", "3"]),
            ("--init and --resume contradict each other", [*data, "--steps", "3", "--init", "a", "--resume=b"]),
            ("--eval-every needs --eval-data", [*data, "--steps", "3", "--eval-every", "2"]),
            ("--checkpoint-every needs --checkpoint-dir", [*data, "--steps", "3", "--checkpoint-every", "2"]),
            ("--keep-last needs --checkpoint-dir", [*data, "--steps", "3", "--keep-last", "2"]),
            ("--no-shuffle needs training", ["--init", "a", "--eval-data", "b", "--no-shuffle"]),
            ("--top-k needs --generate", [*data, "--steps", "3", "--top-k", "2"]),
            ("--generate needs trained weights", ["--generate=a", "--tokenizer=bytes"]),
            ("--eval-data without --data needs trained weights", ["--eval-data", "tokens.bin"]),
            ("--device=null and --generate contradict each other", ["--device=null", "--generate=a"]),
            ("--nproc-per-node=2: the plan toy.plan is for 1 rank", [*data, "--steps", "3", "--nproc-per-node", "2"]),
            ("--resume=latest needs --checkpoint-dir", [*data, "--steps", "3", "--resume"]),
            ("--resume takes its value after '='", [*data, "--steps", "3", "--seed", "1", "--resume", "ck"]),
            ("expected a whole number from 0", [*data, "--steps", "-3"]),
            ("without leading zeros, found '010'", [*data, "--steps=010"]),
            ("found '1e3'; write 1000", [*data, "--steps=1e3"]),
            ("to 18446744073709551615", [*data, "--steps", "3", "--seed=18446744073709551616"]),
            ("expected a number from 0 to 1e+06, found 'nan'", ["--init", "a", "--generate=a", "--temperature=nan"]),
            ("expected a number from", [*data, "--steps", "3", "--peak-flops=nan"]),
            ("expected a whole number from 1 to 4096", [*data, "--steps", "3", "--threads", "0"]),
            ("--checkpoint-dir= has no value", [*data, "--checkpoint-dir=", "--steps=1"]),
            ("--checkpoint-dir needs training (add --steps) or --resume", [*data, "--checkpoint-dir", "ck", "--generate=a"]),
            ("--steps is given twice; give it once", [*data, "--steps", "1", "--steps=2"]),
            ("--comm", [*data, "--steps", "3", "--comm", "gloo"]),
            ("--metrics=none/m: there is no folder 'none'; create it, or name another", [*data, "--steps", "3", "--metrics", "none/m"]),
            ("--metrics=.: expected a file, found a folder", [*data, "--steps", "3", "--metrics", "."]),
            ("--resume is given twice; give it once", [*data, "--steps", "3", "--resume", "--resume=ck"]),
            ("--no-shuffle takes no value, or true or false; found 'maybe'", [*data, "--steps", "3", "--no-shuffle=maybe"]),
            ("expected nothing else, found more.plan\n", ["--device=null", "more.plan"]),
            ("--stepz is unknown; did you mean --steps?", [*data, "--stepz", "3"]),
        ]:
            with self.subTest(arguments=arguments):
                self.run_fails(2, [re.compile(r"\Aerror: |\nerror: "), expected], *arguments)

    def test_a_plan_after_a_list_of_files(self):
        self.fails([TRAINRUN, "--data", "tokens.bin", "toy.plan", "--steps", "1"], 2, "PLAN is required; --data and --eval-data take all that follows "
                   "them: put the plan first")

    def test_plans(self):
        good = Path("toy.plan").read_bytes()
        for content, expected in [(None, "toy.plan: cannot open"), (b"", "toy.plan"), (good[:-100], "toy.plan"),
                                  (good[:200] + bytes([good[200] ^ 1]) + good[201:], "toy.plan")]:
            with self.subTest(expected=expected):
                Path("toy.plan").unlink(missing_ok=True)
                if content is not None:
                    Path("toy.plan").write_bytes(content)
                self.run_fails(2, expected, "--data", "tokens.bin", "--steps", "3")


if __name__ == "__main__":
    harness.main()
