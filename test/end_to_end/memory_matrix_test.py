"""Planned bytes are allocated bytes in every combination of stage, precision, checkpointing and accumulation."""

import concurrent.futures
import itertools
import json
import os
from pathlib import Path

import harness
import small_gpt

STAGES = range(4)
PRECISIONS = ["fp32", "bf16", "fp16"]
CHECKPOINTING = ["none", "selective"]
ACCUMULATE = [1, 2]


def options(stage, precision, checkpointing="none", accumulate=1, *further):
    return (f"--zero-stage={stage}", f"--precision={precision}", f"--activation-checkpointing={checkpointing}",
            f"--accumulate={accumulate}", *further)


class MemoryMatrixTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        # Without generation, plans are made sooner. Each rank has one sample.
        self.text = harness.edited(harness.program("gpt"), ('nn.output "logits"', 'nn.output "scores"'), ("batch 3", "batch 1"))
        self.data = small_gpt.write_tokens("tokens.bin", 8)

    def check(self, number, ranks, combination):
        """Compiles and trains two steps; the report's bytes by kind, of which the sum is what each rank allocates."""
        self.compile(self.text, f"--report={number}.json", f"--ranks={ranks}", "--micro-batch=1", *combination, to=f"{number}.plan")
        memory = json.loads(Path(f"{number}.json").read_text())["memory"]
        kinds = {name: bytes for name, bytes in memory.items() if name not in ("peak", "unplanned", "gathered", "disk")}
        self.assertEqual(sum(kinds.values()), memory["peak"], combination)
        self.trainrun(f"{number}.plan", f"--nproc-per-node={ranks}", "--threads=1", "--data", self.data, "--steps=2",
                      "--metrics", f"{number}.jsonl")
        allocated = [line["peak_bytes"] for line in harness.metrics(f"{number}.jsonl")]
        self.assertEqual(allocated, [memory["peak"]] * 2, combination)
        return kinds

    def check_all(self, ranks, combinations):
        """The bytes by kind of each combination, some at a time."""
        with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
            kinds = pool.map(self.check, range(len(combinations)), itertools.repeat(ranks), combinations)
            return dict(zip(combinations, kinds))

    def test_every_combination_on_two_ranks(self):
        kinds = self.check_all(2, [options(*each) for each in itertools.product(STAGES, PRECISIONS, CHECKPOINTING, ACCUMULATE)])
        for stage, low, checkpointing, accumulate in itertools.product(STAGES, PRECISIONS[1:], CHECKPOINTING, ACCUMULATE):
            full, half = (kinds[options(stage, precision, checkpointing, accumulate)] for precision in ("fp32", low))
            # docs/sharding.md: T and T/2; T/2 and T/2; of what is not whole 3/4 T in place of T/2.
            copies = half["parameters"] / full["parameters"]
            least, most = [(1.5, 1.5), (1, 1), (1, 1), (1, 1.5)][stage]
            self.assertTrue(least <= copies <= most, (stage, copies))
            self.assertEqual(half["gradients"], full["gradients"])
            self.assertLess(half["activations"], full["activations"])

    def test_library_calls(self):
        self.check_all(2, [options(stage, precision, "selective", 2, "--library-calls=all")
                           for stage, precision in itertools.product(STAGES, PRECISIONS)])

    def test_offload(self):
        further = ("--offload=optimizer", "--offload-group=16KiB")
        self.check_all(2, [options(stage, precision, "selective", accumulate, *further, *to)
                           for stage, precision, accumulate, to in ((0, "bf16", 2, ()), (1, "fp32", 1, ("--offload-to=host",)), (3, "fp16", 2, ()))])

    def test_groups_of_two_of_four_ranks(self):
        self.check_all(4, [options(3, precision, "selective", 2, "--hybrid-shard=2") for precision in PRECISIONS])


if __name__ == "__main__":
    harness.main()
