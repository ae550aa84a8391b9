"""`trainc compile --cpu`: a plan holds code for the levels that it says, and a level's bits do not depend on the others."""

import json
import re
import unittest
from pathlib import Path

import harness
import small_gpt
from harness import TRAINC


class LevelsTest(harness.EndToEndTest):
    def levels(self, plan):
        return re.findall(r"^object (\S+) bytes=", self.trainc("dump", plan)[0], re.MULTILINE)

    def setting(self, plan):
        """The value of `cpu`, and where it comes from."""
        return re.search(r"^cpu +(\S+) +(\S.*)$", self.trainc("dump", plan, "--settings")[0], re.MULTILINE).groups()

    def train(self, plan, folder):
        self.trainrun(plan, "--data", "tokens.bin", "--steps", "6", "--checkpoint-dir", folder, "--metrics", f"{folder}.jsonl")
        return [line["loss"] for line in harness.metrics(f"{folder}.jsonl") if "loss" in line]

    def test_a_levels_bits_do_not_depend_on_the_others(self):
        small_gpt.write_tokens("tokens.bin", 40)
        every = self.compile(small_gpt.text(), to="every.plan", cpu="all")
        native = self.compile(small_gpt.text(), to="native.plan")
        self.assertEqual(self.setting(every), ("all", "--cpu"))
        self.assertEqual(self.levels(every), ["x86-64-v3", "x86-64-v4"])
        (level,) = self.levels(native)
        self.assertEqual(self.setting(native), (level, "--cpu"))
        # The level chosen from all is the one of `native`.
        for plan in (every, native):
            self.assertIn(f"({level}, ", self.trainrun(plan, "--data", "tokens.bin", "--steps", "1", "--profile")[1])
        self.assertEqual(self.train(every, "a"), self.train(native, "b"))
        self.assert_same_folder("a/step-00000006", "b/step-00000006")

    def test_levels_that_share_code(self):
        small_gpt.write_tokens("tokens.bin", 40)
        every = self.compile(small_gpt.text(), "--precision=bf16", to="every.plan", cpu="all")
        native = self.compile(small_gpt.text(), "--precision=bf16", to="native.plan")
        self.assertEqual(self.levels(every), ["x86-64-v3", "x86-64-v4", "x86-64-v4-bf16", "x86-64-v4-amx"])
        self.assertEqual(len(self.levels(native)), 1)
        self.assertEqual(self.train(every, "a"), self.train(native, "b"))
        self.assert_same_folder("a/step-00000006", "b/step-00000006")

    def test_named_levels(self):
        text = harness.program("mlp")
        self.assertEqual(self.levels(self.compile(text, cpu="x86-64-v3")), ["x86-64-v3"])
        self.assertEqual(self.levels(self.compile(text, cpu="X86-64-V4,x86-64-v3")), ["x86-64-v3", "x86-64-v4"])
        written = harness.edited(text, ("\n  model @mlp", '\n  model @mlp\n  cpu "x86-64-v4"'))
        self.assertEqual(self.setting(self.compile(written, cpu="x86-64-v3")), ("x86-64-v3", "--cpu"))
        self.trainc("compile", "model.mlir", "-o", "model.plan")
        self.assertEqual(self.setting("model.plan"), ("x86-64-v4", "model.mlir:15"))
        self.assertEqual(self.levels("model.plan"), ["x86-64-v4"])
        # A model without products of bf16 numbers has no code of its own for the levels that are for these.
        for words in ("x86-64-v4-bf16", "x86-64-v4-amx", "x86-64-v4-bf16,x86-64-v4", "x86-64-v4-amx,x86-64-v4-bf16"):
            self.assertEqual(self.levels(self.compile(text, cpu=words)), ["x86-64-v4"])

    @unittest.skipIf("avx512_bf16" not in Path("/proc/cpuinfo").read_text(), "the CPU has no instruction for products of bf16 numbers")
    def test_a_resumed_run_says_if_its_bits_are_others(self):
        """Products of bf16 numbers, for which one level has an instruction."""
        small_gpt.write_tokens("tokens.bin", 40)
        for level in ("x86-64-v4", "x86-64-v4-bf16"):
            self.compile(small_gpt.text(), "--precision=bf16", to=f"{level}.plan", cpu=level)
        wide, pairs = ("without instructions of their own", "with avx512_bf16")
        runs = [("x86-64-v4", wide, None), ("x86-64-v4-bf16", pairs, wide), ("x86-64-v4-bf16", pairs, None), ("x86-64-v4", wide, pairs)]
        for step, (level, now, before) in enumerate(runs, 1):
            _, log = self.trainrun(f"{level}.plan", "--data", "tokens.bin", "--steps", step, "--checkpoint-dir", "run", "--resume=auto")
            if before:
                self.assertIn(f"step-0000000{step - 1}: products of bf16 numbers were computed {before}, and now are {now}: bits are not", log)
            else:
                self.assertNotIn("bits are not", log)
            state = json.loads(Path(f"run/step-0000000{step}/trainer_state.json").read_text())
            self.assertEqual(state["environment"].get("arithmetic"), "avx512_bf16" if now == pairs else None)

    @unittest.skipIf("avx512_bf16" not in Path("/proc/cpuinfo").read_text(), "the CPU has no instruction for products of bf16 numbers")
    def test_bits_of_another_precision_are_not_compared(self):
        """fp32 plans train without products of bf16 numbers, whatever they evaluate with."""
        small_gpt.write_tokens("tokens.bin", 40)
        self.compile(small_gpt.text(), "--precision=bf16", to="bf16.plan", cpu="x86-64-v4-bf16")
        self.compile(small_gpt.text(), to="fp32.plan", cpu="x86-64-v4-bf16")
        self.compile(small_gpt.text(), "--eval-precision=bf16", to="eval.plan", cpu="x86-64-v4-bf16")
        recorded = []
        for step, plan in enumerate(["fp32", "bf16", "eval", "fp32"], 1):
            _, log = self.trainrun(f"{plan}.plan", "--data", "tokens.bin", "--steps", step, "--checkpoint-dir", "run", "--resume=auto")
            self.assertNotIn("bits are not", log)
            environment = json.loads(Path(f"run/step-0000000{step}/trainer_state.json").read_text())["environment"]
            recorded.append((environment["precision"], environment.get("arithmetic")))
        self.assertEqual(recorded, [("fp32", None), ("bf16", "avx512_bf16"), ("fp32", None), ("fp32", None)])

    def test_mistakes(self):
        self.compile(harness.program("mlp"))
        compile = [TRAINC, "compile", "model.mlir", "-o", "x.plan"]
        self.fails([*compile, "--cpu=x86-64-v2"], 2, "--cpu: expected all, native, x86-64-v3, x86-64-v4, x86-64-v4-bf16 or x86-64-v4-amx, found 'x86-64-v2'")
        self.fails([*compile, "--cpu=native,"], 2, "--cpu: expected all, native, x86-64-v3, x86-64-v4, x86-64-v4-bf16 or x86-64-v4-amx, found ''")
        self.fails([*compile, "--cpu=x86-64-v3", "--fp32-products=bf16x3"], 2,
                   "cpu x86-64-v3: fp32_products bf16x3 has code for x86-64-v4 alone; choose that, or fma")


if __name__ == "__main__":
    harness.main()
