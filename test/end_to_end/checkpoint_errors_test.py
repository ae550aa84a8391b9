"""Checkpoints and weights that cannot be read or written. Exit code 2 for bad input, 1 for a run that failed."""

import json
import math
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import harness
from golden_runs import GoldenRunTest
from harness import GOLDEN, TRAINRUN, edited, program, read_safetensors, write_safetensors


class CheckpointErrors(GoldenRunTest):
    def test_weights_without_a_head(self):
        weights = read_safetensors(GOLDEN / "mlp" / "inputs.safetensors")
        head = [name for name in weights if name.startswith("fc3.")]
        write_safetensors("none.safetensors", {name: tensor for name, tensor in weights.items() if name not in head})
        write_safetensors("other.safetensors", weights | {name: harness.Tensor("F32", [7, *weights[name].shape[1:]], [0.5] * (7 * math.prod(weights[name].shape[1:]))) for name in head})
        train = lambda init, *arguments: self.train("--steps", "1", "--checkpoint-dir", "run", f"--init={init}.safetensors", *arguments, plan="mlp.plan",
                                                    data=GOLDEN / "mlp" / "data.safetensors")
        self.fails(train("none"), 2, "the weights do not fit this plan; --init-missing='fc3.*' draws such parameters anew\n  only in the plan (2):\n    fc3.bias: F32 [10]")
        self.fails(train("other"), 2, "fc3.weight: F32 [7, 32] in the file, F32 [10, 32] in the plan")
        self.fails(train("none", "--init-missing=fc4.*"), 2, "--init-missing=fc4.*: no parameter of the plan has such a name; `*` stands for any text")
        self.fails(train("none", "--init-missing=fc2.*,fc3.bias"), 2, "only in the plan (1):\n    fc3.weight")
        self.fails(self.train("--init-missing=fc3.*"), 2, "--init-missing needs --init")
        for init in ["none", "other"]:
            _, err = self.run_program(*train(init, "--init-missing=fc3.*"))
            self.assertIn("drawn anew: fc3.bias, fc3.weight\n", err.replace("fc3.weight, fc3.bias", "fc3.bias, fc3.weight"))
            shutil.move("run", init)
        self.assert_same_folder("none/step-00000001", "other/step-00000001")
        drawn, found = read_safetensors("none/step-00000001/model.safetensors"), weights
        self.assertLess(harness.relative_error(drawn["fc1.weight"].values, found["fc1.weight"].values), 0.1, "a step from the weights of the file")
        self.assertGreater(harness.relative_error(drawn["fc3.weight"].values, found["fc3.weight"].values), 0.1)

    def test_one_of_several_files(self):
        weights = read_safetensors(GOLDEN / "mlp" / "inputs.safetensors")
        os.mkdir("split")
        names = sorted(weights)
        files = {name: f"model-0000{1 + 2 * index // len(names)}-of-00002.safetensors" for index, name in enumerate(names)}
        for file in set(files.values()):
            write_safetensors(f"split/{file}", {name: weights[name] for name in names if files[name] == file})
        Path("split/model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
        train = lambda init: self.train("--steps", "1", f"--init={init}", plan="mlp.plan", data=GOLDEN / "mlp" / "data.safetensors")
        err = self.fails(train("split/model-00001-of-00002.safetensors"), 2, "the weights do not fit this plan; this is one of several files of a model: name their folder, "
                         "or the model.safetensors.index.json in it\n  only in the plan (")
        self.assertNotIn("--init-missing", err)
        self.run_program(*train("split"))

    def test_weights_of_an_incomplete_checkpoint(self):
        train = lambda *arguments: self.run_program(*self.train("--steps", "1", "-q", *arguments))[1]
        train("--checkpoint-dir=run")
        self.assertNotIn("incomplete", train("--init=run/step-00000001"))
        os.remove("run/step-00000001/trainer_state.json")
        self.assertIn("warning: --init=run/step-00000001: the checkpoint is incomplete, it has no trainer_state.json: its weights cannot be checked, and may be damaged\n",
                      train("--init=run/step-00000001"))
        self.assertNotIn("incomplete", train("--init=run/step-00000001/model.safetensors"))

    def test_a_new_head_in_place_of_another(self):
        weights = read_safetensors(GOLDEN / "mlp" / "inputs.safetensors")
        other = {name.replace("fc3", "lm_head"): tensor for name, tensor in weights.items()}
        write_safetensors("base.safetensors", other)
        train = lambda *arguments: self.train("--steps", "1", "--init=base.safetensors", *arguments, plan="mlp.plan", data=GOLDEN / "mlp" / "data.safetensors")
        self.fails(train(), 2, "--init-missing='fc3.*' draws such parameters anew; --init-ignore='lm_head.*' leaves such tensors out\n",
                   "only in the plan (2):", "only in the file (2):")
        self.fails(train("--init-missing=fc3.*"), 2, "; --init-ignore='lm_head.*' leaves such tensors out\n")
        self.fails(train("--init-missing=fc3.*", "--init-ignore=lm_head"), 2,
                   "--init-ignore=lm_head: no tensor of base.safetensors has such a name; `*` stands for any text")
        self.fails(train("--init-missing=fc?.*"), 2, "--init-missing=fc?.*: no parameter of the plan has such a name")
        _, err = self.run_program(*train("--init-missing=fc3.*", "--init-ignore=lm_head.*"))
        self.assertRegex(err, "drawn anew: fc3.(bias|weight), fc3.(bias|weight)\n")
        self.assertRegex(err, "left out of the file: lm_head.(bias|weight), lm_head.(bias|weight)\n")
        self.fails(self.train("--init-ignore=a"), 2, "--init-ignore needs --init")

    def test_weights_of_a_model_that_computes_otherwise(self):
        text = edited(program("mlp"), ("nn.model @mlp(%features: tensor<?x20xf32>, %labels: tensor<?xi32>) {", """nn.model @mlp(%features: tensor<?x20xf32>, %labels: tensor<?xi32>)
            export "config.json" { model_type = "llama", num_attention_heads = 4, rope_theta = 10000.0, torch_dtype = "float32" } {"""))
        self.compile(text)
        os.mkdir("base")
        shutil.copy(GOLDEN / "mlp" / "inputs.safetensors", "base/model.safetensors")
        config = Path("base/config.json")
        train = lambda *arguments: self.train(*arguments, plan="model.plan", data=GOLDEN / "mlp" / "data.safetensors")
        same = {"model_type": "llama", "num_attention_heads": 4, "dtype": "bfloat16", "rope_parameters": {"rope_theta": 10000, "rope_type": "default"}}
        config.write_text(json.dumps(same))
        self.run_program(*train("--init=base", "--steps", "1", "--checkpoint-dir", "run"))
        config.write_text(json.dumps(same | {"num_attention_heads": 8, "rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}}))
        for init in ["base", "base/model.safetensors"]:
            self.fails(train(f"--init={init}", "--steps", "1"), 2, "error: base/config.json: ", "num_attention_heads: 8 in this file, 4 in the plan\n",
                       "rope_theta: 500000.0 in this file, 10000.0 in the plan\n", "--no-config-check")
        self.run_program(*train("--init=base", "--steps", "1", "--no-config-check"))
        self.compile(edited(text, ("num_attention_heads = 4", "num_attention_heads = 2")))
        self.fails(train("--resume=run", "--steps", "2"), 2, "run/step-00000001/config.json: ", "num_attention_heads: 4 in this file, 2 in the plan\n")
        self.run_program(*train("--resume=run", "--steps", "2", "--no-config-check"))
        self.fails(train("--no-config-check", "--steps", "1"), 2, "--no-config-check needs --init or --resume")

    def test_the_length_of_a_schedule_changes(self):
        text = program("mlp")
        text = text[:text.index("train.program")] + "train.program @p { model @mlp optimizer sgd(lr 0.5) schedule SCHEDULE batch 8 }"
        data = GOLDEN / "mlp" / "data.safetensors"
        for schedule, warns in [("linear(warmup 2)", True), ("cosine(warmup 2, minimum 0.01)", True), ("linear(total 10)", False), ("constant(warmup 2)", False)]:
            with self.subTest(schedule=schedule):
                shutil.rmtree("run", ignore_errors=True)
                self.compile(text.replace("SCHEDULE", schedule))
                train = lambda steps, *arguments: self.run_program(*self.train("--steps", str(steps), "--checkpoint-dir", "run", "--metrics=m.jsonl", *arguments, plan="model.plan", data=data))[1]
                train(4)
                self.assertNotIn("schedule", train(4, "--resume"))
                err = train(8, "--resume")
                self.assertEqual("warning: the run is longer, 8 steps instead of 4, and the " in err and " schedule with it: the last step's learning rate was " in err, warns, err)
                rates = [line["lr"] for line in harness.metrics("m.jsonl")]
                if warns:
                    self.assertIn(f"was {rates[3]:g}, the next one's is {rates[4]:g}; the same --steps or --epochs each time, or a total in the model's schedule", err)
                self.assertNotIn("schedule", train(8, "--resume"))

    def test_unwritable_checkpoint_folder(self):
        Path("file").write_text("")
        self.fails(self.train("--steps", "1", "--checkpoint-dir", "file/run"), 2, "--checkpoint-dir=file/run: cannot create the folder: file is not a folder; name another")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_checkpoint_folder(self):
        os.mkdir("run", 0o555)
        self.fails(self.train("--steps", "1", "--checkpoint-dir", "run"), 2, "run: ", "Permission denied")

    def test_full_disk(self):
        """A file system with space for one and a half checkpoints; checkpoints_test.py has the case with none."""
        os.mkdir("disk")
        room = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-e", "-c"]
        if subprocess.run([*room, "mount -t tmpfs -o size=4k none disk"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("this machine lets nobody mount a file system")
        checkpoint = 118528 + 237424  # bytes, of its two large files
        run = f"{TRAINRUN} gpt.plan --data tokens.bin"
        script = f"""mount -t tmpfs -o size={checkpoint * 3 // 2} none disk
            {run} --checkpoint-dir disk/run --steps 2
            {run} --checkpoint-dir disk/run --steps 4 --resume && exit 1 || echo "exit code $?"
            ls -A disk/run
            {run} --checkpoint-dir run --steps 4 --resume=disk/run"""
        out, err = self.run_program(*room, script)
        self.assertEqual(out.split("\n"), ["exit code 1", "step-00000002", ""])
        self.assertIn("the checkpoint of step 4 was not written (the last one is that of step 2)", err)
        self.assertIn("No space left on device", err)
        self.assertTrue(Path("run/step-00000004").is_dir())

    def test_damaged_checkpoints(self):
        self.run_program(*self.train("--steps", "2", "--checkpoint-dir", "run"))
        folder = Path("run/step-00000002")
        resume = self.train("--steps", "3", "--resume=run")
        for name in ["model.safetensors", "optimizer.safetensors", "trainer_state.json"]:
            path = folder / name
            good = path.read_bytes()
            for at in [9, len(good) // 2, len(good) - 3]:
                with self.subTest(name=name, at=at):
                    path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
                    self.fails(resume, 2, str(path), re.compile("checksum|not a JSON object"), "older one")
            path.write_bytes(good[:-5])
            self.fails(resume, 2, str(path), re.compile(f"expected {len(good)} bytes, found {len(good) - 5}|not a JSON object"))
            path.unlink()
            self.fails(resume, 2, str(folder), f"{path}: cannot open" if name.endswith(".safetensors") else f"found no {name} in it")
            path.write_bytes(good)
        self.run_program(*resume)

    def test_checkpoint_of_another_model(self):
        self.run_program(*self.train("--steps", "2", "--checkpoint-dir", "run"))
        data = GOLDEN / "mlp" / "data.safetensors"
        self.fails(self.train("--steps", "3", "--resume=run", plan="mlp.plan", data=data), 2, "made by another model",
                   "only in the plan (6)", "fc1.weight: F32 [32, 20]", "only in the file (28)", "h.0.attn.c_attn.weight: F32 [32, 96]")
        self.compile(edited(program("gpt"), ("of 16 by 32", "of 24 by 32")), to="longer.plan")
        self.fails(self.train("--steps", "3", "--resume=run", plan="longer.plan"), 2,
                   "wpe.weight: F32 [16, 32] in the file, F32 [24, 32] in the plan")


if __name__ == "__main__":
    harness.main()
