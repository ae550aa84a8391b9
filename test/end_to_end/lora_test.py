"""Adapters (--lora) against PEFT's float64 numbers (test/golden/make_lora_goldens.py): gradients, ten AdamW steps, files in both directions."""

import array
import json
import re
import shutil
from pathlib import Path

import golden_numbers
import harness
from harness import GOLDEN, TRAINC, TRAINRUN, edited, read_safetensors, write_safetensors

# Golden model and options of each variant.
VARIANTS = {
    "gpt": ("gpt", ["--lora=c_attn,c_proj", "--lora-rank=4", "--lora-alpha=6"]),
    "gpt_rslora": ("gpt", ["--lora=mlp.c_fc", "--lora-alpha=5", "--lora-rslora=true"]),
    "llama": ("llama", ["--lora=all-linear", "--lora-rank=4"]),
    "llama_rslora": ("llama", ["--lora=q_proj,*v_proj", "--lora-rank=2", "--lora-alpha=3", "--lora-rslora=true", "--lora-modules-to-save=lm_head"]),
}
CONFIGS = {"gpt": {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, "llama": {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}}
PREFIX = "base_model.model."
LAST = "step-00000010"


def inputs(model):
    return GOLDEN / model / "inputs.safetensors"


def adapter(variant):
    return GOLDEN / "lora" / variant / "adapter"


def is_adapter(name):
    return ".lora_" in name


class LoraTest(harness.EndToEndTest):
    def train(self, variant, *args, plan="model.plan", init=True):
        model = VARIANTS[variant][0]
        weights = ["--init", inputs(model), "--init", adapter(variant)] if init else []
        return self.trainrun(plan, "--data", GOLDEN / model / "data.safetensors", *weights, "--no-shuffle", *args)

    def compile_variant(self, variant, *options, edits=()):
        model, lora = VARIANTS[variant]
        return self.compile(edited(harness.program(model), *edits), *lora, *options)

    def base_folder(self, model):
        """The golden model as Hugging Face has it."""
        Path("base").mkdir(exist_ok=True)
        shutil.copy(inputs(model), "base/model.safetensors")
        Path("base/config.json").write_text(json.dumps(CONFIGS[model]))
        return "base"

    def check_ten_steps(self, variant):
        golden = read_safetensors(GOLDEN / "lora" / variant / "golden.safetensors")
        self.compile_variant(variant)
        self.train(variant, "--checkpoint-dir=run", "--metrics=run.jsonl")
        lines = harness.metrics("run.jsonl")
        self.assert_close([lines[0]["loss"]], golden["loss"].values, golden_numbers.LOSS_BOUND, "loss")
        self.assert_close([line["loss"] for line in lines], golden["losses"].values, golden_numbers.CURVE_BOUND, "losses")
        self.assert_close([line["grad_norm"] for line in lines], golden["grad_norms"].values, golden_numbers.CURVE_BOUND, "grad_norms")
        final, before = read_safetensors(f"run/{LAST}/model.safetensors"), read_safetensors(inputs(VARIANTS[variant][0]))
        expected = golden_numbers.part(golden, "final")
        self.assertEqual(set(final), set(before) | set(expected))
        for name, tensor in final.items():
            if name in expected:
                self.assert_close(tensor.values, expected[name].values, golden_numbers.WEIGHTS_BOUND, name)
            else:
                self.assertTrue(tensor.values == before[name].values, f"{name} is frozen")
        optimizer = read_safetensors(f"run/{LAST}/optimizer.safetensors")
        self.assertEqual({name.removeprefix("exp_avg.") for name in optimizer if name.startswith("exp_avg.")}, set(expected))

    def check_gradients(self, variant):
        """With beta1 1/2 and no clipping, exp_avg after one step is half of the gradient, without any rounding."""
        expected = golden_numbers.part(read_safetensors(GOLDEN / "lora" / variant / "golden.safetensors"), "grad")
        self.compile_variant(variant, edits=[("beta1 0.9", "beta1 0.5"), ("  clip 1.0\n", "")])
        self.train(variant, "--steps=1", "--checkpoint-dir=run")
        optimizer = read_safetensors("run/step-00000001/optimizer.safetensors")
        for name, tensor in expected.items():
            average = optimizer["exp_avg." + name]
            self.assertEqual(average.shape, tensor.shape)
            self.assert_close(array.array("d", [2 * value for value in average.values]), tensor.values, golden_numbers.GRADIENT_BOUND, name)

    def check_export(self, variant):
        """The exported adapter has PEFT's names, and goes on as the checkpoint does; so does the model with the adapter in it."""
        model = VARIANTS[variant][0]
        plan = self.compile_variant(variant)
        self.train(variant, "--checkpoint-dir=run")
        base = self.base_folder(model)
        self.trainc("export", "run", "--like", base, "-o", "adapter")
        theirs = read_safetensors(adapter(variant) / "adapter_model.safetensors")
        ours = read_safetensors("adapter/adapter_model.safetensors")
        self.assertEqual({name: tensor.shape for name, tensor in ours.items()}, {name: tensor.shape for name, tensor in theirs.items()})
        expected = json.loads((adapter(variant) / "adapter_config.json").read_text())
        config = json.loads(Path("adapter/adapter_config.json").read_text())
        for key in ("peft_type", "task_type", "r", "lora_alpha", "use_rslora", "bias", "fan_in_fan_out", "modules_to_save", "inference_mode"):
            self.assertEqual(config[key], expected[key], key)
        self.assertEqual(config["base_model_name_or_path"], base)

        def loss(name, plan, *init):
            self.trainrun(plan, "--eval-data", GOLDEN / model / "data.safetensors", *init, "--metrics", f"{name}.jsonl")
            return harness.metrics(f"{name}.jsonl")[-1]["eval_loss"]

        trained = loss("checkpoint", plan, "--init=run")
        self.assertEqual(loss("adapter", plan, f"--init={base}", "--init=adapter"), trained)
        self.trainc("export", "run", "--like", base, "--merge", "-o", "merged")
        merged = read_safetensors("merged/model.safetensors")
        self.assertEqual(set(merged), set(read_safetensors(inputs(model))))
        whole = self.compile(harness.program(model), to="whole.plan")
        self.assert_close([loss("merged", whole, "--init=merged")], [trained], 1e-6, "loss of the merged model")
        self.check_merged(variant, merged)

    def check_merged(self, variant, merged):
        """Each merged weight is the weight and the scaled product, to the rounding of f32."""
        run, config = read_safetensors(f"run/{LAST}/model.safetensors"), json.loads(Path(f"run/{LAST}/adapter_config.json").read_text())
        rank = config["r"]
        scale = config["lora_alpha"] / (rank**0.5 if config["use_rslora"] else rank)
        for name in filter(lambda name: name.endswith("lora_A.weight"), run):
            layer = name.removesuffix(".lora_A.weight")
            a, b, weight = run[name], run[f"{layer}.lora_B.weight"], run[f"{layer}.weight"]
            inner, outer = a.shape[1], b.shape[0]
            expected = []
            for index, value in enumerate(weight.values):
                i, o = divmod(index, outer) if config["fan_in_fan_out"] else divmod(index, inner)[::-1]
                expected.append(value + scale * sum(b.values[o * rank + k] * a.values[k * inner + i] for k in range(rank)))
            self.assert_close(merged[f"{layer}.weight"].values, expected, 1e-7, layer)

    def test_resume_in_mid_run(self):
        """Ten steps equal four steps and a resumption in every byte, with dropout and accumulation."""
        self.compile_variant("llama", "--lora-dropout=0.3", "--accumulate=3", "--micro-batch=1")
        self.train("llama", "--checkpoint-dir=whole", "--seed=5")
        self.train("llama", "--checkpoint-dir=half", "--seed=5", "--steps=4")
        self.train("llama", "--checkpoint-dir=half", "--resume", init=False)
        self.assert_same_folder(f"whole/{LAST}", f"half/{LAST}")

    def test_two_ranks(self):
        """ZeRO 3 on two ranks, of which each takes half of the samples: the same numbers as one rank."""
        self.compile_variant("llama", "--micro-batch=2", "--accumulate=1")
        self.train("llama", "--steps=5", "--checkpoint-dir=one", "--metrics=one.jsonl")
        self.compile_variant("llama", "--micro-batch=1", "--accumulate=1", "--ranks=2", "--zero-stage=3")
        self.train("llama", "--steps=5", "--checkpoint-dir=two", "--metrics=two.jsonl", "--nproc-per-node=2")
        self.assert_close([line["loss"] for line in harness.metrics("two.jsonl")], [line["loss"] for line in harness.metrics("one.jsonl")], 1e-5, "losses")
        one, two = (read_safetensors(f"{run}/step-00000005/model.safetensors") for run in ("one", "two"))
        self.assertEqual(set(one), set(two))
        for name, tensor in one.items():
            self.assert_close(two[name].values, tensor.values, golden_numbers.WEIGHTS_BOUND, name)

    def test_recomputation_and_offload_change_no_bits(self):
        """Dropped inputs of adapters are drawn again as they were."""
        dropout = ["--lora-dropout=0.3"]
        self.compile_variant("gpt", *dropout)
        self.train("gpt", "--steps=3", "--checkpoint-dir=plain", "--seed=5")
        for name, option in [("full", "--activation-checkpointing=full"), ("selective", "--activation-checkpointing=selective"), ("disk", "--offload=optimizer")]:
            self.compile_variant("gpt", *dropout, option)
            self.train("gpt", "--steps=3", "--checkpoint-dir", name, "--seed=5")
            for file in ("model", "optimizer"):
                same = Path("plain/step-00000003", f"{file}.safetensors").read_bytes() == Path(name, "step-00000003", f"{file}.safetensors").read_bytes()
                self.assertTrue(same, f"{file} with {option}")

    def test_bf16_follows_fp32(self):
        golden = read_safetensors(GOLDEN / "lora" / "gpt" / "golden.safetensors")
        self.compile_variant("gpt", "--precision=bf16")
        self.train("gpt", "--metrics=run.jsonl")
        self.assert_close([line["loss"] for line in harness.metrics("run.jsonl")][:5], golden["losses"].values[:5], 1e-2, "losses")

    def test_memory_is_planned(self):
        """Frozen parameters have neither gradients nor moments; what is planned is allocated."""
        self.compile_variant("llama", "--report=report.json")
        report = json.loads(Path("report.json").read_text())
        trained = read_safetensors(adapter("llama") / "adapter_model.safetensors")
        count = sum(len(tensor.values) for tensor in trained.values())
        self.assertEqual(report["parameters"], count + sum(len(tensor.values) for tensor in read_safetensors(inputs("llama")).values()))
        self.assertLess(report["memory"]["optimizer"], 1.2 * 8 * count)
        self.assertGreaterEqual(report["memory"]["optimizer"], 8 * count)
        self.train("llama", "--steps=2", "--metrics=run.jsonl")
        self.assertEqual([line["peak_bytes"] for line in harness.metrics("run.jsonl")], 2 * [report["memory"]["peak"]])

    def test_a_new_adapter_changes_nothing(self):
        """Its second matrix is zero, so a base model without an adapter computes as before."""
        plan = self.compile(harness.program("gpt"), to="whole.plan")
        self.trainrun(plan, "--eval-data", GOLDEN / "gpt" / "data.safetensors", "--init", inputs("gpt"), "--metrics=whole.jsonl")
        plan = self.compile_variant("gpt")
        _, err = self.trainrun(plan, "--eval-data", GOLDEN / "gpt" / "data.safetensors", "--init", inputs("gpt"), "--metrics=new.jsonl")
        self.assertIn("the adapter is a new one, as no file has one", err)
        self.assertEqual(*(harness.metrics(f"{name}.jsonl")[-1]["eval_loss"] for name in ("whole", "new")))

    def test_generation(self):
        """With the adapter from a checkpoint, and without it from the same one."""
        self.compile_variant("llama")
        self.train("llama", "--checkpoint-dir=run")
        text = ["--generate=0 1 2", "--temperature=0", "--max-tokens=4"]
        base = self.base_folder("llama")
        self.trainc("export", "run", "--like", base, "--merge", "-o", "merged")
        self.compile(harness.program("llama"), to="whole.plan")
        tokens = [self.trainrun(plan, init, *text, *more, "--tokenizer=bytes", "--generated=text.jsonl") and Path("text.jsonl").read_text()
                  for plan, init, *more in [("model.plan", "--init=run"), ("whole.plan", "--init=merged"),
                                            ("whole.plan", "--init=run", "--init-ignore=*.lora_*"), ("whole.plan", f"--init={base}")]]
        found = [json.loads(text)["tokens"] for text in tokens]
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[2], found[3])
        self.assertNotEqual(found[0], found[2])

    def test_files_that_do_not_fit(self):
        data = ["--data", GOLDEN / "llama" / "data.safetensors"]
        whole = self.compile(harness.program("llama"), to="whole.plan")
        self.fails([TRAINRUN, whole, *data, "--init", inputs("llama"), "--init", adapter("llama")], 2,
                   "the file has an adapter, and the plan has none: compile with --lora=LAYERS", "--init-ignore='*.lora_*' leaves the adapter out")
        plan = self.compile_variant("llama", "--lora-alpha=16")
        self.fails([TRAINRUN, plan, *data, "--init", inputs("llama"), "--init", adapter("llama")], 2,
                   "expected an adapter of rank 4 and scale 4, as in the plan, found rank 4 and scale 2; compile with --lora-rank=4 --lora-alpha=8")
        shutil.copytree(adapter("llama"), "dora")
        config = json.loads(Path("dora/adapter_config.json").read_text())
        Path("dora/adapter_config.json").write_text(json.dumps({**config, "use_dora": True}))
        self.fails([TRAINRUN, plan, *data, "--init", inputs("llama"), "--init=dora"], 2, 'dora/adapter_config.json: "use_dora": true computes something else')
        tensors = read_safetensors(adapter("llama") / "adapter_model.safetensors")
        tensors.pop(f"{PREFIX}model.layers.0.mlp.up_proj.lora_B.weight")
        write_safetensors("part.safetensors", tensors)
        self.fails([TRAINRUN, plan, *data, "--init", inputs("llama"), "--init=part.safetensors"], 2, "model.layers.0.mlp.up_proj.lora_B.weight")

    def test_adapters_without_their_weights(self):
        """An adapter alone, in a format that is not read, or made for changed weights."""
        data = ["--data", GOLDEN / "llama" / "data.safetensors"]
        plan = self.compile_variant("llama")
        self.fails([TRAINRUN, plan, *data, "--init", adapter("llama")], 2, "this is an adapter alone: name the base model's folder, too: --init=BASE --init=")
        shutil.copytree(adapter("llama"), "pissa")
        config = json.loads(Path("pissa/adapter_config.json").read_text())
        Path("pissa/adapter_config.json").write_text(json.dumps({**config, "init_lora_weights": "pissa_niter_4"}))
        self.fails([TRAINRUN, plan, *data, "--init", inputs("llama"), "--init=pissa"], 2, 'pissa/adapter_config.json: "init_lora_weights": "pissa_niter_4" changes the base',
                   "path_initial_model_for_weight_conversion")
        Path("torch").mkdir()
        Path("torch/adapter_model.bin").write_bytes(b"PK")
        self.fails([TRAINRUN, plan, *data, "--init", inputs("llama"), "--init=torch"], 2, "torch: expected an adapter_model.safetensors in this folder, found adapter_model.bin")

    def test_a_drawn_head_that_is_frozen(self):
        tensors = read_safetensors(inputs("llama"))
        tensors.pop("lm_head.weight")
        write_safetensors("body.safetensors", tensors)
        run = ["--data", GOLDEN / "llama" / "data.safetensors", "--init=body.safetensors", "--init-missing=lm_head.*", "--steps=1"]
        text = "lm_head.weight was drawn anew, and the adapters leave it as it is; to train it, compile with --lora-modules-to-save=lm_head"
        self.assertIn(text, self.trainrun(self.compile_variant("llama"), *run)[1])
        self.assertNotIn("leave it as it is", self.trainrun(self.compile_variant("llama", "--lora-modules-to-save=lm_head"), *run)[1])

    def test_consolidated_adapters_keep_their_scale(self):
        self.compile_variant("gpt_rslora")
        self.train("gpt_rslora", "--steps=1", "--checkpoint-dir=run")
        Path("one").mkdir()
        self.trainc("consolidate", "run", "-o", "one/weights.safetensors")
        self.assertEqual(Path("one/adapter_config.json").read_bytes(), Path("run/step-00000001/adapter_config.json").read_bytes())
        self.trainc("export", "one/weights.safetensors", "--like", self.base_folder("gpt"), "--merge", "-o", "merged")
        Path("one/adapter_config.json").write_text("{}")
        self.fails([TRAINC, "consolidate", "run", "-o", "one/weights.safetensors"], 2, "one/adapter_config.json: expected no file, or that of run/step-00000001/adapter_config.json")
        Path("one/adapter_config.json").unlink()
        shutil.copy("one/weights.safetensors", "weights.safetensors")
        self.fails([TRAINC, "export", "weights.safetensors", "--like=base", "--merge", "-o", "out"], 2, "error: .: the weights have adapters, whose scale is in an adapter_config.json")

    def test_export_of_rounded_parameters(self):
        """Parameters of the checkpoint are those of the base model, rounded; the adapter has their type."""
        self.compile_variant("gpt", "--precision=bf16", "--param-type=bf16")
        self.train("gpt", "--steps=1", "--checkpoint-dir=run")
        self.trainc("export", "run", "--like", self.base_folder("gpt"), "-o", "out")
        kinds = {tensor.dtype for tensor in read_safetensors("out/adapter_model.safetensors").values()}
        self.assertEqual(kinds, {"BF16"})

    def test_exports_that_an_adapter_cannot_hold(self):
        """Parameters trained beside the adapter, classes with other names, and an embedding that is also the head."""
        base = self.base_folder("gpt")
        export = [TRAINC, "export", "run", "-o", "out"]
        self.compile_variant("gpt", edits=[("  clip 1.0\n", '  clip 1.0\n  group "*.bias" trained\n')])
        self.train("gpt", "--steps=1", "--checkpoint-dir=run")
        self.fails([*export, "--like", base], 2, re.compile(r"--like=base\S*: expected parameter '\S+\.bias' of the checkpoint, which the adapter leaves out, with the same numbers, found others"),
                   "export the whole model with --merge")
        self.trainc(*map(str, export[1:]), "--like", base, "--merge")
        shutil.rmtree("out")
        shutil.rmtree("run")
        self.compile_variant("gpt", "--lora-modules-to-save=wte")
        self.train("gpt", "--steps=1", "--checkpoint-dir=run")
        self.fails([*export, "--like", base], 2, "the head of GPT2LMHeadModel is the embedding, which was trained (modules_to_save)", "--merge")
        shutil.rmtree("run")
        self.compile_variant("gpt")
        self.train("gpt", "--steps=1", "--checkpoint-dir=run")
        self.trainc(*export[1:], "--like=base/model.safetensors")
        config = json.loads(Path("out/adapter_config.json").read_text())
        self.assertEqual((config["task_type"], config["base_model_name_or_path"]), ("CAUSAL_LM", "base"))
        self.assertIn(f"{PREFIX}transformer.h.0.attn.c_attn.lora_A.weight", read_safetensors("out/adapter_model.safetensors"))
        shutil.rmtree("out")
        Path("base/config.json").write_text(json.dumps({"architectures": ["Gemma3ForConditionalGeneration"], "text_config": {}}))
        self.fails([*export, "--like", base], 2, "--like=base: expected a model of text alone, found Gemma3ForConditionalGeneration", "--merge")
        self.assertFalse(Path("out").exists())

    def test_exports_that_do_not_fit(self):
        base = self.base_folder("llama")
        export = [TRAINC, "export", "--like", base, "-o", "out"]
        self.fails([*export, base, "--merge"], 2, "--merge: expected a checkpoint of a run with adapters (--lora), found none in base")
        self.compile_variant("llama")
        self.train("llama", "--steps=1", "--checkpoint-dir=run")
        self.fails([TRAINC, "export", "run", "--like", base, "-o", "out.gguf"], 2, "a GGUF file of a model cannot hold the adapter", "give --merge, too")
        self.base_folder("gpt")
        self.fails([*export, "run"], 2, "--like=base/model.safetensors: expected the base model of the adapter, with 'model.layers.0.")
        Path("run/step-00000001/adapter_config.json").unlink()
        self.fails([*export, "run", "--merge"], 2, "the weights have adapters, whose scale is in an adapter_config.json")
        self.assertFalse(Path("out").exists())


def add_tests():
    for variant in VARIANTS:
        mark = harness.in_matrix if variant in ("gpt_rslora", "llama") else lambda test: test
        for what in ("ten_steps", "gradients", "export"):
            setattr(LoraTest, f"test_{variant}_{what}", mark(lambda self, variant=variant, what=what: getattr(self, f"check_{what}")(variant)))


add_tests()

if __name__ == "__main__":
    harness.main()
