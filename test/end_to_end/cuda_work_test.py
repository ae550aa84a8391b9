"""Work after training on emulated GPUs, one or two, gives the same as on CPUs: evaluation, text, moved checkpoints, the op that made a NaN."""

from pathlib import Path

import emulated_gpus
import harness
from generate_test import LENGTH, write_cycle
from golden_runs import overflowing_weights
from harness import GOLDEN, TRAINRUN, edited, metrics, write_safetensors


class CudaWorkTest(harness.EndToEndTest):
    def compile_both(self, name, *edits, options=(), ranks=1):
        self.ranks = ranks
        options = [*([f"--ranks={ranks}"] if ranks > 1 else []), *options]
        for target in ("cpu", "cuda"):
            Path(f"{name}.mlir").write_text(edited(harness.program(name), *edits))
            self.trainc("compile", f"{name}.mlir", "-o", f"{target}.plan", *emulated_gpus.FOR_HERE[target], *options)

    def run_plan(self, target, *args, seed=1):
        return self.run_program(*self.command(target, *args), env=emulated_gpus.environment(seed=seed, devices=self.ranks))

    def command(self, target, *args):
        return [TRAINRUN, f"{target}.plan", f"--nproc-per-node={self.ranks}", *args]

    def check_work(self, name, *options, bound, ranks=1):
        self.compile_both(name, ("batch 3 x 16", "batch 24 x 16"), options=options, ranks=ranks)
        write_cycle("tokens.bin")
        data = ["--data-dtype=uint8", "--eval-data=tokens.bin"]
        self.run_plan("cpu", "--data=tokens.bin", "--data-dtype=uint8", "--steps=150", "--checkpoint-dir=run")
        losses, texts = {}, {}
        for target in ("cpu", "cuda"):
            self.run_plan(target, "--resume=run", *data, f"--metrics={target}.jsonl")
            losses[target] = metrics(f"{target}.jsonl")[-1]["eval_loss"]
            for tokens in (6, LENGTH + 3):  # within the context, and beyond it
                texts[target, tokens] = self.run_plan(target, "--resume=run", "--tokenizer=bytes", "--generate=!X", f"--max-tokens={tokens}",
                                                      "--temperature=0")[0]
        self.assertAlmostEqual(losses["cuda"], losses["cpu"], delta=bound)  # of logits near 10
        for tokens in (6, LENGTH + 3):
            self.assertEqual(texts["cuda", tokens], texts["cpu", tokens])
        self.assertNotEqual(texts["cpu", 6], texts["cpu", LENGTH + 3])

    def test_gpt(self):
        self.check_work("gpt", bound=1e-6)

    def test_llama_in_bf16_on_two_ranks(self):
        self.check_work("llama", "--precision=bf16", "--zero-stage=3", "--micro-batch=12", bound=2e-5, ranks=2)

    def test_several_texts(self):
        self.compile_both("llama", ("batch 3 x 16", "batch 24 x 16"), options=["--generate-batch=3"])
        write_cycle("tokens.bin")
        self.run_plan("cpu", "--data=tokens.bin", "--data-dtype=uint8", "--steps=150", "--checkpoint-dir=run")
        prompts = [f"--generate={prompt}" for prompt in ("!X", "A", "0123456789ABCDEF", "ZZZ")]
        texts = [self.run_plan(target, "--resume=run", "--tokenizer=bytes", *prompts, f"--max-tokens={LENGTH + 3}", "--temperature=0")[0]
                 for target in ("cpu", "cuda")]
        self.assertEqual(*texts)

    def test_an_overflow_is_traced_to_its_op(self):
        write_safetensors("huge.safetensors", overflowing_weights())
        for ranks, options in ((1, []), (2, ["--zero-stage=3", "--micro-batch=2"])):
            with self.subTest(ranks=ranks):
                self.compile_both("gpt", options=options, ranks=ranks)
                self.fails(self.command("cuda", "--data", GOLDEN / "gpt" / "data.safetensors", "--init=huge.safetensors", "--steps=3"), 1,
                           "step 1: the loss is nan", "h.1.mlp.c_proj", "gpt.mlir:12", "wrote inf to element",
                           env=emulated_gpus.environment(seed=2, devices=ranks))


if __name__ == "__main__":
    harness.main()
