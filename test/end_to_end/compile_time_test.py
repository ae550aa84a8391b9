"""Compile time grows with the model, not with its square."""

import time
from pathlib import Path

import harness


class CompileTime(harness.EndToEndTest):
    def seconds(self, ops):
        """Of a language model with so many ops in its own body."""
        body = "".join(f"%x{i + 1} = nn.neg %x{i}\n" for i in range(ops))
        Path("long.mlir").write_text("nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {\n"
                                     f'%x0 = nn.embedding "wte" %tokens of 16 by 8\n{body}'
                                     f'%logits = nn.linear "head" %x{ops} to 16\nnn.output "logits" %logits\n'
                                     '%nll, %lse = nn.cross_entropy %logits, %labels\nnn.loss "loss" %nll\n}\n'
                                     "train.program @p { model @m optimizer sgd batch 2 x 4 }")
        start = time.monotonic()
        self.trainc("compile", "long.mlir", "--compile-to=step")
        return time.monotonic() - start

    def test_of_a_long_body(self):
        few, many = self.seconds(8000), self.seconds(64000)
        self.assertLess(many, 16 * few)


if __name__ == "__main__":
    harness.main()
