"""`trainc compile --cpu`: a plan holds code for the levels that it says, and a level's bits do not depend on the others."""

import re

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
        # What runs here of all is what `native` chose.
        for plan in (every, native):
            self.assertIn(f"({level}, ", self.trainrun(plan, "--data", "tokens.bin", "--steps", "1", "--profile")[1])
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
        # A model without products of bf16 numbers has no code of its own for the level that is for these.
        for words in ("x86-64-v4-bf16", "x86-64-v4-bf16,x86-64-v4"):
            self.assertEqual(self.levels(self.compile(text, cpu=words)), ["x86-64-v4"])

    def test_mistakes(self):
        self.compile(harness.program("mlp"))
        compile = [TRAINC, "compile", "model.mlir", "-o", "x.plan"]
        self.fails([*compile, "--cpu=x86-64-v2"], 2, "--cpu: expected one of all, native, x86-64-v3, x86-64-v4, x86-64-v4-bf16, found 'x86-64-v2'")
        self.fails([*compile, "--cpu=native,"], 2, "--cpu: expected one of all, native, x86-64-v3, x86-64-v4, x86-64-v4-bf16, found ''")
        self.fails([*compile, "--cpu=x86-64-v3", "--fp32-products=bf16x3"], 2,
                   "cpu x86-64-v3: fp32_products bf16x3 has code for x86-64-v4 alone; choose that, or fma")


if __name__ == "__main__":
    harness.main()
