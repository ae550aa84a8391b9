"""`trainc import`: tiny models of every family against transformers' float64 numbers (test/golden/import, make_import_goldens.py)."""

import json
import math
import re
import shutil
import struct
import sys
from pathlib import Path

import emulated_gpus
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
  batch 2%s
  steps 5
}
"""

FIRST_CHARACTER = 0x4E00  # the character of token 0


def numbers_of(name):
    return json.loads((GOLDEN / "import" / f"{name}.json").read_text())


def is_decoder(numbers):
    return import_weights.task_of(numbers["config"]) == "CausalLM"


# Names of ViT's modules in transformers 5, and of the tensors in files.
VIT_NAMES = [(".layers.", ".encoder.layer."), (".attention.q_proj.", ".attention.attention.query."), (".attention.k_proj.", ".attention.attention.key."),
             (".attention.v_proj.", ".attention.attention.value."), (".attention.o_proj.", ".attention.output.dense."),
             (".mlp.fc1.", ".intermediate.dense."), (".mlp.fc2.", ".output.dense.")]


def name_on_disk(family, name):
    """The name of a tensor in files, where the classes of transformers 5 have another. GPT-2's files may lack the prefix."""
    if family == "gpt_neox" and name == "lm_head.weight":
        return "embed_out.weight"
    if family == "vit":
        for module, disk in VIT_NAMES:
            name = name.replace(module, disk)
    return name.removeprefix("transformer.") if family == "gpt2" else name


# Tensors of the parts for pictures of a model of pictures and texts.
PICTURES = {"vision_tower.vision_model.embeddings.patch_embedding.bias": Tensor("F32", [3], [1.0, 2.0, 3.0]),
            "vision_tower.vision_model.encoder.layers.0.layer_norm1.weight": Tensor("BF16", [2], [1, 2]),
            "multi_modal_projector.mm_input_projection_weight": Tensor("F32", [2, 2], [4.0, 5.0, 6.0, 7.0])}


def write_folder(folder, numbers):
    """A folder as Hugging Face writes it: config, weights, and a tokenizer with one character for each token."""
    folder.mkdir()
    config = numbers["config"]
    (folder / "config.json").write_text(json.dumps(config))
    family = config["model_type"]
    weights = {name_on_disk(family, name): Tensor("F32", entry["shape"], import_weights.weights(family, name, entry["shape"]))
               for name, entry in numbers["gradients"].items()}
    if "text_config" in config:
        weights = {**{f"language_model.{name}": tensor for name, tensor in weights.items()}, **PICTURES}
    write_safetensors(folder / "model.safetensors", weights)
    vocabulary = {chr(FIRST_CHARACTER + token): token for token in range(import_weights.VOCABULARY)}
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
                                                       "post_processor": None, "decoder": {"type": "Fuse"},
                                                       "model": {"type": "BPE", "unk_token": chr(FIRST_CHARACTER), "vocab": vocabulary, "merges": []}}))


def column(rows):
    """A tensor of nested lists."""
    shape = [len(rows)]
    while isinstance(rows[0], list):
        shape.append(len(rows[0]))
        rows = [value for row in rows for value in row]
    return Tensor("F32" if isinstance(rows[0], float) else "I32", shape, rows)


def write_data(path, numbers=None, length=import_weights.LENGTH):
    """The data of a model; without its numbers, those of decoders, with `length` tokens in each sample."""
    if numbers is None or is_decoder(numbers):
        rows = [row[:length + 1] for row in import_weights.tokens()]
        columns = {"tokens": [row[:-1] for row in rows], "labels": [row[1:] for row in rows]}
    else:
        columns = import_weights.encoder_columns(numbers["config"], "--token-types" in numbers.get("options", []))
    write_safetensors(path, {name: column(rows) for name, rows in columns.items()})


def float_of_bf16(bits):
    return struct.unpack("f", struct.pack("I", bits << 16))[0]


class ImportTestCase(harness.EndToEndTest):
    def imported(self, numbers):
        """The text of an imported model, with the program of the golden numbers."""
        write_folder(Path("model"), numbers)
        _, err = self.trainc("import", "model", *numbers.get("options", []), "-o", "model.mlir")
        parameters = sum(math.prod(entry["shape"]) for entry in numbers["gradients"].values())
        self.assertIn(f" with {parameters} parameters", err)
        text = Path("model.mlir").read_text()
        start = text.index("train.program")
        model = re.search("  model @(.*)", text[start:])[1]
        return text[:start] + PROGRAM % (model, "" if "image_size" in numbers["config"] else " x 48")

    def run_steps(self, plan, *arguments):
        self.trainrun(plan, "--data", "data.safetensors", "--init", "model", "--no-shuffle", "--metrics", "run.jsonl", *arguments)
        return [line["loss"] for line in harness.metrics("run.jsonl") if "loss" in line]

    def check_training(self, plan, numbers):
        """Losses of all steps, and all gradients of the first."""
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

    def check_generation(self, plan, numbers):
        prompt = "".join(chr(FIRST_CHARACTER + token) for token in import_weights.PROMPT)
        out, _ = self.trainrun(plan, "--init", "model", "--tokenizer", "model", f"--generate={prompt}", "--temperature=0",
                               "--max-tokens", import_weights.GENERATED)
        generated = [ord(character) - FIRST_CHARACTER for character in out.strip().removeprefix(prompt)]
        self.assertEqual(generated, numbers["tokens"])


