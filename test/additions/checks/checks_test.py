"""Runs what the examples of docs/how-to/add-*.md add. For a build of a tree with all of them, which test/additions/run.sh makes."""

import json
import os
import re
import struct
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/end_to_end"))

import harness  # noqa: E402
import small_gpt  # noqa: E402
from harness import metrics, relative_error  # noqa: E402

CHECKS = ROOT / "test/additions/checks"
PREFIX = (" causal", " causal prefix 7")
PROGRAM = """
nn.model @m(%x: tensor<?x4xf32>) {
  %h = nn.linear "fc" %x to 8
  %y = nn.cube %h
  nn.loss "loss" %y
}
train.program @p { model @m  optimizer adagrad(lr 0.1)  schedule quadratic(warmup 1)  clip 0.5  batch 4  OPTIONS }
"""


class OpsTest(harness.EndToEndTest):
    def test_kernels_equal_the_reference(self):
        self.run_program(harness.TRAINC_CHECK, CHECKS / "ops.mlir", "--kernels", "--bound=2e-6")

    def test_gradients_equal_differences(self):
        self.run_program(harness.TRAINC_CHECK, CHECKS / "gradients.mlir", "--reference", "--gradients", "--kernels", "--bound=2e-6")

    def test_kernels_for_gpus_equal_the_reference(self):
        emulators = ROOT / "build/test/emulator/lib"
        environment = os.environ | {"LD_LIBRARY_PATH": str(emulators)}
        self.run_program(harness.TRAINC_CHECK, CHECKS / "ops.mlir", "--kernels", "--target=cuda", "--gpu-levels=none", "--bound=2e-6", env=environment)


class PrefixTest(harness.EndToEndTest):
    def losses(self, text, *options):
        self.trainrun(self.compile(text, *options), "--data", "tokens.bin", "--steps", 3, "--metrics", "m.jsonl")
        found = [line["loss"] for line in metrics("m.jsonl") if "loss" in line]
        Path("m.jsonl").unlink()
        return found

    def test_no_library_drops_the_prefix(self):
        small_gpt.write_tokens("tokens.bin", 60)
        prefixed = small_gpt.text(PREFIX)
        generated = self.losses(prefixed, "--library-calls=none")
        self.assertGreater(relative_error(self.losses(small_gpt.text())[:1], generated[:1]), 1e-5)
        for calls in ("attention", "all", "plain"):
            with self.subTest(calls=calls):
                found = self.losses(prefixed, f"--library-calls={calls}")
                self.assertLess(relative_error(found[:1], generated[:1]), 1e-6)  # of rounding, as in library_calls_test.py
                self.assertLess(relative_error(found, generated), 2e-5)

    def test_cudnn_is_not_called(self):
        Path("gpt.mlir").write_text(small_gpt.text(PREFIX))
        for calls in ("attention", "all"):
            self.trainc("compile", "gpt.mlir", "-o", "gpt.plan", "--target=cuda", "--gpu-levels=none", "--precision=bf16", f"--library-calls={calls}")
            text, _ = self.trainc("dump", "gpt.plan")
            self.assertIn("kernel attention", text)
            self.assertNotIn("attention batch", text)


class CollectiveTest(harness.EndToEndTest):
    def test_values_that_it_takes(self):
        out, _ = self.run_program(harness.TRAINC_OPT, "--verify-spmd", "--fuse", "--summarise-kernels", "--plan-memory", CHECKS / "broadcast.mlir")
        self.assertIn("plan.collective broadcast in shard", out)
        self.run_program(harness.TRAINC_OPT, "--verify-spmd", "--split-input-file", "--verify-diagnostics", CHECKS / "broadcast-errors.mlir")

    def test_no_kernel_sums_it(self):
        """With reproducible sums, four ranks on GPUs sum by kernels."""
        Path("m.mlir").write_text(PROGRAM.replace("OPTIONS", ""))
        spmd, _ = self.trainc("compile", "m.mlir", "--target=cuda", "--gpu-levels=none", "--ranks=4", "--micro-batch=1", "--reproducible=ranks",
                              "--compile-to=spmd")
        broadcasts, count = re.subn(r"dist\.all_reduce_start (.*) of @\S+", r"dist.broadcast_start \1", spmd)
        self.assertGreater(count, 0)
        Path("spmd.mlir").write_text(broadcasts)
        planned, _ = self.run_program(harness.TRAINC_OPT, "--fuse", "--summarise-kernels", "--plan-memory", "spmd.mlir")
        collectives = planned.split("plan.collective ")[1:]
        kinds = {(each.split(" ")[0], " sum @" in each.split("]")[0]) for each in collectives}
        self.assertEqual(kinds, {("all_reduce", True), ("broadcast", False)})


