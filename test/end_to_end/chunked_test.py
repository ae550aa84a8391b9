"""Losses over a large vocabulary run on slices of rows: whatever the batch and the length, with the same result."""

import array
import random
import re
from pathlib import Path

import harness
from harness import read_safetensors

VOCABULARY = 9000
MODEL = f"""
nn.model @words(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {{
  %x = nn.embedding "in" %tokens of {VOCABULARY} by 12 init normal(0.5)
  %h = nn.linear "hidden" %x to 20 init normal(0.3)
  %g = nn.tanh %h
  %logits = nn.linear "out" %g to {VOCABULARY} init normal(0.3)
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}}
train.program @fit {{ model @words  optimizer sgd(lr 0.5)  clip 1.0  batch 1 x 1 }}
"""

# Samples and tokens of a step, and slices of its rows. Slices of 500, 333 and 301 rows do not end on a multiple of 64 bytes, a prime number
# of rows is not cut.
SHAPES = [(4, 250, 2), (4, 300, 4), (6, 100, 2), (1, 602, 2), (3, 333, 3), (2, 512, 4), (1, 601, 1)]


class ChunkedTest(harness.EndToEndTest):
    def write_tokens(self, path, targets):
        numbers = random.Random(targets)
        Path(path).write_bytes(array.array("H", [numbers.randrange(VOCABULARY) for _ in range(targets + 1)]).tobytes())

    def run_steps(self, name, batch, length, accumulate):
        """The plan as text; losses, gradient norms and evaluations of two steps; the weights after them."""
        plan = self.compile(MODEL, f"--micro-batch={batch}", f"--seq-len={length}", f"--accumulate={accumulate}", to=f"{name}.plan")
        dump, _ = self.trainc("dump", plan)
        self.trainrun(plan, "--data", "tokens.bin", "--eval-data", "eval.bin", "--eval-every", "1", "--no-shuffle", "--steps", "2",
                      "--checkpoint-dir", name, "--metrics", f"{name}.jsonl")
        lines = harness.metrics(f"{name}.jsonl")
        numbers = [[line[key] for line in lines if key in line] for key in ["loss", "grad_norm", "eval_loss"]]
        return dump, numbers, read_safetensors(f"{name}/step-00000002/model.safetensors")

    def check_logits(self, dump, rows):
        """No entry holds more than one buffer as large as the logits of `rows` rows, gradient and softmax included."""
        logits = rows * VOCABULARY * 4
        for entry in ["micro_step", "eval"]:
            sizes = [int(bytes) for bytes in re.findall(rf"^buffer {entry}\.\S+ in scratch at \d+ bytes=(\d+) ", dump, re.MULTILINE)]
            self.assertEqual(sum(size >= logits // 2 for size in sizes), 1, f"{entry}: {sizes}, logits {logits}")

    def check(self, batch, length, slices):
        rows = batch * length
        self.write_tokens("tokens.bin", 2 * rows)
        self.write_tokens("eval.bin", 3 * rows)
        dump, numbers, weights = self.run_steps(f"whole-{batch}x{length}", batch, length, 1)
        self.assertEqual(dump.count("loop i"), 2 * (slices > 1), "loops in micro_step and eval")
        self.assertEqual(dump.count(f"loop i < {slices} {{"), 2 * (slices > 1))
        self.check_logits(dump, rows // slices)
        # The model sees one token at a time, so that any division of the same tokens is the same step.
        small = max(length for length in range(1, 334) if rows % length == 0)
        dump, expected, other = self.run_steps(f"small-{batch}x{length}", 1, small, rows // small)
        self.assertNotIn("loop i", dump)
        for found, wanted in zip(numbers, expected):
            self.assertEqual(len(found), 2)
            self.assert_close(found, wanted, 2e-6, "loss, gradient norm or evaluation")
        for name, tensor in other.items():
            self.assert_close(weights[name].values, tensor.values, 2e-6, name)

    def test_slices_change_rounding_only(self):
        for batch, length, slices in SHAPES:
            with self.subTest(batch=batch, length=length):
                self.check(batch, length, slices)


if __name__ == "__main__":
    harness.main()
