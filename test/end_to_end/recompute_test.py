"""--activation-checkpointing: recomputation has the bits of the forward, and memory decreases."""

import json
import re
from pathlib import Path

import harness
import sharded_gpt
import small_gpt
from harness import TRAINC, edited, program


MODES = {
    "selective": ["--activation-checkpointing=selective"],
    "full": ["--activation-checkpointing=full"],
    # The first block keeps some ops inside, the others fewer; outside, cheap ops are recomputed as well.
    "some": ["--activation-checkpointing=full", "--checkpoint-keep=50,20", "--checkpoint-rest=selective"],
}


class RecomputeTest(harness.EndToEndTest):
    def train(self, text, name, *options, data, ranks=1):
        """The report's memory, and losses and norms of three steps, whose checkpoint is in the folder `name`."""
        plan = self.compile(text, f"--report={name}.json", *options, to=f"{name}.plan")
        processes = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        self.trainrun(plan, *processes, "--data", data, "--steps", "3", "--checkpoint-dir", name, "--metrics", f"{name}.jsonl")
        numbers = [(line["loss"], line["grad_norm"]) for line in harness.metrics(f"{name}.jsonl")]
        return json.loads(Path(f"{name}.json").read_text())["memory"], numbers

    def check(self, text, data, *options, least, modes=("selective", "full", "some"), **kwargs):
        """At least the share `least` of the activations is not kept by selective, and more by the others; all else is the same."""
        kept, expected = self.train(text, "none", *options, data=data, **kwargs)
        activations = kept.pop("activations")
        most = (1 - least) * activations
        for mode in modes:
            fewer, found = self.train(text, mode, *options, *MODES[mode], data=data, **kwargs)
            with self.subTest(mode):
                self.assertEqual(found, expected)
                self.assert_same_folder("none/step-00000003", f"{mode}/step-00000003")
                self.assertLess(fewer["activations"], most)
                self.assertLess(fewer["peak"], kept["peak"])
                # The runtime's data per instruction is part of the unplanned bytes, and the instructions differ.
                others = [kind for kind in kept if kind not in ("peak", "workspace", "unplanned", "gathered")]
                self.assertEqual({kind: fewer[kind] for kind in others}, {kind: kept[kind] for kind in others})
                self.assertAlmostEqual(fewer["unplanned"], kept["unplanned"], delta=0.005 * kept["unplanned"])

    def test_gpt_with_dropout(self):
        self.check(small_gpt.text(), small_gpt.write_tokens("tokens.bin", 40), least=0.15)

    def test_budget(self):
        """A limit between the memory of full and none is respected, with the same bits."""
        text, data = small_gpt.text(), small_gpt.write_tokens("tokens.bin", 40)
        none, expected = self.train(text, "none", data=data)
        full, _ = self.train(text, "full", *MODES["full"], data=data)
        limit = (none["peak"] + none["unplanned"] + full["peak"] + full["unplanned"]) // 2
        found, numbers = self.train(text, "budget", "--activation-checkpointing=budget", f"--memory-limit={limit}", data=data)
        self.assertEqual(numbers, expected)
        self.assert_same_folder("none/step-00000003", "budget/step-00000003")
        self.assertLessEqual(found["peak"] + found["unplanned"], limit)
        self.assertGreater(found["peak"], full["peak"])

    def test_a_budget_that_nothing_fits_into_advises_what_does(self):
        Path("gpt.mlir").write_text(small_gpt.text())
        self.compile(small_gpt.text(), "--report=none.json", to="none.plan")
        limit = json.loads(Path("none.json").read_text())["memory"]["unplanned"] + (64 << 10)
        budget = [TRAINC, "compile", "gpt.mlir", "-o", "gpt.plan", "--activation-checkpointing=budget"]
        err = self.fails([*budget, f"--memory-limit={limit}"], 2, "no plan fits into the memory limit")
        smallest, offload = re.search(r"the minimum limit is (\d+) bytes .*, offload more \((--offload=\S+)\)", err).groups()
        self.assertEqual(offload, "--offload=optimizer,parameters,activations")
        self.run_program(*budget, f"--memory-limit={smallest}")
        self.run_program(*budget, f"--memory-limit={int(smallest) - 1}", offload)
        for more in ([offload], ["--offload=none"]):
            self.assertNotIn("--offload", self.fails([*budget, f"--memory-limit={limit}", *more], 2, "the minimum limit is"))
        self.assertNotIn("--offload", self.fails([*budget, "--memory-limit=1MiB"], 2, "the minimum limit is"))

    def test_llama(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        self.check(program("llama"), data, "--micro-batch=2", "--accumulate=2", least=0.1)

    def check_rounded(self, text, *options):
        """Only rounded numbers are kept, also for recomputation."""
        self.check(text, small_gpt.write_tokens("tokens.bin", 40), *options, least=0.05)

    def test_gpt_in_bf16(self):
        self.check_rounded(small_gpt.text(), "--precision=bf16")

    def test_gpt_in_fp16(self):
        self.check_rounded(small_gpt.text(), "--precision=fp16")

    def test_llama_in_bf16(self):
        self.check_rounded(program("llama"), "--precision=bf16", "--micro-batch=2", "--accumulate=2")

    def test_llama_in_fp16(self):
        """With two samples the update, which unscales gradients, needs more memory than the kept activations."""
        self.check_rounded(program("llama"), "--precision=fp16", "--micro-batch=4", "--accumulate=2")

    def test_2_ranks(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        self.check(sharded_gpt.text(False), data, "--ranks=2", "--zero-stage=3", "--micro-batch=4", ranks=2, least=0.15)

    def instructions(self, text, *args):
        """A plan as text, without the report, which says where settings come from."""
        return self.trainc("dump", self.compile(text, *args))[0].partition("\nreport ")[0]

    def test_said_by_the_program(self):
        said = edited(program("gpt"), ("schedule constant", "schedule constant\n  activation_checkpointing selective"))
        recomputed = self.instructions(said)
        kept = self.instructions(said, "--activation-checkpointing=none")
        self.assertEqual(kept, self.instructions(program("gpt")))
        self.assertNotEqual(recomputed, kept)


if __name__ == "__main__":
    harness.main()