class ImportTest(ImportTestCase):
    def check_family(self, name):
        numbers = numbers_of(name)
        write_data("data.safetensors", numbers)
        text = self.imported(numbers)
        plan = self.compile(text)
        self.check_training(plan, numbers)
        if is_decoder(numbers):
            self.check_generation(plan, numbers)
        for length, loss in numbers.get("losses_of_lengths", {}).items():
            write_data("data.safetensors", length=int(length))
            losses = self.run_steps(self.compile(text, f"--seq-len={length}"), "--steps", "1")
            self.assert_close(losses, [loss], LOSS_BOUND, f"loss of {length} tokens")


class PackedTest(ImportTestCase):
    """With `--packed` and one text in each row, a model computes what it computes without. test/python tests rows of several texts."""

    FAMILIES = ["bloom", "gemma2", "gpt2"]  # no column of positions; rotary positions and windows; learned positions

    def test_one_text_in_each_row(self):
        for name in self.FAMILIES:
            numbers = numbers_of(name)
            write_data("data.safetensors", numbers)
            columns = read_safetensors("data.safetensors")
            rows, length = columns["tokens"].shape
            columns["segments"] = Tensor("I32", [rows, length], [1] * (rows * length))
            columns["positions"] = Tensor("I32", [rows, length], list(range(length)) * rows)
            write_safetensors("data.safetensors", columns)
            plan = self.compile(self.imported({**numbers, "options": [*numbers.get("options", []), "--packed"]}))
            self.check_training(plan, numbers)
            self.assertIn("%segments", Path("model.mlir").read_text())
            self.check_generation(plan, numbers)
            shutil.rmtree("run")
            shutil.rmtree("model")


class DropoutTest(ImportTestCase):
    """Dropout of a config is in the text, and changes training alone."""

    def losses(self, *options):
        self.trainc("import", "model", *options, "-o", "model.mlir")
        text = Path("model.mlir").read_text()
        plan = self.compile(text[:text.index("train.program")] + PROGRAM % ("gpt2", " x 48"))
        return text, self.run_steps(plan, "--eval-data", "data.safetensors", "--steps", "1")

    def test_of_all_three_kinds(self):
        numbers = numbers_of("gpt2")
        for key in ("embd_pdrop", "resid_pdrop", "attn_pdrop"):
            del numbers["config"][key]  # 0.1 by default
        write_folder(Path("model"), numbers)
        write_data("data.safetensors")
        text, losses = self.losses()
        self.assertIn('nn.dropout "drop" %xp p 0.1', text)
        self.assertIn('nn.dropout "attn.dropout" %a p 0.1', text)
        self.assertIn("heads $heads causal dropout 0.1 dropout_key %key", text)
        self.assertGreater(abs(losses[0] - numbers["losses"][0]), 1e-4)
        text, losses = self.losses("--no-dropout")
        self.assertNotIn("dropout", text)
        self.assert_close(losses, numbers["losses"][:1], LOSS_BOUND, "loss")

    def test_of_attention_alone(self):
        numbers = numbers_of("gpt2")
        numbers["config"]["attn_pdrop"] = 0.5
        write_folder(Path("model"), numbers)
        write_data("data.safetensors")
        _, losses = self.losses()
        self.assertGreater(abs(losses[0] - numbers["losses"][0]), 1e-4)


