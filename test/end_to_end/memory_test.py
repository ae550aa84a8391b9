"""Memory is known at compile time: the report's peak, the dry run, the allocated bytes, the process's use."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import harness
import small_gpt
from harness import ROOT, TRAINRUN


class MemoryTest(harness.EndToEndTest):
    def peak_of(self, text, *options):
        """The bytes that the report promises; checked against the dry run's arenas."""
        self.compile(text, "--report=report.json", *options)
        memory = json.loads(Path("report.json").read_text())["memory"]
        self.unplanned, self.gathered = memory.pop("unplanned"), memory.pop("gathered")
        self.assertLessEqual(self.gathered, memory["activations"])
        self.assertEqual(sum(bytes for name, bytes in memory.items() if name != "peak"), memory["peak"])
        out, _ = self.trainrun("model.plan", "--device=null")
        arenas = [int(bytes) for bytes in re.findall(r"^arena \w+: (\d+) bytes", out, re.MULTILINE)]
        self.assertTrue(arenas)
        self.assertEqual(sum(arenas), memory["peak"])
        return memory["peak"]

    def check_allocated(self, text, data, *options):
        peak = self.peak_of(text, *options)
        self.trainrun("model.plan", "--data", data, "--steps", "2", "--metrics", "run.jsonl")
        self.assertEqual([line["peak_bytes"] for line in harness.metrics("run.jsonl")], [peak, peak])

    def test_gpt(self):
        self.check_allocated(small_gpt.text(), small_gpt.write_tokens("tokens.bin", 20))

    def test_accumulated_llama(self):
        self.check_allocated(harness.program("llama"), small_gpt.write_tokens("tokens.bin", 20), "--accumulate=3")

    def test_mlp(self):
        self.check_allocated(harness.program("mlp"), harness.GOLDEN / "mlp" / "data.safetensors")

    def test_gathered_parameters(self):
        """Gathered bytes of the golden GPT, whose two layers have matrices of 12 x 32 x 32 elements each; vectors are not sharded."""
        def gathered(*options):
            self.peak_of(text, "--ranks=2", *options)
            return self.gathered

        text = harness.edited(harness.program("gpt"), ('nn.output "logits"', 'nn.output "scores"'))  # compiles faster
        layer = 4 * 12 * 32 * 32
        self.assertEqual(gathered("--zero-stage=0"), 0)
        self.assertEqual(gathered("--zero-stage=3", "--prefetch=0"), layer)
        self.assertEqual(gathered("--zero-stage=3", "--prefetch=1"), 2 * layer)
        reused = gathered("--zero-stage=3", "--prefetch=0", "--max-reuse-distance=1000000")
        self.assertGreaterEqual(reused, 2 * layer + 4 * 96 * 32)  # with the tied embedding

    def test_a_step_without_clipping_takes_no_more(self):
        """The norm of gradients is not computed together with half of the update, whose results would lie in memory until the other half."""
        for text in ((ROOT / "examples" / "mlp" / "mlp.mlir").read_text(), harness.program("gpt")):
            self.assertEqual(text.count("clip 1.0"), 1)
            with_clip = self.peak_of(text)
            self.assertLessEqual(self.peak_of(text.replace("clip 1.0", "")), with_clip)

    @unittest.skipIf(os.environ.get("TRAINC_SANITIZE"), "sanitizers need memory of their own")
    def test_resident_set_of_the_small_gpt(self):
        peak = self.peak_of((ROOT / "examples" / "gpt" / "small.mlir").read_text())
        data = small_gpt.write_tokens("tokens.bin", 100)
        resident = self.resident("--data", data, "--steps", 3, "--eval-data", data, "--checkpoint-dir", "run",
                                 "--threads", 32)
        self.assertGreater(resident, peak // 2, "the arenas are not what was used")
        self.assertLess(resident, peak + self.unplanned)
        dump, _ = self.run_program(harness.TRAINC, "dump", "model.plan")
        blocks = 32 * max(int(bytes) for bytes in re.findall(r" shared=(\d+) ", dump))
        self.assertGreater(blocks, 10 << 20)
        self.assertGreaterEqual(self.unplanned, (32 << 20) + blocks)

    def resident(self, *arguments):
        """The largest number of bytes that trainrun had in memory."""
        process = subprocess.Popen([TRAINRUN, "model.plan", *map(str, arguments), "--log-level", "error"])
        # Python's own size at the fork counts as well, and is the smaller one.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss << 10

    @unittest.skipIf(os.environ.get("TRAINC_SANITIZE"), "sanitizers need memory of their own")
    def test_resident_set_of_large_batches(self):
        """Samples of 1 MiB: two steps' batches and an evaluation's are most of the process's memory."""
        width, batch, accumulate, evaluated = 1 << 18, 4, 4, 8
        text = f"""
nn.model @m(%x: tensor<?x{width}xf32>, %y: tensor<?xf32>) {{
  %gain = nn.parameter "gain" tensor<1xf32>
  %scaled = nn.mul %x, %gain
  %mean = nn.reduce mean %scaled over [1]
  %error = nn.mse %mean, %y
  nn.loss "loss" %error
}}
train.program @p {{ model @m optimizer sgd batch {batch} accumulate {accumulate} eval_batch {evaluated} }}
"""
        peak = self.peak_of(text)
        sample, samples = 4 * width + 4, batch * accumulate
        batches = 2 * samples * sample + 8 * samples + evaluated * (sample + 8)
        dump, _ = self.run_program(harness.TRAINC, "dump", "model.plan")
        states = len(re.findall(r"^state ", dump, re.MULTILINE))
        instructions = len(re.findall(r"^ +\d+: ", dump, re.MULTILINE))
        self.assertEqual(self.unplanned, (32 << 20) + 1024 * (states + instructions) + batches)
        harness.write_safetensors("data.safetensors", {"x": harness.Tensor("F32", [samples, width], [0.5] * (samples * width)),
                                                       "y": harness.Tensor("F32", [samples], [1.0] * samples)})
        resident = self.resident("--data", "data.safetensors", "--steps", 3, "--eval-data", "data.safetensors")
        self.assertGreater(resident, peak + (32 << 20), "batches are not what was used")
        self.assertLess(resident, peak + self.unplanned)

    def test_limit(self):
        peak = self.peak_of(harness.program("gpt"))
        self.compile(harness.program("gpt"), f"--memory-limit={peak + self.unplanned}")
        compile = [harness.TRAINC, "compile", "model.mlir", "-o", "none.plan"]
        given = ["--micro-batch=3", "--activation-checkpointing=none", "--offload=none"]  # otherwise trainc chooses settings that fit
        err = self.fails([*compile, *given, f"--memory-limit={peak + self.unplanned - 1}"], 2, f"and {self.unplanned / (1 << 20):.1f} MiB for the rest of the process",
                         f"({peak + self.unplanned - 1} bytes); the plan fits into --memory-limit=", "; or: ", "--micro-batch")
        self.fails([*compile, *given, f"--memory-limit={self.unplanned}"], 2, re.compile(rf"\({self.unplanned} bytes\); the plan fits into --memory-limit=[0-9.]+MiB\n"))
        self.assertFalse(Path("none.plan").exists())
        self.run_program(*compile, *given, re.search(r"the plan fits into (--memory-limit=[0-9.]+MiB); ", err)[1])

    def test_limit_on_more_threads_than_it_counts(self):
        """Threads have scratch memory for their blocks: a limit counts 32 threads, and trainrun reports the need of more."""
        peak = self.peak_of(harness.program("gpt"))
        dump, _ = self.run_program(harness.TRAINC, "dump", "model.plan")
        block = -(-max(int(bytes) for bytes in re.findall(r" shared=(\d+) ", dump)) // 4096) * 4096
        limit = peak + self.unplanned + 2 * block
        self.compile(harness.program("gpt"), f"--memory-limit={limit}")
        run = ["model.plan", "--data", small_gpt.write_tokens("tokens.bin", 20), "--steps", "1"]
        _, messages = self.trainrun(*run, "--threads=40")
        self.assertIn(f"warning: expected at most {limit} bytes, the memory limit", messages)
        self.assertIn(f"found up to {limit + 6 * block} on 40 threads", messages)
        enough = re.search(r"run with --threads=34, or compile with (--memory-limit=[0-9.]+MiB)", messages)[1]
        self.assertIn("of working memory for kernels on 40 threads", messages)
        self.assertNotIn("warning", self.trainrun(*run, "--threads=34")[1])
        for options in ([enough], []):
            self.compile(harness.program("gpt"), *options)
            self.assertNotIn("warning", self.trainrun(*run, "--threads=40")[1])

    def test_limit_of_the_program(self):
        """The command line takes precedence over train.program."""
        model = re.sub(r"(train\.program @\w+ \{)", r"\1 memory_limit 1MiB ", harness.program("gpt"))
        Path("limited.mlir").write_text(model)
        compile = [harness.TRAINC, "compile", "limited.mlir", "-o", "none.plan"]
        self.fails(compile, 2, "the memory limit is 1.00 MiB (1048576 bytes)")
        self.run_program(*compile, "--memory-limit=1GiB")

    def test_limit_that_no_plan_fits(self):
        """The smallest strategy is not compiled again for the error: the passes end with the step that the advice needs."""
        Path("model.mlir").write_text(harness.program("gpt"))
        self.fails([harness.TRAINC, "compile", "model.mlir", "--memory-limit=1MiB", "--dump-ir=ir", "-o", "none.plan"], 2,
                   "which takes the least memory of all planned strategies, the plan needs ", "the memory limit is 1.00 MiB (1048576 bytes)")
        passes = [path.stem.split("-", 1)[1] for path in sorted(Path("ir").iterdir())]
        self.assertIn("autodiff", passes)
        self.assertNotIn("fuse", passes)
        self.assertNotIn("plan-memory", passes)


if __name__ == "__main__":
    harness.main()