class ProgramTest(harness.EndToEndTest):
    """A run with the optimizer, the schedule, the setting, the field of plans, and the device."""

    def setUp(self):
        super().setUp()
        harness.write_safetensors("data.safetensors", {"x": harness.Tensor("F32", [64, 4], [(i * 37 % 17 - 8) / 8 for i in range(256)])})

    def test_a_run(self):
        plan = self.compile(PROGRAM.replace("OPTIONS", ""))
        self.trainrun(plan, "--data", "data.safetensors", "--steps", 8, "--metrics", "m.jsonl", "--device=acme")
        steps = [line for line in metrics("m.jsonl") if "loss" in line]
        self.assertLess(steps[-1]["loss"], steps[0]["loss"])
        rates = [line["lr"] for line in steps]
        self.assertAlmostEqual(rates[4], 0.1 * (1 - 3 / 7) ** 2, places=6)

    def test_the_field(self):
        plan = self.compile(PROGRAM.replace("OPTIONS", ""))
        self.assertIn(" clip=0.5", self.trainc("dump", plan)[0])
        self.assertIn("gradients clipped at a norm of 0.5", self.trainrun(plan, "--device=null")[0])

    def test_the_setting(self):
        text = PROGRAM.replace("OPTIONS", "ranks 2  zero_stage 3  prefetch 3")
        self.assertRegex(self.trainc("dump", self.compile(text, "--micro-batch=2"), "--settings")[0], r"eval_prefetch +3 +derived: prefetch")
        plan = self.compile(text, "--micro-batch=2", "--eval-prefetch=0")
        self.assertRegex(self.trainc("dump", plan, "--settings")[0], r"eval_prefetch +0 +--eval-prefetch")

    def test_help_and_advice_list_what_there_is(self):
        Path("m.mlir").write_text(PROGRAM)
        self.fails((harness.TRAINC, "compile", "m.mlir", "--lr-scheduler-type=polynomial"), 2, "constant, linear, cosine and quadratic")
        self.fails((harness.TRAINC, "compile", "m.mlir", "--optim=lion"), 2, "adamw, adam, adagrad and sgd")


class TargetTest(harness.EndToEndTest):
    def test_a_plan(self):
        plans = {target: self.compile(PROGRAM.replace("OPTIONS", ""), f"--target={target}", to=f"{target}.plan") for target in ("cpu", "acme")}
        texts = {target: self.trainc("dump", plan)[0] for target, plan in plans.items()}
        self.assertIn("acme", texts["acme"])
        self.assertNotEqual(*(re.findall(r"\+(\d+)", text) for text in texts.values()))
        self.assertIn(" for acme, 1 rank", self.trainrun(plans["acme"], "--device=null", "-v")[0])

    def test_no_device_runs_it(self):
        plan = self.compile(PROGRAM.replace("OPTIONS", ""), "--target=acme")
        self.fails((harness.TRAINRUN, plan), 2, "target acme, for which this program has no device")

    def test_advice_lists_it(self):
        Path("m.mlir").write_text(PROGRAM.replace("OPTIONS", ""))
        self.fails((harness.TRAINC, "compile", "m.mlir", "--target=acne"), 2, "cpu, cuda or acme")


class DataFormatTest(harness.EndToEndTest):
    def test_a_token_file(self):
        tokens = [(3 * i + 1) % 96 for i in range(60 * small_gpt.LENGTH + 1)]
        Path("acme.bin").write_bytes(b"ACMETOK1" + struct.pack(f"<{len(tokens)}I", *tokens))
        Path("raw.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
        plan = self.compile(small_gpt.text())
        found = []
        for name in ("acme.bin", "raw.bin"):
            self.trainrun(plan, "--data", name, "--steps", 2, "--metrics", "m.jsonl")
            found.append([line["loss"] for line in metrics("m.jsonl") if "loss" in line])
            Path("m.jsonl").unlink()
        self.assertEqual(*found)


class TokenizerTest(harness.EndToEndTest):
    def test_words_are_tokens(self):
        Path("words.json").write_text(json.dumps({"model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "the": 1, "cat": 2}, "unk_token": "[UNK]"},
                                                  "pre_tokenizer": {"type": "Whitespace"}}))
        Path("text.txt").write_text("the cat saw the cat")
        self.trainc("tokenize", "--tokenizer=words.json", "text.txt", "-o", "tokens.bin")
        self.assertEqual(struct.unpack("<5H", Path("tokens.bin").read_bytes()), (1, 2, 0, 1, 2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