class StrategiesTest(ImportTestCase):
    """Imported models train the same on ranks, with recomputation, within a memory limit and on emulated GPUs, and nearly so in bf16."""

    FAMILIES = ["gemma3", "modernbert", "vit"]
    ON_GPUS = ["vit"]
    if harness.ALL_COMBINATIONS:  # test/run.sh matrix
        FAMILIES = sorted(path.stem for path in (GOLDEN / "import").glob("*.json"))
        # Each kind: a classifier of images, encoders with learned positions and with windows, and decoders with ALiBi, windows and soft caps,
        # learned positions, packed heads, scaled rotary positions, and a classifier on the last token.
        ON_GPUS = ["vit", "bert_pairs", "modernbert", "bloom", "gemma2", "gpt2", "gpt_neox", "phi3_longrope", "qwen3_classes"]

    def losses(self, name, *options):
        write_data("data.safetensors", numbers_of(name))
        plan = self.compile(self.imported(numbers_of(name)), *options)
        ranks = ["--nproc-per-node=2"] if "--ranks=2" in options else []
        losses = self.run_steps(plan, *ranks)
        shutil.rmtree("model")
        return losses

    def test_two_ranks_that_shard_parameters(self):
        for name in self.FAMILIES:
            self.assert_close(self.losses(name, "--ranks=2", "--zero-stage=3", "--micro-batch=1"), numbers_of(name)["losses"], CURVE_BOUND, name)

    def test_full_recomputation(self):
        for name in self.FAMILIES:
            self.assert_close(self.losses(name, "--activation-checkpointing=full"), numbers_of(name)["losses"], CURVE_BOUND, name)

    def test_bf16(self):
        for name in self.FAMILIES:
            losses = self.losses(name, "--precision=bf16")
            task = import_weights.task_of(numbers_of(name)["config"])
            bound = 5e-2 if task in ("SequenceClassification", "ImageClassification") else 2e-2  # their steps have two targets alone
            self.assert_close(losses, numbers_of(name)["losses"], bound, name)
            self.assertNotEqual(losses[0], self.losses(name)[0])

    def test_memory_limit(self):
        """Halfway between what no and full recomputation take, some blocks are recomputed."""
        for name in self.FAMILIES:
            out, _ = self.trainc("estimate", self.write(self.imported(numbers_of(name))), "--json")
            shutil.rmtree("model")
            modes = {each["settings"]["activation_checkpointing"]: each["memory"] for each in json.loads(out)["strategies"]}
            none, full = (modes[mode]["peak"] + modes[mode]["unplanned"] for mode in ("none", "full"))
            limit = (none + min(none, full)) // 2
            losses = self.losses(name, "--activation-checkpointing=budget", f"--memory-limit={limit}", "--report=report.json")
            self.assert_close(losses, numbers_of(name)["losses"], CURVE_BOUND, name)
            memory = json.loads(Path("report.json").read_text())["memory"]
            self.assertLessEqual(memory["peak"] + memory["unplanned"], limit, name)

    def test_trains_on_emulated_gpus(self):
        for name in self.ON_GPUS:
            numbers = numbers_of(name)
            write_data("data.safetensors", numbers)
            self.trainc("compile", self.write(self.imported(numbers)), *emulated_gpus.FOR_HERE["cuda"], "-o", "gpu.plan")
            self.run_program(harness.TRAINRUN, "gpu.plan", "--data", "data.safetensors", "--init", "model", "--no-shuffle", "--metrics", "gpu.jsonl",
                             "--steps", "2", env=emulated_gpus.environment(devices=1))
            losses = [line["loss"] for line in harness.metrics("gpu.jsonl")]
            self.assert_close(losses, numbers["losses"][:2], 2 * CURVE_BOUND, name)
            shutil.rmtree("model")

    def test_compiles_for_gpus(self):
        for name in self.FAMILIES:
            levels = [] if name == "gemma3" else ["--gpu-levels=none"]  # machine code takes seconds
            self.trainc("compile", self.write(self.imported(numbers_of(name))), "--target=cuda", "--precision=bf16", *levels, "-o", "gpu.plan")
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
        return [line for line in err.splitlines() if "eval" in line][-1].split("loss")[1].split(" (")[0]

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

    def test_model_of_pictures_and_texts(self):
        """The decoder of texts is trained. The folder that is exported has the other parts, too."""
        weights = self.trained("gemma3_whole")
        self.assertIn("the decoder of texts of a Gemma3ForConditionalGeneration", Path("model.mlir").read_text())
        out, _ = self.trainc("import", "model", "--dry-run")
        self.assertRegex(out, r"left out +vision_config .*image_token_index 255")
        before = read_safetensors("model/model.safetensors")
        _, err = self.trainrun(self.plan, "--eval-data", "data.safetensors", "--init=model")
        self.assertIn("multi_modal_projector.mm_input_projection_weight", err)
        expected = self.evaluated("--init=model")
        for inner in ("model.language_model.", "language_model."):
            write_safetensors("model/model.safetensors", {name.replace("language_model.model.", inner): tensor for name, tensor in before.items()})
            self.assertEqual(self.evaluated("--init=model"), expected)
        write_safetensors("model/model.safetensors", before)
        self.trainc("export", "run", "--like=model", "-o", "tuned")
        self.assertEqual(Path("tuned/config.json").read_bytes(), Path("model/config.json").read_bytes())
        written = read_safetensors("tuned/model.safetensors")
        self.assertEqual(set(written), set(before))
        for name, tensor in written.items():
            source = PICTURES[name] if name in PICTURES else weights[name.removeprefix("language_model.")]
            self.assertEqual(list(tensor.values), list(source.values), name)
        self.assertEqual(self.evaluated("--init=tuned"), self.evaluated("--resume=run"))

    def test_new_head(self):
        """A classifier in place of a head for tokens, then one of other classes: names, configuration, types."""
        write_data("data.safetensors", numbers_of("llama_classes"))
        write_folder(Path("model"), numbers_of("llama"))
        Path("model/config.json").write_text(json.dumps({**numbers_of("llama")["config"], "pad_token_id": 2}))
        like, missing = "model", "score.*"
        for labels in (5, 7):
            self.trainc("import", like, "--task=classification", f"--labels={labels}", "-o", "model.mlir")
            self.trainc("compile", "model.mlir", "--cpu=native", "--micro-batch=2", "--seq-len=48")
            self.trainrun("model.plan", "--data", "data.safetensors", "--init", like, f"--init-missing={missing}", "--steps", "1", "--checkpoint-dir",
                          f"run{labels}")
            _, err = self.trainc("export", f"run{labels}", f"--like={like}", "-o", f"tuned{labels}")
            self.assertIn(f"the model has another head than {like}: score.weight in place of ", err)
            weights = read_safetensors(f"run{labels}/step-00000001/model.safetensors")
            written = read_safetensors(f"tuned{labels}/model.safetensors")
            self.assertEqual(written["score.weight"].shape, [labels, 32])
            self.assertEqual({name: list(tensor.values) for name, tensor in written.items()}, {name: list(tensor.values) for name, tensor in weights.items()})
            config = json.loads(Path(f"tuned{labels}/config.json").read_text())
            self.assertEqual(config["architectures"], ["LlamaForSequenceClassification"])
            self.assertEqual(len(config["id2label"]), labels)
            self.assertEqual(config["rope_theta"], 500.0)
            like = f"tuned{labels}"
        # A layer is of no head.
        tensors = read_safetensors("model/model.safetensors")
        write_safetensors("model/model.safetensors", {**tensors, "model.layers.2.mlp.up_proj.weight": Tensor("F32", [1], [0.0])})
        self.fails([TRAINC, "export", "run5", "--like=model", "-o", "tuned"], 2, "only in --like: model.layers.2.mlp.up_proj.weight")

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


