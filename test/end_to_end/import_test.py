"""`trainc import`: tiny models of every family against transformers' float64 numbers (test/golden/import, make_import_goldens.py)."""

import json
import shutil
import struct
import sys
from pathlib import Path

import harness
from harness import GOLDEN, TRAINC, Tensor, read_safetensors, write_safetensors

sys.path.append(str(GOLDEN))
import import_weights  # noqa: E402

# Relative to the largest number, or to the norm of a gradient.
LOSS_BOUND, CURVE_BOUND, GRADIENT_BOUND = 1e-6, 1e-5, 1e-5

PROGRAM = """train.program @finetune {
  model @%s
  optimizer adamw(lr 1e-2, beta1 0.5, beta2 0.95, eps 1e-8, weight_decay 0.1)
  schedule constant
  batch 2 x 48
  steps 5
}
"""

FIRST_CHARACTER = 0x4E00  # the character of token 0


def numbers_of(name):
    return json.loads((GOLDEN / "import" / f"{name}.json").read_text())


def name_on_disk(family, name):
    """The name of a tensor in files, where the classes of transformers 5 have another. GPT-2's files may lack the prefix."""
    if family == "gpt_neox" and name == "lm_head.weight":
        return "embed_out.weight"
    return name.removeprefix("transformer.") if family == "gpt2" else name


