"""Compiled models train on emulated GPUs as on the CPU, within what rounding allows, and with the same bits in every order.

With TRAINC_ALL_COMBINATIONS=1 (test/run.sh matrix) every model is trained in every precision and stage; else each of them once.
"""

import itertools
import json
import math
import re
from pathlib import Path

import emulated_gpus
import harness
import plan_cache
from harness import GOLDEN, metrics, relative_error

MODELS = ("mlp", "gpt", "llama")
# Sums in other orders (f32), and products whose factors or results are rounded at other places (bf16).
BOUNDS = {"fp32": 2e-5, "bf16": 2e-2, "fp16": 4e-3}
# Factors have 4 or 3 significant bits.
FP8_BOUND = 1e-2
ALL = harness.ALL_COMBINATIONS
STEPS = 3 if ALL else 2  # the second step is the first that reads states which a step on the GPU has written


class CudaModelsTest(harness.EndToEndTest):
    def compile_model(self, model, target, *options, source=None):
        source, plan, options = source or GOLDEN / model / f"{model}.mlir", f"{target}.plan", [*emulated_gpus.FOR_HERE[target], *options]
        plan_cache.compiled(harness.TRAINC, source, plan, options, lambda: self.trainc("compile", source, "-o", plan, *options))

    def train(self, model, target, run, *args, ranks=1, steps=STEPS, **variables):
        """(loss, norm) of each step; the last checkpoint is in the run's folder."""
        self.run_program(harness.TRAINRUN, f"{target}.plan", "--data", GOLDEN / model / "data.safetensors", "--seed=1", f"--steps={steps}",
                         f"--nproc-per-node={ranks}", "--checkpoint-dir", run, "--metrics", f"{run}.jsonl", *args,
                         env=emulated_gpus.environment(devices=ranks, **variables))
        return [number for line in metrics(f"{run}.jsonl") for number in (line["loss"], line["grad_norm"])]

    def check(self, model, *options, ranks=1, precision="fp32", source=None):
        options = [f"--precision={precision}", *([f"--ranks={ranks}"] if ranks > 1 else []), *options]
        for target in ("cpu", "cuda"):
            self.compile_model(model, target, *options, source=source)
        name = "-".join([model, *options]).replace("=", "-")
        expected = self.train(model, "cpu", f"{name}-cpu", ranks=ranks)
        runs = [f"{name}-{seed}" for seed in (1, 2)]
        for seed, run in enumerate(runs):
            actual = self.train(model, "cuda", run, ranks=ranks, seed=seed)
            self.assertLess(relative_error(actual, expected), BOUNDS[precision], name)
        self.assert_same_folder(*(f"{run}/step-{STEPS:08}" for run in runs))

    def test_every_model_in_every_precision(self):
        for model, precision in itertools.product(MODELS, BOUNDS) if ALL else zip(MODELS, ("fp16", "fp32", "bf16")):
            with self.subTest(model=model, precision=precision):
                self.check(model, precision=precision)

    def test_rows_of_unaligned_length(self):
        # Logits of 521 words have padding, which products write past and kernels read past.
        Path("odd.mlir").write_text(harness.edited(harness.program("gpt"), ("of 96 by 32", "of 521 by 32")))
        for precision, row in (("bf16", 1056), ("fp32", 2096)):
            with self.subTest(precision=precision):
                self.check("gpt", precision=precision, source="odd.mlir")
                text, _ = self.trainc("dump", "cuda.plan")
                self.assertIn(f"rows every {row} bytes", text)

    def test_states_and_activations_outside_the_gpu(self):
        """In pinned memory of the host, and on disk: the same bits as on the GPU."""
        for to, precision, ranks, states in (("host", "bf16", 1, "optimizer"), ("host", "fp32", 2, "optimizer,activations"), ("disk", "fp32", 1, "activations")):
            with self.subTest(to=to, precision=precision, ranks=ranks):
                runs = []
                for offload in ("none", states):
                    self.compile_model("gpt", "cuda", f"--precision={precision}", *([f"--ranks={ranks}", "--zero-stage=1"] if ranks > 1 else []),
                                       f"--offload={offload}", f"--offload-to={to}", "--offload-group=16KiB")
                    runs.append(f"{to}-{precision}-{offload}")
                    self.train("gpt", "cuda", runs[-1], ranks=ranks, seed=3)
                self.assert_same_folder(*(f"{run}/step-{STEPS:08}" for run in runs))
                text, _ = self.trainc("dump", "cuda.plan")
                self.assertEqual("activations" in states, f"arena {to}_scratch in {to}" in text)

    def test_updates_on_the_host(self):
        """The kernels of the host compute the bits of the GPU's, whatever else lies there."""
        sharded = ["--ranks=2", "--zero-stage=2"]
        narrow = [("optimizer", ["--precision=bf16"]), ("optimizer", ["--optimizer-states=bf16"])]
        for states, options in (*(narrow if ALL else narrow[:1]), ("optimizer,activations", sharded),
                                ("optimizer,gradients,parameters", ["--accumulate=2", "--micro-batch=2"])):
            with self.subTest(states=states, options=options):
                ranks, runs = 2 if options is sharded else 1, []
                for update in ("device", "host"):
                    self.compile_model("gpt", "cuda", f"--offload={states}", f"--offload-update={update}", "--offload-group=16KiB", *options)
                    runs.append("-".join([states, *options, update]))
                    self.train("gpt", "cuda", runs[-1], ranks=ranks, seed=5)
                    self.assertEqual(update == "host", " on host_compute" in self.trainc("dump", "cuda.plan")[0])
                self.assert_same_folder(*(f"{run}/step-{STEPS:08}" for run in runs))

    def test_blocks_computed_again(self):
        """The same bits as without it. (Checkpoints name the algorithms of all calls, which are more then.)"""
        for precision in ("fp32", "bf16"):
            with self.subTest(precision=precision):
                found = []
                for checkpointing in ("none", "full"):
                    self.compile_model("gpt", "cuda", f"--precision={precision}", f"--activation-checkpointing={checkpointing}", "--report=cuda.json")
                    run = f"{precision}-{checkpointing}"
                    numbers = self.train("gpt", "cuda", run, seed=4)
                    tensors = [Path(f"{run}/step-{STEPS:08}", f"{name}.safetensors").read_bytes() for name in ("model", "optimizer")]
                    found.append((numbers, tensors, json.loads(Path("cuda.json").read_text()).get("recomputed_flops_per_step", 0)))
                (*plain, none), (*again, some) = found
                self.assertTrue(plain == again)
                self.assertLess(none, some)

    def test_every_stage(self):
        for model, ranks, stages in (("mlp", 2, (1,)), ("gpt", 2, (0, 2)), ("llama", 2, (3,)), ("gpt", 4, (3,))):
            options = [f"--ranks={ranks}", f"--micro-batch={4 // ranks}"]
            self.compile_model(model, "cpu", *options)  # of stage 0, whose bits all stages have there
            expected = self.train(model, "cpu", f"{model}-{ranks}-cpu", ranks=ranks)
            for stage in range(4) if ALL else stages:
                with self.subTest(model=model, ranks=ranks, stage=stage):
                    self.compile_model(model, "cuda", f"--zero-stage={stage}", *options)
                    run = f"{model}-{ranks}-{stage}"
                    self.assertLess(relative_error(self.train(model, "cuda", run, ranks=ranks, seed=1), expected), BOUNDS["fp32"])
            self.train(model, "cuda", f"{run}-again", ranks=ranks, seed=2)
            self.assert_same_folder(f"{run}/step-{STEPS:08}", f"{run}-again/step-{STEPS:08}")

    def test_what_steps_are_made_of(self):
        self.check("gpt", "--accumulate=2", "--activation-checkpointing=selective")
        self.check("gpt", "--micro-batch=1", "--hybrid-shard=2", "--zero-stage=2", ranks=4)

    def test_gradients_are_epilogues(self):
        # In bf16 the gradient of a weight is in f32, and so are the side sums, including those of GELU's gradient.
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

    @harness.in_matrix
    def test_any_number_of_ranks(self):
        ranks = "--reproducible=ranks"
        for model, precision in (("mlp", "fp32"), ("gpt", "bf16")):
            tree = [ranks, f"--precision={precision}"]
            plans = [(1, "--accumulate=4", *tree), (2, "--accumulate=2", *tree), (4, "--zero-stage=3", *tree),
                     (4, *tree), (4, "--zero-stage=2", "--hybrid-shard=2", *tree)]
            self.assert_same_bits(model, *plans)
        self.assert_same_bits("mlp", (3, "--accumulate=2", ranks), (6, "--zero-stage=3", ranks))

    def test_any_number_of_ranks_is_what_cpus_promise(self):
        tree = ["--reproducible=ranks", "--micro-batch=1"]
        self.check("mlp", *tree, "--zero-stage=3", ranks=4)
        self.check("mlp", *tree, "--accumulate=2", ranks=3)

    @harness.in_matrix
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
        for model, precision in (("gpt", "bf16"), ("llama", "fp16"))[:2 if ALL else 1]:
            with self.subTest(model=model, precision=precision):
                self.compile_model(model, "cuda", f"--precision={precision}")
                self.assertEqual(self.calls_of_attention(), (True, False))
                self.check(model, "--library-calls=attention", precision=precision)
                self.assertEqual(self.calls_of_attention(), (True, True))
        self.compile_model("gpt", "cuda")
        self.assertEqual(self.calls_of_attention(), (False, False))

    def test_products_of_fp8(self):
        """Beside bf16's numbers, and with the same bits in every order, resumed and on two ranks."""
        fp8 = ["--precision=bf16", "--product-type=fp8"]
        self.compile_model("gpt", "cuda", fp8[0])
        expected = self.train("gpt", "cuda", "bf16")
        self.compile_model("gpt", "cuda", *fp8)
        whole = self.train("gpt", "cuda", "whole", seed=1)
        self.assertLess(relative_error(whole, expected), FP8_BOUND)
        self.assertNotEqual(whole, expected)
        self.train("gpt", "cuda", "parts", steps=STEPS - 1, seed=2)
        self.train("gpt", "cuda", "parts", "--resume", seed=3)
        self.assert_same_folder(f"whole/step-{STEPS:08}", f"parts/step-{STEPS:08}")
        states = harness.read_safetensors(f"whole/step-{STEPS:08}/optimizer.safetensors")
        scales = {name: tensor.values[0] for name, tensor in states.items() if name.startswith("fp8_scale.")}
        self.assertIn("fp8_scale.h.1.mlp.c_fc.gradient", scales)
        self.assertEqual({math.frexp(scale)[0] for scale in scales.values()}, {0.5}, "powers of two")
        for name, scale in scales.items():
            largest = max(states[name.replace("scale", "amax")].values)
            limit = 57344 if name.endswith(".gradient") else 448
            self.assertTrue(limit / 2 < largest / scale <= limit, (name, scale, largest))
        tree = ["--reproducible=ranks", *fp8]
        self.assert_same_bits("gpt", (1, "--accumulate=2", *tree), (2, "--zero-stage=3", *tree))

    def test_goes_on_with_the_same_bits(self):
        self.compile_model("gpt", "cuda", "--precision=bf16")
        self.train("gpt", "cuda", "whole", steps=4, seed=1)
        self.train("gpt", "cuda", "parts", steps=2, seed=2)
        self.train("gpt", "cuda", "parts", "--resume", steps=4, seed=3)
        self.assert_same_folder("whole/step-00000004", "parts/step-00000004")

    def measured(self, *options, ranks):
        """The compile report, the profile's rows and the trace's slices of a step of GPT on the first rank."""
        self.compile_model("gpt", "cuda", "--precision=bf16", "--library-calls=all", f"--ranks={ranks}", "--report=report.json", *options)
        self.train("gpt", "cuda", f"measured-{ranks}", "--profile=p.json", "--trace=t.json", "--trace-steps=1", ranks=ranks, memory=256 << 20)
        slices = [event for event in json.loads(Path("t.json").read_text()) if event["ph"] == "X" and event.get("cat") not in ("step", "wait", "predicted")]
        step = [event for event in slices if event["args"]["entry"] in ("begin_step", "micro_step", "last_micro_step", "update")]
        return json.loads(Path("report.json").read_text()), json.loads(Path("p.json").read_text()), step

    def test_what_was_predicted_is_beside_what_was_measured(self):
        report, profile, step = self.measured("--accumulate=2", ranks=1)
        seconds = sum(event["args"]["predicted_us"] for event in step) * 1e-6
        self.assertAlmostEqual(seconds / report["predicted_step_seconds"], 1, delta=1e-5)
        rows = [row for row in profile["rows"] if row["entry"] in {event["args"]["entry"] for event in step}]
        of_rows = sum(row["predicted_seconds"] for row in rows) / profile["steps"]
        self.assertAlmostEqual(of_rows / report["predicted_step_seconds"], 1, delta=1e-5)

    def test_every_kind_of_instruction_is_measured(self):
        _, profile, step = self.measured("--zero-stage=3", ranks=2)
        rows = profile["rows"]
        self.assertEqual({row["kind"] for row in rows}, {"products", "attention", "kernels", "moves", "communication"})
        names = {row["what"] for row in rows}
        self.assertEqual({"matrix product", "attention", "gradient of attention", "all-gather", "reduce-scatter", "wait for all-gather"} - names, set())
        rates = profile["rates"]
        for row in rows:
            with self.subTest(row=row):
                self.assertGreater(row["seconds"], 0)
                self.assertEqual(row["predicted_seconds"] is None, row["what"].startswith("wait for "))
                if row["kind"] == "communication":
                    self.assertIsNone(row["least_seconds"])
                    continue
                self.assertGreater(row["bytes"], 0)
                flops = rates["half_flops" if row["kind"] in ("products", "attention") else "f32_flops"]
                self.assertAlmostEqual(row["least_seconds"], max(row["bytes"] / rates["copied_bytes"], row["flops"] / flops))
                self.assertEqual(row["flops"] > 0, row["what"] in ("matrix product", "attention", "gradient of attention"))
        # Overlapping work on two streams counts once as busy.
        self.assertLess(0, profile["idle_seconds"])
        self.assertLess(profile["idle_seconds"], profile["step_seconds"])
        names = {event["tid"]: event["args"]["name"] for event in json.loads(Path("t.json").read_text()) if event["name"] == "thread_name"}
        self.assertEqual({names[event["tid"]] for event in step}, {"compute", "communication"})
        self.assertTrue(all(event["args"]["predicted_us"] > 0 for event in step))

    def test_a_gpu_on_a_data_sheet_has_an_mfu(self):
        for precision, peak in (("bf16", 989.4e12), ("fp32", None)):
            self.compile_model("gpt", "cuda", f"--precision={precision}", "--report=report.json")
            self.train("gpt", "cuda", precision, name="NVIDIA H100 80GB HBM3")
            flops = json.loads(Path("report.json").read_text())["flops_per_step"]
            for line in metrics(f"{precision}.jsonl"):
                if peak is None:
                    self.assertIsNone(line["mfu"])
                else:
                    self.assertAlmostEqual(line["mfu"] * line["step_seconds"] * peak / flops, 1)

    def test_a_plan_with_cudnns_gradient_says_once_which_gpu_it_needs(self):
        self.compile_model("gpt", "cuda", "--precision=bf16", "--gpu=h200")
        command = [harness.TRAINRUN, "cuda.plan", "--data", GOLDEN / "gpt" / "data.safetensors", "--steps=1"]
        out, _ = self.run_program(*command, "--device=null")
        self.assertIn("\nneeds a GPU of compute capability 9.0 to 10.3 (gradient of attention by cuDNN)\n", out)
        err = self.fails(command, 2, "found GPU 0 (emulated GPU 0) of 8.0; compile the model without --gpu, or with --gpu=a100, which leaves it to kernels",
                         env=emulated_gpus.environment(capability="8.0"))
        self.assertEqual(err.count("compute capability"), 1, err)

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
        self.assertRegex(err, r" 1\.00 MiB libraries, [\d.]+ KiB graphs and others")  # memory that the emulated library takes with its first product

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
        # A named GPU gets cuDNN's gradients of attention where they repeat their bits; the rates without a name are an H100's.
        self.assertEqual(seconds["h100-sxm"], self.predicted("--precision=bf16", "--library-calls=all"))
        self.assertLess(seconds["h100-sxm"], self.predicted("--precision=bf16"))
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

    def test_prices_unaligned_rows(self):
        def products():
            rows = [row for row in self.report("--precision=bf16")["costs"] if row["what"].startswith("matrix product")]
            return sum(row["count"] * row["seconds"] for row in rows)
        self.write_attention(1024)
        even = products()
        # Between ops rows have padding, and parameters have none: two of four products read rows of z.weight.
        self.write_attention(1025)
        self.assertGreater(products(), 1.1 * even)


if __name__ == "__main__":
    harness.main()