class EncoderTest(ImportTestCase):
    """Heads of encoders, and forms of their weights on disk."""

    def folder(self, name, **keys):
        numbers = numbers_of(name)
        write_folder(Path("model"), numbers)
        write_data("data.safetensors", numbers)
        Path("model/config.json").write_text(json.dumps({**numbers["config"], **keys}))
        return numbers

    def compiled(self, *options):
        self.trainc("import", "model", "-o", "model.mlir", *options)
        self.trainc("compile", "model.mlir", "--cpu=native", "--micro-batch=2", "--seq-len=48")
        return "model.plan"

    def evaluated(self, *options):
        _, err = self.trainrun("model.plan", "--eval-data", "data.safetensors", "--init", "model", *options)
        return [line for line in err.splitlines() if "eval" in line][-1].split("loss")[1].split(" (")[0]

    def test_names_on_disk(self):
        """Old names of norms, buffers, tied copies, and a base model's names, in --init and export."""
        self.folder("bert")
        plan = self.compiled()
        expected = self.evaluated()
        self.trainrun(plan, "--data", "data.safetensors", "--init", "model", "--steps", "1", "--checkpoint-dir", "run")
        trained = read_safetensors("run/step-00000001/model.safetensors")
        tensors = read_safetensors("model/model.safetensors")
        old = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor for name, tensor in tensors.items()}
        old["bert.embeddings.position_ids"] = Tensor("I64", [1, 64], range(64))
        old["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]
        old["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"]
        write_safetensors("model/model.safetensors", old)
        self.assertEqual(self.evaluated(), expected)
        self.trainc("export", "run", "--like=model", "-o", "tuned")
        tuned = read_safetensors("tuned/model.safetensors")
        self.assertEqual(set(tuned), set(old))
        for name, of in [("bert.embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight"), ("cls.predictions.bias", "cls.predictions.bias"),
                         ("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
                         ("cls.predictions.decoder.bias", "cls.predictions.bias")]:
            self.assertEqual(list(tuned[name].values), list(trained[of].values), name)
            self.assertNotEqual(list(tuned[name].values), list(old[name].values), name)
        write_safetensors("model/model.safetensors", {name.removeprefix("bert."): tensor for name, tensor in old.items()})
        self.assertEqual(self.evaluated(), expected)
        tied = Tensor("F32", [256, 32], [1.0] * (256 * 32))
        write_safetensors("model/model.safetensors", {**old, "cls.predictions.decoder.weight": tied})
        self.fails([harness.TRAINRUN, plan, "--eval-data", "data.safetensors", "--init", "model"], 2,
                   "'cls.predictions.decoder.weight' is not equal to 'bert.embeddings.word_embeddings.weight', so the weights are of a model with a head of its own")
        old["cls.predictions.decoder.bias"] = Tensor("F32", [256], [1.0] * 256)
        write_safetensors("model/model.safetensors", old)
        self.fails([harness.TRAINRUN, plan, "--eval-data", "data.safetensors", "--init", "model"], 2, "cls.predictions.decoder.bias")

    def test_padding_does_not_matter(self):
        """Other tokens as padding, and another number of padding in `segments`, give the same loss."""
        for name in ["bert", "modernbert_classes", "roberta_classes"]:
            self.folder(name)
            self.compiled()
            expected = self.evaluated()
            data = read_safetensors("data.safetensors")
            texts = list(data["segments"].values)
            self.assertIn(0, texts)
            data["tokens"] = Tensor("I32", data["tokens"].shape, [token if text else 77 for token, text in zip(data["tokens"].values, texts)])
            data["segments"] = Tensor("I32", data["segments"].shape, [7 if text else -3 for text in texts])
            write_safetensors("data.safetensors", data)
            self.assertEqual(self.evaluated(), expected)
            data["segments"] = Tensor("I32", data["segments"].shape, [1] * len(texts))
            write_safetensors("data.safetensors", data)
            self.assertNotEqual(self.evaluated(), expected)
            shutil.rmtree("model")

    def test_types_of_tokens(self):
        """Types of 0 in a column are what a model without the column has."""
        self.folder("bert_classes")
        self.compiled()
        expected = self.evaluated()
        self.compiled("--token-types")
        data = read_safetensors("data.safetensors")
        data["token_types"] = Tensor("I32", data["tokens"].shape, [0] * len(data["tokens"].values))
        write_safetensors("data.safetensors", data)
        self.assertEqual(self.evaluated(), expected)
        data["token_types"] = Tensor("I32", data["tokens"].shape, [1] * len(data["tokens"].values))
        write_safetensors("data.safetensors", data)
        self.assertNotEqual(self.evaluated(), expected)

    def test_forms_of_a_config(self):
        """transformers saves ModernBERT's layers and rotary bases in another form than files of the Hub have."""
        numbers = self.folder("modernbert_tokens")
        self.compiled()
        expected = self.evaluated()
        saved = {**numbers["config"], "layer_types": ["full_attention", "sliding_attention", "sliding_attention"], "classifier_pooling": "cls",
                 "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 2000.0},
                                     "sliding_attention": {"rope_type": "default", "rope_theta": 300.0}}}
        for key in ("global_rope_theta", "local_rope_theta"):
            del saved[key]
        Path("model/config.json").write_text(json.dumps(saved))
        self.assertEqual(self.evaluated(), expected)
        run = [harness.TRAINRUN, "model.plan", "--eval-data", "data.safetensors", "--init", "model"]
        Path("model/config.json").write_text(json.dumps({**saved, "layer_types": ["full_attention"] * 3}))
        self.fails(run, 2, "layer_types")
        saved["rope_parameters"]["sliding_attention"]["rope_theta"] = 301.0
        Path("model/config.json").write_text(json.dumps(saved))
        self.fails(run, 2, "local_rope_theta: 301.0 in this file, 300.0 in the plan")

    def test_padding_of_another_config(self):
        """Tokens of padding that decide positions, or the last token, must be those of the plan."""
        for name in ["roberta", "llama_classes"]:
            numbers = self.folder(name)
            self.compiled()
            Path("model/config.json").write_text(json.dumps({**numbers["config"], "pad_token_id": 4}))
            self.fails([harness.TRAINRUN, "model.plan", "--eval-data", "data.safetensors", "--init", "model"], 2, "pad_token_id: 4 in this file")
            shutil.rmtree("model")

    def test_new_head(self):
        """A head for five classes on the weights of a masked language model; the checkpoint has its labels."""
        numbers = self.folder("bert")
        labels = numbers_of("bert_classes")["config"]["id2label"]
        _, err = self.trainc("import", "model", "--task=classification", "--labels=5", "-o", "model.mlir")
        self.assertIn("BertForSequenceClassification with ", err)
        self.assertIn('id2label {"0":"LABEL_0"', err)
        self.trainc("compile", "model.mlir", "--cpu=native", "--micro-batch=2", "--seq-len=48")
        write_data("data.safetensors", numbers_of("bert_classes"))
        run = [harness.TRAINRUN, "model.plan", "--data", "data.safetensors", "--init", "model", "--steps", "1", "--checkpoint-dir", "run"]
        self.fails(run, 2, "--init-missing=")
        self.run_program(*run, "--init-missing=classifier.*,bert.pooler.*", "--init-ignore=cls.*")
        config = json.loads(Path("run/step-00000001/config.json").read_text())
        self.assertEqual(config["architectures"], ["BertForSequenceClassification"])
        self.assertEqual(config["id2label"], labels)
        trained = read_safetensors("run/step-00000001/model.safetensors")
        self.assertEqual(trained["classifier.weight"].shape, [5, 32])
        self.assertEqual({"classifier.bias", "classifier.weight"}, {name for name in trained if name.startswith("cl")})

    def test_new_head_in_place_of_another(self):
        """A classifier on a language model: the same as the model that has this head alone."""
        numbers = self.folder("llama_classes")
        config = {key: value for key, value in numbers["config"].items() if key not in ("id2label", "label2id")}
        Path("model/config.json").write_text(json.dumps({**config, "architectures": ["LlamaForCausalLM"]}))
        tensors = read_safetensors("model/model.safetensors")
        head = {"lm_head.weight": Tensor("F32", [256, 32], [1.0] * (256 * 32))}
        write_safetensors("model/model.safetensors", {**{name: tensor for name, tensor in tensors.items() if name != "score.weight"}, **head})
        self.trainc("import", "model", "--task=classification", "--labels=5", "-o", "model.mlir")
        text = Path("model.mlir").read_text()
        plan = self.compile(text[:text.index("train.program")] + PROGRAM % ("llama", " x 48"))
        self.fails([harness.TRAINRUN, plan, "--data", "data.safetensors", "--init", "model"], 2,
                   "--init-missing='score.*' draws such parameters anew; --init-ignore='lm_head.*' leaves such tensors out")
        self.run_steps(plan, "--init-missing=score.*", "--init-ignore=lm_head.*")
        write_safetensors("model/model.safetensors", {**tensors, **head})
        self.assert_close(self.run_steps(plan, "--init-ignore=lm_head.*"), numbers["losses"], CURVE_BOUND, "losses")

    def test_base_model(self):
        """A decoder without a head gets one whose weights are those of the embedding, or are drawn."""
        numbers = numbers_of("llama")  # tied
        write_folder(Path("model"), numbers)
        write_data("data.safetensors")
        tensors = read_safetensors("model/model.safetensors")
        write_safetensors("model/model.safetensors", {name.removeprefix("model."): tensor for name, tensor in tensors.items()})
        config = {**numbers["config"], "architectures": ["LlamaModel"]}
        Path("model/config.json").write_text(json.dumps(config))
        self.fails([TRAINC, "import", "model"], 2, "the class LlamaModel (architectures) cannot be imported yet", "or give --task, which puts a head on the model")
        for tied in (True, False):
            Path("model/config.json").write_text(json.dumps({**config, "tie_word_embeddings": tied}))
            self.trainc("import", "model", "--task=causal-lm", "-o", "model.mlir")
            text = Path("model.mlir").read_text()
            plan = self.compile(text[:text.index("train.program")] + PROGRAM % ("llama", " x 48"))
            if tied:
                self.assert_close(self.run_steps(plan), numbers["losses"], CURVE_BOUND, "losses")
            else:
                self.fails([harness.TRAINRUN, plan, "--data", "data.safetensors", "--init", "model"], 2, "lm_head.weight", "--init-missing=")
                self.run_steps(plan, "--init-missing=lm_head.*")

    def test_dropout(self):
        """Dropout of the states and of attention's weights is in the text, without --no-dropout, and off in evaluation."""
        self.folder("bert_classes", hidden_dropout_prob=0.25, classifier_dropout=0.125, attention_probs_dropout_prob=0.5)
        self.compiled()
        evaluated = self.evaluated()
        text = Path("model.mlir").read_text()
        self.assertEqual(text.count("p 0.25"), 3)
        self.assertEqual(text.count("p 0.125"), 1)
        self.assertEqual(text.count("dropout 0.5 dropout_key %key"), 1)
        self.compiled("--no-dropout")
        self.assertNotIn("dropout \"", Path("model.mlir").read_text())
        self.assertEqual(self.evaluated(), evaluated)


class ImportErrorsTest(harness.EndToEndTest):
    """Configs that cannot be imported, and files that would be lost."""

    LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}

    def refused(self, config, *expected, text=None, options=()):
        Path("config.json").write_text(json.dumps(config) if text is None else text)
        self.fails([TRAINC, "import", "config.json", "-o", "model.mlir", *options], 2, *expected)
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
        self.refused({"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"], "attention_dropout": 0.1}, "'attention_dropout' is 0.1: dropout of attention's weights and of its branch is not supported")
        self.refused({"model_type": "llama", "hidden_size": 1 << 24, "num_attention_heads": 1 << 24, "head_dim": 1 << 24}, "expected matrices of at most 1e12 weights")
        self.refused({"model_type": "falcon", "attention_dropout": 0.1}, "'attention_dropout' is 0.1: dropout of attention's weights or of its branch is not supported; give --no-dropout")
        self.refused({**self.LLAMA, "quantization_config": {"bits": 4}}, "the weights are quantised")
        self.refused({**self.LLAMA, "rms_norm_eps": None, "tie_word_embeddings": 1}, "'tie_word_embeddings': expected true or false, found 1")
        self.refused({**self.LLAMA, "partial_rotary_factor": 0.0}, "'partial_rotary_factor' is 0.0: this family rotates whole heads; expected 1.0")

    def test_keys_that_families_read_otherwise(self):
        """Keys that most families read, and these classes of transformers do not, or in another way."""
        self.refused({"model_type": "smollm3", "num_hidden_layers": 1, "layer_types": ["sliding_attention"], "sliding_window": 8},
                     "'layer_types' has sliding_attention: windows of this family are not supported")
        self.refused({"model_type": "gpt_neox", "rope_theta": 5000}, "'rope_theta' is 5000: the class reads 'rotary_emb_base'; expected 10000")
        self.refused({"model_type": "gemma2", "sliding_window": None}, "'sliding_window' is null: expected the window of the layers that have one")
        self.refused({"model_type": "gemma3_text", "attn_logit_softcapping": 50.0}, "'attn_logit_softcapping' is 50.0: transformers ignores it in this family; expected null")
        self.refused({"model_type": "gemma3_text", "rope_scaling": {"type": "linear", "factor": 8.0}},
                     "'rope_scaling.type' is \"linear\": transformers 5 ignores it in this family; write 'rope_type' in its place")
        # Phi-3's class has a default of the outer key, so the key in the object does not count; Llama's has none.
        factors = {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [1.0] * 48, "original_max_position_embeddings": 2048}
        for config, factor in [({"model_type": "phi3"}, r"1\)"), ({"model_type": "phi3", "original_max_position_embeddings": 2048}, r"1\.044"),
                               ({**self.LLAMA, "head_dim": 96, "max_position_embeddings": 4096}, r"1\.044")]:
            Path("config.json").write_text(json.dumps({**config, "rope_scaling": factors}))
            self.trainc("import", "config.json", "-o", "model.mlir")
            self.assertRegex(Path("model.mlir").read_text(), rf"longrope\([^)]*attention_factor {factor}")
            Path("model.mlir").unlink()

    def test_texts(self):
        self.refused(None, "expected a JSON object with the configuration of a model, found null")
        self.refused(None, "config.json:1:23: not JSON", text='{"model_type": "llama"')
        self.refused(None, "expected each name once, found 'hidden_size' twice", text='{"model_type": "llama", "hidden_size": 1, "hidden_size": 2}')
        self.refused({"architectures": ["LlamaForCausalLM"]}, "expected a key 'model_type'")
        self.refused({"model_type": "llamma"}, "the family llamma (model_type) cannot be imported yet; known are gemma, ")
        self.refused({"model_type": "llama", "architectures": ["LlamaForTokenClassification"]},
                     "the class LlamaForTokenClassification (architectures) cannot be imported yet; expected LlamaForCausalLM, LlamaForSequenceClassification")
        self.refused({"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]}, "'pad_token_id' is missing: expected the token of padding")
        self.refused({"model_type": "gpt2"}, "this family has no --task=classification yet; expected causal-lm", options=["--task=classification"])
        self.refused({"model_type": "llava", "text_config": self.LLAMA}, "a model with a 'text_config' of the family llava (model_type) cannot be imported yet; known are gemma3, ")
        whole = {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": {}}
        self.refused({**whole, "text_config": [1]}, "'text_config': expected an object, found [1]")
        self.refused({**whole, "architectures": ["Gemma3Model"]}, "'architectures': expected a class that ends with ForConditionalGeneration, found [\"Gemma3Model\"]")
        self.refused({**whole, "audio_config": {"depth": 1}}, "(text_config): a key may change what the model computes", "'audio_config'")
        self.refused({**whole, "text_config": {"hidden_size": "wide"}}, "config.json (text_config): 'hidden_size': expected a whole number")
        self.fails([TRAINC, "import", "nowhere"], 2, "nowhere: cannot open")

    def test_olmo3(self):
        olmo = {"model_type": "olmo3", "rope_theta": 10000.0}
        self.refused(olmo, "'rope_theta' is 10000: in layers with a window, transformers 4 computes with it, and transformers 5 with 500000; give both")
        self.refused({**olmo, "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 500000.0}}}, "'rope_theta' is 10000")
        Path("config.json").write_text(json.dumps({"model_type": "olmo3", "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}}}))
        self.trainc("import", "config.json", "-o", "model.mlir")
        self.assertIn("<window = 4096, theta = 500000>", Path("model.mlir").read_text())

    def test_odd_heads(self):
        self.refused({"model_type": "gemma3_text", "head_dim": 7}, "heads have 7 numbers, of which rotary positions turn pairs; expected an even number")
        self.refused({"model_type": "llama", "hidden_size": 60, "num_attention_heads": 4}, "heads have 15 numbers, of which rotary positions turn pairs")

    def test_falcon_without_flags(self):
        """A null of Falcon's class means false."""
        config = {"model_type": "falcon", "hidden_size": 64, "num_attention_heads": 4}
        texts = []
        for edits in ({}, {"multi_query": False, "parallel_attn": False}, {"multi_query": None, "parallel_attn": None}):
            Path("config.json").write_text(json.dumps({**config, **edits}))
            self.trainc("import", "config.json", "-o", "model.mlir")
            texts.append(re.sub('(?s)//[^\n]*|export "config.json" .*?} {', "", Path("model.mlir").read_text()))
        self.assertEqual(texts[1], texts[2])
        self.assertNotEqual(texts[0], texts[1])

    def test_bloom(self):
        pieces = {"model_type": "bloom", "slow_but_exact": True}
        self.refused({**pieces, "pretraining_tp": 4}, "'slow_but_exact' is true: sums in pieces, without biases, are not supported; expected false")
        Path("config.json").write_text(json.dumps(pieces))
        self.trainc("import", "config.json", "-o", "model.mlir")

    def test_encoders(self):
        bert = {"model_type": "bert", "architectures": ["BertForSequenceClassification"], "attention_probs_dropout_prob": 0.0}
        self.refused({**bert, "position_embedding_type": "relative_key"}, "'position_embedding_type' is \"relative_key\": relative positions are not supported")
        self.refused({**bert, "is_decoder": True}, "'is_decoder' is true: an encoder with a causal mask is not supported; expected false")
        self.refused({**bert, "add_cross_attention": True}, "'add_cross_attention' is true: cross attention is not supported")
        self.refused({**bert, "pruned_heads": {"0": [1]}}, "'pruned_heads' is {\"0\":[1]}: layers with fewer heads are not supported")
        self.refused({**bert, "hidden_act": "mish"}, "'hidden_act': expected gelu, ", "found mish")
        self.refused({**bert, "num_attention_heads": 5}, "5 heads do not divide a width of 768")
        self.refused({**bert, "embedding_size": 128}, "the importer does not know it: 'embedding_size' = 128")
        self.refused({**bert, "id2label": {}}, "'id2label': expected a name for each class, found none")
        self.refused({**bert, "id2label": ["a"]}, "'id2label': expected an object, found [\"a\"]")
        self.refused({**bert, "id2label": {"0": "a"}, "num_labels": 2}, "'num_labels' is 2: 'id2label' has another number of classes; expected 1")
        self.refused({**bert, "problem_type": "ranking"}, "'problem_type' is ranking with 2 labels; expected regression, ")
        self.refused({**bert, "problem_type": "single_label_classification", "num_labels": 1}, "with 1 labels; expected regression, ")
        self.refused({**bert, "architectures": ["BertForMaskedLM"], "tie_word_embeddings": False}, "'tie_word_embeddings' is false: an output layer")
        vit = {"model_type": "vit", "architectures": ["ViTForImageClassification"]}
        self.refused({**vit, "image_size": 100}, "patches of 16 x 16 ('patch_size') do not divide images of 100 x 100 ('image_size')")
        self.refused({**vit, "image_size": [224]}, "'image_size': expected a height and a width")
        self.refused({**vit, "architectures": ["ViTModel"]}, "the class ViTModel (architectures) cannot be imported yet; expected ViTForImageClassification")
        modern = {"model_type": "modernbert", "architectures": ["ModernBertForSequenceClassification"]}
        self.refused({**modern, "rope_theta": 1e4}, "'rope_theta': the class reads 'global_rope_theta' and 'local_rope_theta'")
        self.refused({**vit, "image_size": 2**24, "num_channels": 2**24, "patch_size": 2**24}, "('num_channels', 'image_size'): expected at most 16777216 numbers")
        self.refused({**modern, "classifier_pooling": "max"}, "'classifier_pooling': expected cls or mean, found max")
        self.refused({**modern, "mlp_dropout": 0.1}, "'mlp_dropout' is 0.1: dropout of the MLP's inner states is not supported; give --no-dropout")
        self.refused({**modern, "layer_types": ["full_attention"]}, "'layer_types' has 1 entries for 22 layers")
        roberta = {**bert, "model_type": "roberta", "architectures": ["RobertaForMaskedLM"]}
        self.refused({**roberta, "max_position_embeddings": 2}, "'max_position_embeddings' is 2: expected more than 2, the row of position 0")

    def test_tasks(self):
        bert = {"model_type": "bert", "architectures": ["BertModel"], "attention_probs_dropout_prob": 0.0}
        self.refused(bert, "the class BertModel (architectures) cannot be imported yet; expected BertForMaskedLM, BertForSequenceClassification, "
                     "BertForTokenClassification, or give --task, which puts a head on the model")
        self.refused({"model_type": "bert"}, "'architectures' is missing, so the head is not known", "give --task")
        self.refused(bert, "--task=guess: expected causal-lm, masked-lm, classification, token-classification", options=["--task=guess"])
        self.refused(bert, "this family has no --task=causal-lm yet; expected masked-lm, classification, token-classification", options=["--task=causal-lm"])
        self.refused(bert, "--labels: masked-lm has no labels", options=["--task=masked-lm", "--labels=2"])
        self.refused(bert, "--labels: expected from 1 to 1048576 labels, found 0", options=["--task=classification", "--labels=0"])
        self.refused(self.LLAMA, "--token-types: expected a model with types of tokens", options=["--token-types"])
        self.fails([TRAINC, "import", "model.gguf", "--labels=2"], 2, "model.gguf: --task, --labels and --token-types put a head on a model's folder")
        roberta = {**bert, "model_type": "roberta", "type_vocab_size": 1}
        self.refused(roberta, "--token-types: expected a model with types of tokens", options=["--token-types", "--task=masked-lm"])

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