def write_folder(folder, numbers):
    """A folder as Hugging Face writes it: config, weights, and a tokenizer with one character for each token."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(numbers["config"]))
    family = numbers["config"]["model_type"]
    write_safetensors(folder / "model.safetensors",
                      {name_on_disk(family, name): Tensor("F32", entry["shape"], import_weights.weights(family, name, entry["shape"]))
                       for name, entry in numbers["gradients"].items()})
    vocabulary = {chr(FIRST_CHARACTER + token): token for token in range(import_weights.VOCABULARY)}
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
                                                       "post_processor": None, "decoder": {"type": "Fuse"},
                                                       "model": {"type": "BPE", "unk_token": chr(FIRST_CHARACTER), "vocab": vocabulary, "merges": []}}))


def write_data(path):
    rows = import_weights.tokens()
    shape = [len(rows), import_weights.LENGTH]
    write_safetensors(path, {"tokens": Tensor("I32", shape, [token for row in rows for token in row[:-1]]),
                             "labels": Tensor("I32", shape, [token for row in rows for token in row[1:]])})


def float_of_bf16(bits):
    return struct.unpack("f", struct.pack("I", bits << 16))[0]


class ImportTestCase(harness.EndToEndTest):
    def imported(self, numbers):
        """The text of an imported model, with the program of the golden numbers."""
        write_folder(Path("model"), numbers)
        self.trainc("import", "model", "-o", "model.mlir")
        text = Path("model.mlir").read_text()
        start = text.index("train.program")
        return text[:start] + PROGRAM % numbers["config"]["model_type"]

    def run_steps(self, plan, *arguments):
        self.trainrun(plan, "--data", "data.safetensors", "--init", "model", "--no-shuffle", "--metrics", "run.jsonl", *arguments)
        return [line["loss"] for line in harness.metrics("run.jsonl") if "loss" in line]


class ImportTest(ImportTestCase):
    def check_family(self, name):
        numbers = numbers_of(name)
        write_data("data.safetensors")
        plan = self.compile(self.imported(numbers))
        losses = self.run_steps(plan)
        self.assert_close(losses[:1], numbers["losses"][:1], LOSS_BOUND, "loss")
        self.assert_close(losses, numbers["losses"], CURVE_BOUND, "losses")

        # With beta1 1/2, exp_avg after one step is half of the gradient, without any rounding.
        self.run_steps(plan, "--steps", "1", "--checkpoint-dir", "run")
        optimizer = read_safetensors("run/step-00000001/optimizer.safetensors")
        averages = {key.removeprefix("exp_avg."): value for key, value in optimizer.items() if key.startswith("exp_avg.")}
        family = numbers["config"]["model_type"]
        expected_gradients = {name_on_disk(family, key): (key, expected) for key, expected in numbers["gradients"].items()}
        self.assertEqual(set(averages), set(expected_gradients))
        largest_norm = max(expected["norm"] for _, expected in expected_gradients.values())
        for name, (key, expected) in expected_gradients.items():
            average = averages[name]
            self.assertEqual(average.shape, expected["shape"])
            sums = import_weights.projections(key, [2 * value for value in average.values])
            largest = max(abs(a - b) for a, b in zip(sums, expected["projections"]))
            # The bias of keys without rotary positions has no gradient: it shifts all scores of a query alike.
            self.assertLess(largest, GRADIENT_BOUND * max(expected["norm"], 1e-2 * largest_norm), key)

        prompt = "".join(chr(FIRST_CHARACTER + token) for token in import_weights.PROMPT)
        out, _ = self.trainrun(plan, "--init", "model", "--tokenizer", "model", f"--generate={prompt}", "--temperature=0",
                               "--max-tokens", import_weights.GENERATED)
        generated = [ord(character) - FIRST_CHARACTER for character in out.strip().removeprefix(prompt)]
        self.assertEqual(generated, numbers["tokens"])


class StrategiesTest(ImportTestCase):
    """Imported models train the same on ranks and with recomputation, and nearly so in bf16."""

    FAMILIES = ["gemma3", "gpt_neox", "phi3_longrope", "qwen3"]

    def losses(self, name, *options):
        plan = self.compile(self.imported(numbers_of(name)), *options)
        ranks = ["--nproc-per-node=2"] if "--ranks=2" in options else []
        losses = self.run_steps(plan, *ranks)
        shutil.rmtree("model")
        return losses

    def setUp(self):
        super().setUp()
        write_data("data.safetensors")

    def test_two_ranks_that_shard_parameters(self):
        for name in self.FAMILIES:
            self.assert_close(self.losses(name, "--ranks=2", "--zero-stage=3", "--micro-batch=1"), numbers_of(name)["losses"], CURVE_BOUND, name)

    def test_full_recomputation(self):
        for name in self.FAMILIES:
            self.assert_close(self.losses(name, "--activation-checkpointing=full"), numbers_of(name)["losses"], CURVE_BOUND, name)

    def test_bf16(self):
        for name in self.FAMILIES:
            losses = self.losses(name, "--precision=bf16")
            self.assert_close(losses, numbers_of(name)["losses"], 2e-2, name)
            self.assertNotEqual(losses[0], self.losses(name)[0])

    def test_compiles_for_gpus(self):
        for name in self.FAMILIES:
            self.trainc("compile", self.write(self.imported(numbers_of(name))), "--target=cuda", "--precision=bf16", "-o", "gpu.plan")
            shutil.rmtree("model")

    def write(self, text):
        Path("text.mlir").write_text(text)
        return "text.mlir"


class ExportTest(ImportTestCase):
    """`trainc export`: a checkpoint as the folder that the run began with."""

    def trained(self, name="llama"):
        """A checkpoint of one step from the folder `model`."""
        write_data("data.safetensors")
        self.plan = self.compile(self.imported(numbers_of(name)))
        self.run_steps(self.plan, "--steps", "1", "--checkpoint-dir", "run")
        return read_safetensors("run/step-00000001/model.safetensors")

    def evaluated(self, *arguments):
        _, err = self.trainrun(self.plan, "--eval-data", "data.safetensors", *arguments)
        return [line for line in err.splitlines() if "eval" in line][-1].split("loss")[1]

    def test_folder(self):
        weights = self.trained()
        Path("model/generation_config.json").write_text('{"eos_token_id": 7}')
        Path("model/chat_template.jinja").write_text("{{ messages }}")
        Path("model/pytorch_model.bin").write_bytes(b"old")
        _, err = self.trainc("export", "run", "--like=model", "-o", "tuned")
        self.assertIn("wrote tuned: the weights of run/step-00000001 as model has them", err)
        written = read_safetensors("tuned/model.safetensors")
        self.assertEqual({name: list(tensor.values) for name, tensor in written.items()}, {name: list(tensor.values) for name, tensor in weights.items()})
        self.assertEqual(sorted(path.name for path in Path("tuned").iterdir()),
                         ["chat_template.jinja", "config.json", "generation_config.json", "model.safetensors", "tokenizer.json"])
        for name in ["config.json", "tokenizer.json", "chat_template.jinja"]:
            self.assertEqual(Path("tuned", name).read_bytes(), Path("model", name).read_bytes())
        self.assertEqual(self.evaluated("--init=tuned"), self.evaluated("--resume=run"))

    def test_forms_of_the_weights(self):
        """Other names, types and files, a buffer, and a copy of the tied embedding."""
        weights = self.trained()
        tensors = read_safetensors("model/model.safetensors")
        Path("model/model.safetensors").unlink()
        halves = {name.removeprefix("model."): Tensor("BF16", tensor.shape, [0] * len(tensor.values)) for name, tensor in tensors.items()}
        halves["lm_head.weight"] = halves["embed_tokens.weight"]
        halves["layers.0.self_attn.rotary_emb.inv_freq"] = Tensor("F32", [4], [1.0, 0.5, 0.25, 0.125])
        names = sorted(halves)
        parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
        for file, part in parts.items():
            write_safetensors(f"model/{file}", {name: halves[name] for name in part})
        Path("model/model.safetensors.index.json").write_text(json.dumps({"weight_map": {name: file for file, part in parts.items() for name in part}}))
        self.trainc("export", "run/step-00000001", "--like=model", "-o", "tuned")
        for file, part in parts.items():
            written = read_safetensors(f"tuned/{file}")
            self.assertEqual(sorted(written), part)
            for name, tensor in written.items():
                if name.endswith("inv_freq"):
                    self.assertEqual(list(tensor.values), [1.0, 0.5, 0.25, 0.125])
                    continue
                self.assertEqual(tensor.dtype, "BF16")
                source = weights["model.embed_tokens.weight" if name == "lm_head.weight" else "model." + name]
                self.assert_close([float_of_bf16(bits) for bits in tensor.values], source.values, 2**-8, name)
        index = json.loads(Path("tuned/model.safetensors.index.json").read_text())
        self.assertEqual(index["weight_map"], {name: file for file, part in parts.items() for name in part})
        self.trainrun(self.plan, "--eval-data", "data.safetensors", "--init=tuned")

    def test_errors(self):
        self.trained()
        export = [TRAINC, "export", "run", "--like=model", "-o"]
        Path("there").mkdir()
        self.fails([*export, "there"], 2, "-o there: exists already")
        self.fails([TRAINC, "export", "run", "--like=nowhere", "-o", "tuned"], 2, "--like=nowhere: expected the folder of the model")
        tensors = read_safetensors("model/model.safetensors")
        other = {name: tensor for name, tensor in tensors.items() if name != "model.norm.weight"}
        write_safetensors("model/model.safetensors", {**other, "model.extra.weight": Tensor("F32", [1], [0.0])})
        self.fails([*export, "tuned"], 2, "only in --like: model.extra.weight; only in the checkpoint: model.norm.weight")
        write_safetensors("model/model.safetensors", {**other, "model.norm.weight": Tensor("F32", [16], [0.0] * 16)})
        self.fails([*export, "tuned"], 2, "'model.norm.weight' is F32 [32] in the checkpoint and F32 [16] in --like")
        wide = {name: Tensor("F64", tensor.shape, tensor.values) for name, tensor in tensors.items()}
        write_safetensors("model/model.safetensors", wide)
        self.fails([*export, "tuned"], 2, "' is F32 [", "in the checkpoint and F64 in --like; expected F32, BF16 or F16 there")
        write_safetensors("model/model.safetensors", tensors)
        config = json.loads(Path("model/config.json").read_text())
        Path("model/config.json").write_text(json.dumps({**config, "rms_norm_eps": 1e-3}))
        self.fails([*export, "tuned"], 2, "rms_norm_eps")
        self.assertEqual([path.name for path in Path(".").glob("tuned*")], [])


class ImportErrorsTest(harness.EndToEndTest):
    """Configs that cannot be imported, and files that would be lost."""

    LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}

    def refused(self, config, *expected, text=None):
        Path("config.json").write_text(json.dumps(config) if text is None else text)
        self.fails([TRAINC, "import", "config.json", "-o", "model.mlir"], 2, *expected)
        self.assertFalse(Path("model.mlir").exists())

    def test_keys(self):
        self.refused({**self.LLAMA, "clip_qkv": 8.0}, "the importer does not know it: 'clip_qkv' = 8.0")
        self.refused({**self.LLAMA, "hidden_size": "wide"}, "'hidden_size': expected a whole number from 1 to 16777216, found \"wide\"")
        self.refused({**self.LLAMA, "hidden_size": 0}, "'hidden_size': expected a whole number from 1")
        self.refused({**self.LLAMA, "hidden_size": 2**70}, "'hidden_size': expected a whole number from 1")
        self.refused({**self.LLAMA, "num_attention_heads": 5, "num_key_value_heads": 2}, "5 heads do not share 2 heads of keys and values evenly")
        self.refused({**self.LLAMA, "num_hidden_layers": 5000}, "'num_hidden_layers': expected at most 4096 layers, found 5000")
        self.refused({**self.LLAMA, "num_hidden_layers": 2**24}, "expected at most 4096 layers")
        self.refused({**self.LLAMA, "hidden_act": "mish"}, "'hidden_act': expected gelu, ", "found mish")
        self.refused({**self.LLAMA, "rope_scaling": {"rope_type": "magic", "factor": 2.0}}, "'rope_scaling.rope_type' is magic, which is not supported")
        self.refused({**self.LLAMA, "rope_parameters": {"rope_theta": 5e5, "curl": 1}}, "'rope_parameters.curl' = 1")
        self.refused({**self.LLAMA, "attention_dropout": 0.1}, "'attention_dropout' is 0.1: dropout of attention's weights is not supported; give --no-dropout")
        self.refused({**self.LLAMA, "quantization_config": {"bits": 4}}, "the weights are quantised")
        self.refused({**self.LLAMA, "rms_norm_eps": None, "tie_word_embeddings": 1}, "'tie_word_embeddings': expected true or false, found 1")
        self.refused({**self.LLAMA, "partial_rotary_factor": 0.0}, "'partial_rotary_factor' is 0.0: this family rotates whole heads; expected 1.0")

    def test_texts(self):
        self.refused(None, "expected a JSON object with the configuration of a model, found null")
        self.refused(None, "config.json:1:23: not JSON", text='{"model_type": "llama"')
        self.refused(None, "expected each name once, found 'hidden_size' twice", text='{"model_type": "llama", "hidden_size": 1, "hidden_size": 2}')
        self.refused({"architectures": ["LlamaForCausalLM"]}, "expected a key 'model_type'")
        self.refused({"model_type": "llamma"}, "the family llamma (model_type) cannot be imported yet; known are gemma, ")
        self.refused({"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]},
                     "the class LlamaForSequenceClassification (architectures) cannot be imported yet; expected LlamaForCausalLM")
        self.refused({"model_type": "llava", "text_config": self.LLAMA}, "models for pictures and texts cannot be imported yet")
        self.fails([TRAINC, "import", "nowhere"], 2, "nowhere: cannot open")

    def test_outputs(self):
        Path("config.json").write_text(json.dumps(self.LLAMA))
        Path("notes.mlir").write_text("my notes")
        self.fails([TRAINC, "import", "config.json", "-o", "notes.mlir"], 2, "a model's text")
        self.fails([TRAINC, "import", "config.json", "-o", "config.json"], 2, "config.json")
        Path("Llama-3").mkdir()
        Path("config.json").rename("Llama-3/config.json")
        out, _ = self.trainc("import", "Llama-3", "--dry-run")
        self.assertIn("defaulted  vocab_size 32000", out)
        self.assertFalse(Path("Llama-3.mlir").exists())
        self.trainc("import", "Llama-3")
        self.assertIn("// LlamaForCausalLM with 6.74 billion parameters", Path("Llama-3.mlir").read_text())
        self.trainc("import", "Llama-3")  # replaces a model's text


def add_tests():
    for path in sorted((GOLDEN / "import").glob("*.json")):
        setattr(ImportTest, f"test_{path.stem}", lambda self, name=path.stem: self.check_family(name))


add_tests()

if __name__ == "__main__":
    harness.main()
