"""Checkpoints of trainrun, and resumed runs, with the plan of toy_run.py."""

import array
import json
import random
import resource
import signal
from pathlib import Path

import harness
from harness import TRAINRUN
from toy_run import TrainrunTest


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
        process = self.start("--data", "tokens.bin", "--steps", "100000000", "--checkpoint-dir", "ck", "--metrics", "m.jsonl", "-q")
        self.wait_for("m.jsonl")
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 0, err)
        step = self.metrics()[-1]["step"]
        self.assertEqual(err, f"warning: stopped by SIGTERM after step {step} of 100000000; add --resume to go on\n")
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

    def test_initial_weights_of_a_folder_are_those_of_its_latest(self):
        self.train(6, "--checkpoint-dir", "ck", "--checkpoint-every", "3")
        runs = []
        for init in ("ck", "ck/step-00000006"):
            _, err = self.train(2, "--init", init, "--metrics", "m.jsonl")
            self.assertIn("initial weights from ck/step-00000006/model.safetensors", err)
            runs.append([line["loss"] for line in self.metrics("m.jsonl")])
        self.assertEqual(*runs)

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
        self.run_fails(2, ["byte", "tensor 'wte.weight' does not have the checksum recorded in trainer_state.json; the checkpoint is damaged"], "--data",
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
        self.assertIn("nothing is left to train: step 8 is done, and the training ends with step 8; give --steps a number above 8 to go on", err)
        self.assertNotIn("steps 9 to 8", err)
        _, err = self.train(8, "--resume", "--checkpoint-dir", "new", "-q")
        self.assertEqual(err, "warning: nothing is left to train: step 8 is done, and the training ends with step 8; give --steps a number above 8 to go on\n")
        for steps in [8, 5]:
            _, err = self.train(steps, "--resume=new", "--eval-data", "tokens.bin", "--metrics", "eval.jsonl", "--tokenizer=bytes",
                                "--generate=\x01", "--max-tokens", "1")
            self.assertIn(f"nothing is left to train: step 8 is done, and the training ends with step {steps}; give --steps a number above 8", err)
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
        allowed = "; give that data, or add --allow-changes to continue with the change"
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


if __name__ == "__main__":
    harness.main()
