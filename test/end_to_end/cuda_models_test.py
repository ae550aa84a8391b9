"""Compiled models train on emulated GPUs as on the CPU, within what rounding allows, and with the same bits in every order."""

import json
import os
from pathlib import Path

import harness
from harness import GOLDEN, metrics, relative_error

EMULATORS = str(Path(os.environ.get("BUILD_FOLDER", harness.ROOT / "build"), "test", "emulator", "lib"))
MODELS = ("mlp", "gpt", "llama")
STEPS = 3
# Sums in other orders (f32), and products whose factors or results are rounded at other places (bf16).
BOUNDS = {"fp32": 2e-5, "bf16": 2e-2, "fp16": 4e-3}


class CudaModelsTest(harness.EndToEndTest):
    def compile_model(self, model, target, *options):
        self.trainc("compile", GOLDEN / model / f"{model}.mlir", "-o", f"{target}.plan", f"--target={target}",
                    *(["--cpu=native"] if target == "cpu" else []), *options)

    def train(self, model, target, run, *args, ranks=1, steps=STEPS, **variables):
        """(loss, norm) of each step; the last checkpoint is in the run's folder."""
        emulator = {f"TRAINC_EMULATOR_{name.upper()}": str(value) for name, value in variables.items()}
        environment = dict(os.environ, LD_LIBRARY_PATH=EMULATORS, TRAINC_EMULATOR_DEVICES=str(ranks), **emulator)
        self.run_program(harness.TRAINRUN, f"{target}.plan", "--data", GOLDEN / model / "data.safetensors", "--seed=1", f"--steps={steps}",
                         f"--nproc-per-node={ranks}", "--checkpoint-dir", run, "--metrics", f"{run}.jsonl", *args, env=environment)
        return [number for line in metrics(f"{run}.jsonl") for number in (line["loss"], line["grad_norm"])]

    def check(self, model, *options, ranks=1, precision="fp32"):
        options = [f"--precision={precision}", *([f"--ranks={ranks}"] if ranks > 1 else []), *options]
        for target in ("cpu", "cuda"):
            self.compile_model(model, target, *options)
        name = "-".join([model, *options]).replace("=", "-")
        expected = self.train(model, "cpu", f"{name}-cpu", ranks=ranks)
        runs = [f"{name}-{seed}" for seed in (1, 2)]
        for seed, run in enumerate(runs):
            actual = self.train(model, "cuda", run, ranks=ranks, seed=seed)
            self.assertLess(relative_error(actual, expected), BOUNDS[precision], name)
        self.assert_same_folder(*(f"{run}/step-{STEPS:08}" for run in runs))

    def test_every_model_in_every_precision(self):
        for model in MODELS:
            for precision in BOUNDS:
                with self.subTest(model=model, precision=precision):
                    self.check(model, precision=precision)

    def test_every_stage(self):
        for model, ranks in (("mlp", 2), ("gpt", 2), ("llama", 4)):
            for stage in range(4):
                with self.subTest(model=model, ranks=ranks, stage=stage):
                    self.check(model, f"--zero-stage={stage}", "--micro-batch=1" if ranks == 4 else "--micro-batch=2", ranks=ranks)

    def test_what_steps_are_made_of(self):
        self.check("gpt", "--accumulate=2", "--activation-checkpointing=selective")
        self.check("gpt", "--micro-batch=1", "--hybrid-shard=2", "--zero-stage=2", ranks=4)

    def calls_of_attention(self):
        """Whether the last plan calls a library for attention, and for its gradient."""
        text, _ = self.trainc("dump", "cuda.plan")
        return ": attention batch" in text, ": gradient of attention batch" in text

    def test_attention_by_cudnn(self):
        for model in ("gpt", "llama"):
            self.compile_model(model, "cuda", "--precision=bf16")
            self.assertEqual(self.calls_of_attention(), (True, False))
            for precision in ("bf16", "fp16"):
                with self.subTest(model=model, precision=precision):
                    self.check(model, "--library-calls=attention", precision=precision)
                    self.assertEqual(self.calls_of_attention(), (True, True))
        self.compile_model("gpt", "cuda")
        self.assertEqual(self.calls_of_attention(), (False, False))

    def test_goes_on_with_the_same_bits(self):
        self.compile_model("gpt", "cuda", "--precision=bf16")
        self.train("gpt", "cuda", "whole", steps=4, seed=1)
        self.train("gpt", "cuda", "parts", steps=2, seed=2)
        self.train("gpt", "cuda", "parts", "--resume", steps=4, seed=3)
        self.assert_same_folder("whole/step-00000004", "parts/step-00000004")

    def predicted(self, *options):
        self.trainc("compile", "products.mlir", "-o", "cuda.plan", "--target=cuda", "--report=report.json", *options)
        return json.loads(Path("report.json").read_text())["predicted_step_seconds"]

    def test_predicts_by_the_rate_of_each_type(self):
        Path("products.mlir").write_text("""nn.model @m(%x: tensor<?x4096xf32>) {
  %y = nn.linear "fc" %x to 4096
  nn.loss "loss" %y
}
train.program @p { model @m  optimizer sgd  batch 4096 }
""")
        fp32, tf32, bf16 = self.predicted(), self.predicted("--fp32-products=tf32"), self.predicted("--precision=bf16")
        self.assertGreater(fp32, 2 * tf32)
        self.assertGreater(tf32, bf16)


if __name__ == "__main__":
    harness.main()
