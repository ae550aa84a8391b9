"""Compiled models train on emulated GPUs as on the CPU, within what rounding allows, and with the same bits in every order."""

import json
import re
from pathlib import Path

import emulated_gpus
import harness
from harness import GOLDEN, metrics, relative_error

MODELS = ("mlp", "gpt", "llama")
STEPS = 3
# Sums in other orders (f32), and products whose factors or results are rounded at other places (bf16).
BOUNDS = {"fp32": 2e-5, "bf16": 2e-2, "fp16": 4e-3}


class CudaModelsTest(harness.EndToEndTest):
    def compile_model(self, model, target, *options):
        self.trainc("compile", GOLDEN / model / f"{model}.mlir", "-o", f"{target}.plan", *emulated_gpus.FOR_HERE[target], *options)

    def train(self, model, target, run, *args, ranks=1, steps=STEPS, **variables):
        """(loss, norm) of each step; the last checkpoint is in the run's folder."""
        self.run_program(harness.TRAINRUN, f"{target}.plan", "--data", GOLDEN / model / "data.safetensors", "--seed=1", f"--steps={steps}",
                         f"--nproc-per-node={ranks}", "--checkpoint-dir", run, "--metrics", f"{run}.jsonl", *args,
                         env=emulated_gpus.environment(devices=ranks, **variables))
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

    def test_gradients_are_epilogues(self):
        # In bf16 the gradient of a weight is in f32, and so are the sums beside it: of GELU's gradient as well.
        expected = {"fp32": {"b transposed, gelu_tanh_gradient, sums of result (": 2, "a transposed, sums of b (": 2},
                    "bf16": {"b transposed, gelu_tanh_gradient (": 2, "a transposed, sums of b (": 4}}
        for precision, products in expected.items():
            self.compile_model("gpt", "cuda", f"--precision={precision}")
            text, _ = self.trainc("dump", "cuda.plan")
            self.assertEqual({product: text.count(product) for product in products}, products)

    def assert_same_bits(self, model, *plans):
        """Each plan's ranks and options: the losses, norms and checkpoints of all of them."""
        runs = []
        for seed, (ranks, *options) in enumerate(plans):
            self.compile_model(model, "cuda", f"--ranks={ranks}", "--micro-batch=1", *options)
            run = "-".join([model, str(ranks), *options])
            runs.append((self.train(model, "cuda", run, ranks=ranks, seed=seed), f"{run}/step-{STEPS:08}"))
        for plan, (numbers, folder) in zip(plans, runs):
            with self.subTest(model=model, plan=plan):
                self.assertEqual(numbers, runs[0][0])
                self.assert_same_folder(runs[0][1], folder)
        return runs[0][0]

    def test_any_number_of_ranks(self):
        ranks = "--reproducible=ranks"
        for model, precision in (("mlp", "fp32"), ("gpt", "bf16")):
            tree = [ranks, f"--precision={precision}"]
            self.assert_same_bits(model, (1, "--accumulate=4", *tree), (2, "--accumulate=2", *tree), (4, *tree), (4, "--zero-stage=3", *tree),
                                  (4, "--zero-stage=2", "--hybrid-shard=2", *tree))
            self.assert_same_bits(model, (3, "--accumulate=2", *tree), (3, "--zero-stage=3", "--accumulate=2", *tree), (6, "--zero-stage=3", *tree))

    def test_any_number_of_ranks_is_what_cpus_promise(self):
        tree = ["--reproducible=ranks", "--micro-batch=1"]
        self.check("mlp", *tree, "--zero-stage=3", ranks=4)
        self.check("mlp", *tree, "--accumulate=2", ranks=3)

    def test_groups_that_sum_in_bf16(self):
        """A group's sums stay f32, so stages have the same bits. Without groups NCCL rounds after each rank."""
        low = ["--precision=bf16", "--reduce-type=bf16"]
        groups = ["--hybrid-shard=2", *low]
        sums = self.assert_same_bits("gpt", *((4, f"--zero-stage={stage}", *groups) for stage in (1, 2, 3)))
        flat = self.assert_same_bits("gpt", (4, "--zero-stage=2", *low))
        self.assertLess(relative_error(sums, flat), 4e-3)
        self.check("gpt", "--micro-batch=1", "--zero-stage=3", *groups[:1], "--reduce-type=bf16", ranks=4, precision="bf16")

    def calls_of_attention(self):
        """Whether the last plan calls a library for attention, and for its gradient."""
        text, _ = self.trainc("dump", "cuda.plan")
        return ": attention batch" in text, ": gradient of attention batch" in text

    def test_attention_by_cudnn(self):
        for model, precision in (("gpt", "bf16"), ("llama", "fp16")):
            with self.subTest(model=model, precision=precision):
                self.compile_model(model, "cuda", f"--precision={precision}")
                self.assertEqual(self.calls_of_attention(), (True, False))
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

    def test_a_gpu_without_machine_code_takes_the_ptx(self):
        # The plan of all levels is the only one here that NVIDIA's own assembler has seen.
        for levels in ("all", "none"):
            self.trainc("compile", GOLDEN / "gpt" / "gpt.mlir", "-o", f"{levels}.plan", "--target=cuda", f"--gpu-levels={levels}", "--precision=bf16")
            self.train("gpt", levels, levels)
        self.assert_same_folder(*(f"{levels}/step-{STEPS:08}" for levels in ("all", "none")))
        objects = {levels: re.findall(r"^object (\S+)", self.trainc("dump", f"{levels}.plan")[0], re.MULTILINE) for levels in ("all", "none")}
        self.assertEqual(objects["none"], ["compute_80"])
        self.assertIn(objects["all"], (["compute_80"], ["sm_80", "sm_90", "sm_100", "compute_80"]))  # without ptxas, and with it

    def test_a_plan_says_what_it_reserves(self):
        self.compile_model("mlp", "cuda", "--reserve-memory=700MiB")
        _, err = self.run_program(harness.TRAINRUN, "cuda.plan", "--data", GOLDEN / "mlp" / "data.safetensors", "--steps=2",
                                  env=emulated_gpus.environment(memory=128 << 20))
        self.assertIn("for arenas and 188 MiB more for libraries and graphs", err)

    def report(self, *options):
        self.trainc("compile", "products.mlir", "-o", "cuda.plan", *emulated_gpus.FOR_HERE["cuda"], "--report=report.json", *options)
        return json.loads(Path("report.json").read_text())

    def predicted(self, *options):
        return self.report(*options)["predicted_step_seconds"]

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

    def write_attention(self, width):
        Path("products.mlir").write_text(f"""nn.model @m(%x: tensor<?x?x1024xf32>) {{
  %q = nn.linear "q" %x to 1024
  %y, %lse = nn.attention %q, %q, %q heads 16 causal
  %z = nn.linear "z" %y to {width}
  nn.loss "loss" %z
}}
train.program @p {{ model @m  optimizer sgd  batch 8 x 1024 }}
""")

    def test_predicts_by_the_gpu(self):
        self.write_attention(1024)
        seconds = {gpu: self.predicted("--precision=bf16", f"--gpu={gpu}") for gpu in ("a100", "h100-pcie", "h100-sxm", "h200")}
        self.assertEqual(sorted(seconds, key=seconds.get, reverse=True), list(seconds))
        self.assertEqual(seconds["h100-sxm"], self.predicted("--precision=bf16"))
        self.assertEqual(self.report("--gpu=a100")["machine"], {"name": "A100 SXM 80GB", "flops_per_second": 312e12})

    def attention(self, *options):
        rows = [row for row in self.report(*options)["costs"] if row["what"].startswith("attention") and row["flops"] > 0]
        return sum(row["count"] * row["seconds"] for row in rows), sum(row["count"] * row["flops"] for row in rows), rows

    def test_prices_attention_by_its_type_and_mask(self):
        self.write_attention(1024)
        seconds, flops, rows = self.attention("--precision=bf16")
        self.assertGreater(self.attention()[0], 2 * seconds)
        self.assertEqual({row["bound_by"] for row in rows}, {"work"})
        # 7 products of causal halves: 2 forward, 5 backward
        self.assertEqual(flops, 7 * 2 * 8 * 1024 * (1024 * 1025 / 2))

    def test_prices_rows_on_no_border(self):
        def products():
            rows = [row for row in self.report("--precision=bf16")["costs"] if row["what"].startswith("matrix_product")]
            return sum(row["count"] * row["seconds"] for row in rows)
        self.write_attention(1024)
        even = products()
        self.write_attention(1025)
        self.assertGreater(products(), 1.2 * even)


if __name__ == "__main__":
    harness.main()
