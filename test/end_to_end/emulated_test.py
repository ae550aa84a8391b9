"""Compiled plans on the emulated asynchronous device, in several of its orders, have the bits of the CPU."""

from pathlib import Path

import harness
import sharded_gpt
import small_gpt
from harness import metrics

STEPS = 3
SEEDS = range(1, 5)

PLANS = {
    "one": [],
    "recomputed": ["--activation-checkpointing=selective", "--accumulate=2", "--micro-batch=4"],
    "stage1": ["--ranks=2", "--zero-stage=1", "--micro-batch=2", "--accumulate=2"],
    "stage2": ["--ranks=2", "--zero-stage=2", "--micro-batch=4"],
    "stage3": ["--ranks=4", "--zero-stage=3", "--micro-batch=2", "--prefetch=3", "--wrap=mlp", "--allgather-bucket-size=100000"],
    "hybrid": ["--ranks=4", "--zero-stage=3", "--micro-batch=1", "--hybrid-shard=2", "--accumulate=2"],
}


class EmulatedTest(harness.EndToEndTest):
    def train(self, name, run, *args):
        """(step, loss, norm) of each step; the last checkpoint is in the run's folder."""
        ranks = [each.replace("--ranks", "--nproc-per-node") for each in PLANS[name] if each.startswith("--ranks")]
        self.trainrun("model.plan", *ranks, "--data", "tokens.bin", "--steps", STEPS, "--checkpoint-dir", run,
                      "--metrics", f"{run}.jsonl", *args)
        return [(line["step"], line["loss"], line["grad_norm"]) for line in metrics(f"{run}.jsonl")]

    def test_has_the_bits_of_the_cpu(self):
        Path("model.mlir").write_text(sharded_gpt.text(False))
        small_gpt.write_tokens("tokens.bin", 100)
        for name, options in PLANS.items():
            self.trainc("compile", "model.mlir", "-o", "model.plan", "--cpu=native", *options)
            expected = self.train(name, name)
            for seed in SEEDS:
                with self.subTest(plan=name, seed=seed):
                    run = f"{name}-{seed}"
                    self.assertEqual(self.train(name, run, "--device=emulated", "--device-seed", seed), expected)
                    self.assert_same_folder(f"{name}/step-{STEPS:08}", f"{run}/step-{STEPS:08}")

    def test_says_what_it_is(self):
        Path("model.mlir").write_text(small_gpt.text())
        small_gpt.write_tokens("tokens.bin", 20)
        self.trainc("compile", "model.mlir", "-o", "model.plan", "--cpu=native")
        _, err = self.trainrun("model.plan", "--data", "tokens.bin", "--steps", "1", "--device=emulated", "--device-seed=7")
        self.assertIn("emulated asynchronous device, seed 7, on cpu", err)
        self.fails([harness.TRAINRUN, "model.plan", "--data", "tokens.bin", "--device-seed=7"], 2,
                   "--device-seed needs --device=emulated")


if __name__ == "__main__":
    harness.main()
