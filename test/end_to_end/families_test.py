"""Tiny models of every family: 64 greedy tokens against transformers, and weights written as GGUF and read again."""

import json
import math
import re
import shutil
import struct
from pathlib import Path

import harness
import import_test
from harness import GOLDEN, TRAINC, read_safetensors, write_safetensors
from import_test import FIRST_CHARACTER, import_weights, numbers_of, write_data, write_folder


class GenerationTest(import_test.ImportTestCase):
    """64 greedy tokens of every family are those of transformers in float64 (test/golden/make_generation.py)."""

    GOLDENS = json.loads((GOLDEN / "generation.json").read_text())
    LENGTH = 80  # the context: prompt and tokens

    def check_tokens(self, name):
        golden = self.GOLDENS[name]
        numbers = numbers_of(name)
        for key, entry in numbers["gradients"].items():
            if "wpe" in key or "embed_positions" in key:  # two more rows in OPT
                entry["shape"][0] += 64
        text = self.imported({**numbers, "config": golden["config"]}).replace("batch 2 x 48", f"batch 1 x {self.LENGTH}")
        plan = self.compile(text)
        prompt = "".join(chr(FIRST_CHARACTER + token) for token in import_weights.PROMPT)
        self.trainrun(plan, "--init", "model", "--tokenizer", "model", f"--generate={prompt}", "--temperature=0", "--max-tokens=64",
                      "--generated=text.jsonl")
        (generated,) = map(json.loads, Path("text.jsonl").read_text().splitlines())
        self.assertEqual(generated["tokens"], golden["tokens"])
        self.assertEqual(len(generated["tokens"]), 64)


class ExportGgufTest(import_test.ImportTestCase):
    """`trainc export -o FILE.gguf`: the weights of each family are read again as they were."""

    # Edits of the golden configs, for values that llama.cpp's architectures have without saying so.
    FAMILIES = {
        "gemma": {}, "gemma2": {"query_pre_attn_scalar": 16}, "gpt2": {}, "gpt_neox": {}, "gpt_neox_sequential": {}, "granite": {}, "llama": {},
        "gemma3": {"query_pre_attn_scalar": 16, "layer_types": ["sliding_attention"] * 4, "rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 5000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}},
        "llama3_rope": {}, "llama_linear_rope": {}, "mistral": {}, "olmo2": {}, "phi3": {"sliding_window": None}, "qwen2": {}, "qwen3": {},
        "smollm3": {"no_rope_layer_interval": 4}, "stablelm": {}, "stablelm_parallel": {}, "phi": {}, "falcon": {}, "falcon_groups": {}, "falcon_groups_one_norm": {}, "bloom": {},
    }  # fmt: skip

    def write_model(self, name, **edits):
        shutil.rmtree("model", ignore_errors=True)
        write_folder(Path("model"), numbers_of(name))
        self.write_tokenizer()
        config = json.loads(Path("model/config.json").read_text())
        Path("model/config.json").write_text(json.dumps({**config, **edits}))

    def write_tokenizer(self, merges=()):
        """Byte-level, with GPT-2's steps and a token for each byte."""
        letters = [*range(33, 127), *range(161, 173), *range(174, 256)]
        letters += range(256, 256 + 256 - len(letters))
        Path("model/tokenizer.json").write_text(json.dumps({
            "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
            "post_processor": None, "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "vocab": {chr(letter): id for id, letter in enumerate(letters)}, "merges": list(merges)}}))  # fmt: skip

    def read_again(self, gguf, expected):
        """The weights of the file; returns the largest difference."""
        Path("again.safetensors").unlink(missing_ok=True)
        self.trainc("consolidate", gguf, "-o", "again.safetensors")
        found = {key.removeprefix("transformer."): tensor for key, tensor in read_safetensors("again.safetensors").items()}
        expected = {key.removeprefix("transformer."): tensor for key, tensor in expected.items()}
        self.assertEqual(found.keys(), expected.keys())
        for key, tensor in expected.items():
            self.assertEqual(found[key].shape, tensor.shape, key)
        return max(harness.relative_error(found[key].values, tensor.values) for key, tensor in expected.items())

    def test_every_family(self):
        for name, edits in self.FAMILIES.items():
            with self.subTest(name=name):
                self.write_model(name, **edits)
                weights = read_safetensors("model/model.safetensors")
                _, err = self.trainc("export", "model/model.safetensors", "--like=model", "-o", "tuned.gguf")
                self.assertIn("wrote tuned.gguf: the weights of model/model.safetensors as F32, with the metadata of model", err)
                # Gemma's file has 1 + w, which rounds.
                self.assertLessEqual(self.read_again("tuned.gguf", weights), 1e-6 if name.startswith("gemma") else 0)
                shutil.move("model/model.safetensors", "weights.safetensors")
                self.trainc("export", "weights.safetensors", "--like=tuned.gguf", "-o", "again.gguf")
                self.assertEqual(Path("again.gguf").stat().st_size, Path("tuned.gguf").stat().st_size)
                self.assertLessEqual(self.read_again("again.gguf", weights), 1e-6 if name.startswith("gemma") else 0)

    def test_imported_again(self):
        """Models whose GGUF files say less than their configurations: the imported text computes the same."""
        write_data("data.safetensors")
        for name in ["falcon", "falcon_groups", "falcon_groups_one_norm", "bloom", "phi"]:
            with self.subTest(name=name):
                self.write_model(name)
                self.trainc("export", "model/model.safetensors", "--like=model", "-o", f"{name}.gguf")
                self.trainc("import", f"{name}.gguf", "-o", name)
                text = Path(name, "model.mlir").read_text()
                model = re.search("  model @(.*)", text)[1]
                plan = self.compile(text[:text.index("train.program")] + import_test.PROGRAM % (model, " x 48"))
                self.trainrun(plan, "--data", "data.safetensors", "--init", name, "--no-shuffle", "--steps", "1", "--metrics", "run.jsonl")
                losses = [line["loss"] for line in harness.metrics("run.jsonl") if "loss" in line]
                self.assert_close(losses, numbers_of(name)["losses"][:1], import_test.LOSS_BOUND, name)

    def test_forms_of_configs(self):
        """Forms of a config.json in which the same model is written: by older and newer versions of transformers, with other names, and with nulls."""
        gemma = {"query_pre_attn_scalar": 16, "layer_types": None, "rope_parameters": None}
        sliding = {**gemma, "layer_types": ["sliding_attention"] * 4}
        for name, edits, expected in [
            ("gemma3", {**gemma, "rope_theta": 5000.0, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}, {"gemma3.rope.freq_base": 5000, "gemma3.rope.scaling.factor": 8}),
            ("gemma3", {**gemma, "sliding_window_pattern": 6, "rope_local_base_freq": 10000.0}, {"gemma3.rope.freq_base": 1000000}),
            ("gemma3", {**sliding, "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}, {"gemma3.rope.freq_base": 1000000}),
            ("gemma3", {**sliding, "rope_theta": 10000.0}, {"gemma3.rope.freq_base": 10000}),
            ("gemma3", {**sliding, "head_dim": None, "query_pre_attn_scalar": 8}, {"gemma3.rope.dimension_count": 8}),
            ("qwen3", {"head_dim": None}, {"qwen3.rope.dimension_count": 8}),
            ("llama", {"head_dim": None, "num_key_value_heads": 2}, {"llama.rope.dimension_count": 8}),
            ("qwen2", {"num_key_value_heads": None}, {"qwen2.attention.head_count": 4}),
            ("bloom", {"n_layer": None, "num_hidden_layers": 2, "n_head": None, "num_attention_heads": 6, "hidden_size": None, "n_embed": 48, "seq_length": 64,
                       "attention_softmax_in_fp32": True, "offset_alibi": 100, "skip_bias_add": True, "n_inner": None, "slow_but_exact": False},
             {"bloom.attention.head_count": 6, "bloom.attention.head_count_kv": 6, "bloom.embedding_length": 48, "bloom.feed_forward_length": 192,
              "bloom.block_count": 2, "bloom.context_length": 64}),
            ("falcon_groups", {"num_ln_in_parallel_attn": 2, "multi_query": False}, {"falcon.attention.head_count_kv": 2, "falcon.tensor_data_layout": '"jploski"'}),
        ]:  # fmt: skip
            with self.subTest(name=name, edits=edits):
                self.write_model(name, **edits)
                self.trainc("export", "model/model.safetensors", "--like=model", "-o", "tuned.gguf")
                out, _ = self.trainc("dump", "tuned.gguf")
                for key, value in expected.items():
                    self.assertRegex(out, rf"(?m)^{re.escape(key)} +{re.escape(str(value))}$")

    def test_types(self):
        self.write_model("llama")
        weights = read_safetensors("model/model.safetensors")
        for type, bound in [("f16", 2**-11), ("bf16", 2**-8), ("q8_0", 1 / 127)]:
            _, err = self.trainc("export", "model/model.safetensors", "--like=model", f"--type={type}", "-o", "tuned.gguf")
            self.assertIn(f"as {type.upper()}", err)
            error = self.read_again("tuned.gguf", weights)
            self.assertTrue(bound / 16 < error < bound, (type, error))
            out, _ = self.trainc("dump", "tuned.gguf")
            self.assertRegex(out, rf"blk.0.ffn_up.weight +{type.upper()} ")
            self.assertRegex(out, "blk.0.attn_norm.weight +F32 ")
            self.assertRegex(out, rf"blk.0.ffn_down.weight +{'F16' if type == 'q8_0' else type.upper()} ")  # rows of 48 numbers
        self.assertRegex(out, r"general.file_type +7\b")
        self.assertRegex(out, r'tokenizer.ggml.pre +"gpt-2"')

    def test_metadata_and_rows_of_a_checkpoint(self):
        write_data("data.safetensors")
        plan = self.compile(self.imported(numbers_of("llama")))
        self.write_tokenizer()
        self.run_steps(plan, "--steps", "1", "--checkpoint-dir", "run")
        self.trainc("export", "run", "--like=model", "-o", "tuned.gguf")
        losses = [self.trainrun(plan, "--eval-data", "data.safetensors", weights)[1].split("evaluation loss")[1].split("(")[0]
                  for weights in ("--init=tuned.gguf", "--resume=run")]
        self.assertEqual(*losses)
        out, _ = self.trainc("dump", "tuned.gguf")
        config = numbers_of("llama")["config"]
        for key, value in {"general.architecture": '"llama"', "general.type": '"model"', "general.file_type": 0, "general.name": '"model"',
                           "general.quantization_version": 2, "llama.context_length": 64, "llama.embedding_length": 32, "llama.block_count": 2,
                           "llama.feed_forward_length": 48, "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2, "llama.vocab_size": 256,
                           "llama.rope.dimension_count": config.get("head_dim", 8), "llama.attention.layer_norm_rms_epsilon": "1e-05"}.items():
            self.assertRegex(out, rf"(?m)^{re.escape(key)} +{re.escape(str(value))}$")
        # The rows of a head's two halves take turns.
        head = config.get("head_dim", 8)
        rows = gguf_floats("tuned.gguf", "blk.0.attn_q.weight")
        weights = read_safetensors("run/step-00000001/model.safetensors")["model.layers.0.self_attn.q_proj.weight"].values
        self.assertEqual(rows[32:64], list(weights[head // 2 * 32:head // 2 * 32 + 32]))
        self.assertEqual(rows[64:96], list(weights[32:64]))

    def test_rotary_factors(self):
        self.write_model("llama3_rope")
        self.trainc("export", "model/model.safetensors", "--like=model", "-o", "tuned.gguf")
        factors = gguf_floats("tuned.gguf", "rope_freqs.weight")
        scaling = numbers_of("llama3_rope")["config"]["rope_scaling"]
        for index, factor in enumerate(factors):  # the rule, by wavelengths
            wavelength = 2 * math.pi * 10000 ** (2 * index / 16)
            turns = scaling["original_max_position_embeddings"] / wavelength
            smooth = (turns - 1) / 3
            expected = 1 if turns > 4 else 8 if turns < 1 else 1 / ((1 - smooth) / 8 + smooth)
            self.assertAlmostEqual(factor, expected, places=5)
        self.assertEqual(len(factors), 8)
        self.assertTrue(factors[0] < factors[-1] == 8)

    def test_models_that_gguf_cannot_say(self):
        export = [TRAINC, "export", "model/model.safetensors", "--like=model", "-o", "tuned.gguf"]
        for name, edits, *expected in [
            ("opt", {}, 'model/config.json: expected a model of an architecture that llama.cpp has, found "opt"', "write a Hugging Face folder with -o FOLDER"),
            ("roberta", {}, 'model/config.json: expected a model of a type that trainc writes as GGUF (mistral, llama', 'found "roberta"'),
            ("falcon_rw", {}, '"bias" is true, and llama.cpp\'s architecture falcon has no such models'),
            ("falcon_rw", {"bias": False}, "alibi: true, and false (by default) in GGUF", "parallel_attn: false, and true (by default) in GGUF"),
            ("bloom_norms_in_stream", {}, "apply_residual_connection_post_layernorm: true, and false (by default) in GGUF"),
            ("mistral_window", {}, '"sliding_window" is 7, and llama.cpp\'s architecture llama has no window'),
            ("phi3", {}, '"sliding_window" is 9, and llama.cpp\'s architecture phi3 has no window'),
            ("gpt_neox", {"attention_bias": False}, '"attention_bias" is false, and llama.cpp\'s architecture gptneox has no such models'),
            ("gemma3", {"rope_parameters": {"full_attention": {}, "sliding_attention": 5}}, "rope_parameters\": expected rotary positions without scaling in layers with a window", "found {\"sliding_attention\":5}"),
            ("gemma2", {"layer_types": "x", "query_pre_attn_scalar": 16}, '"layer_types": expected full_attention in each 2th layer'),
            ("phi3_longrope", {}, "expected rotary positions that are scaled by the rule linear, yarn or llama3"),
            ("llama_yarn", {}, "would compute otherwise, as these keys show", "rope_scaling", "convert_hf_to_gguf.py"),
            ("llama", {"hidden_act": "relu"}, 'hidden_act: "relu", and "silu" (by default) in GGUF'),
            ("llama", {"new_scale": 3}, "new_scale: 3, which GGUF cannot represent"),
            ("llama", {"hidden_size": None}, 'model/config.json: expected the key "hidden_size", found none'),
            ("llama", {"rms_norm_eps": "small"}, '"rms_norm_eps": expected a number, found "small"'),
            ("smollm3", {}, "no_rope_layer_interval: 2, and 4 in GGUF"),
            ("gemma2", {"layer_types": ["full_attention"] * 2, "query_pre_attn_scalar": 16}, "layer_types"),
        ]:  # fmt: skip
            with self.subTest(name=name, edits=edits):
                self.write_model(name, **edits)
                self.fails(export, 2, *expected)
                self.assertEqual(list(Path(".").glob("tuned*")), [])
        self.write_model("llama")
        for merges, expected in [(["ab"], 'merges: expected two tokens, found "ab"'), (["a b c"], 'merges: expected two tokens, found "a b c"'),
                                 ([["a b", "c"]], "merges: expected tokens without spaces")]:
            self.write_tokenizer(merges)
            self.fails(export, 2, expected)
        Path("model/tokenizer.json").unlink()
        self.fails(export, 2, "--like=model: expected a tokenizer.json in this folder")
        self.write_tokenizer()
        weights = read_safetensors("model/model.safetensors")
        weights["model.norm.weight"].values[3] = math.nan
        write_safetensors("nan.safetensors", weights)
        self.fails([TRAINC, "export", "nan.safetensors", *export[3:]], 2, "tensor 'model.norm.weight': a number is nan")
        weights["model.norm.weight"].values[3] = 0
        weights["model.layers.0.mlp.up_proj.weight"].values[3] = 1e5
        write_safetensors("large.safetensors", weights)
        self.fails([TRAINC, "export", "large.safetensors", *export[3:], "--type=f16"], 2, "a number is 100000, and F16 holds", "use --type=bf16 or f32")
        self.assertEqual(list(Path(".").glob("tuned*")), [])
        Path("tuned.gguf").write_text("mine")
        self.fails(export, 2, "-o tuned.gguf: ", "a GGUF file")
        self.fails([*export[:-1], "folder", "--type=f16"], 2, "--type needs a GGUF file as output")

    def python_package(self):
        try:
            import gguf

            gguf.GGUFReader
        except (ImportError, AttributeError):  # test/golden/gguf is no package
            self.skipTest("needs the Python package gguf")
        return gguf

    def test_names_of_python_package(self):
        """Names of tensors and keys of each family are those of llama.cpp's converter."""
        gguf = self.python_package()
        architectures = {name: id for id, name in gguf.MODEL_ARCH_NAMES.items()}
        keys = {value for group in vars(gguf.Keys).values() if isinstance(group, type)
                for value in vars(group).values() if isinstance(value, str)} | {"tokenizer.ggml.pre"}  # fmt: skip
        for name, edits in self.FAMILIES.items():
            with self.subTest(name=name):
                self.write_model(name, **edits)
                self.trainc("export", "model/model.safetensors", "--like=model", "-o", "tuned.gguf")
                reader = gguf.GGUFReader("tuned.gguf")
                architecture = reader.get_field("general.architecture").contents()
                names = gguf.get_tensor_name_map(architectures[architecture], 8)
                weights = read_safetensors("model/model.safetensors")
                # The converter removes BLOOM's prefix.
                expected = {names.get_name(key.removeprefix("transformer.") if name == "bloom" else key, try_suffixes=(".weight", ".bias")) for key in weights}
                self.assertEqual({tensor.name for tensor in reader.tensors} - {"rope_freqs.weight"}, expected)
                found = {key.replace(f"{architecture}.", "{arch}.", 1) for key in reader.fields if not key.startswith("GGUF.")}
                self.assertEqual(found - keys, set())

    def test_read_by_python_package(self):
        gguf = self.python_package()
        self.write_model("qwen3")
        self.trainc("export", "model/model.safetensors", "--like=model", "--type=q8_0", "-o", "tuned.gguf")
        reader = gguf.GGUFReader("tuned.gguf")
        self.assertEqual(reader.get_field("general.architecture").contents(), "qwen3")
        weights = read_safetensors("model/model.safetensors")
        found = {tensor.name: gguf.dequantize(tensor.data, tensor.tensor_type) for tensor in reader.tensors}
        for name, key in [("blk.1.attn_k.weight", "model.layers.1.self_attn.k_proj.weight"), ("token_embd.weight", "model.embed_tokens.weight"),
                          ("blk.0.attn_q_norm.weight", "model.layers.0.self_attn.q_norm.weight")]:
            self.assert_close(found[name].flatten().tolist(), weights[key].values, 1 / 127, name)


def gguf_floats(path, name):
    """The numbers of a tensor of F32 in a file whose first tensor is at offset 0, as trainc writes it."""
    data = Path(path).read_bytes()
    descriptions = [match.start() for match in re.finditer(rb"\x00\x00[a-z0-9_.]+\.weight[\x01\x02]\x00\x00\x00", data)]
    position, tensors = descriptions[0] - 6, {}
    while True:
        (length,) = struct.unpack_from("<Q", data, position)
        key = data[position + 8:position + 8 + length]
        if not re.fullmatch(rb"[a-z0-9_.]+\.(weight|bias)", key):
            break
        position += 8 + length
        (extents,) = struct.unpack_from("<I", data, position)
        shape = struct.unpack_from(f"<{extents}Q", data, position + 4)
        kind, offset = struct.unpack_from("<IQ", data, position + 4 + 8 * extents)
        position += 16 + 8 * extents
        tensors[key.decode()] = (kind, math.prod(shape), offset)
    begin = (position + 31) // 32 * 32
    kind, count, offset = tensors[name]
    assert kind == 0, kind
    return list(struct.unpack_from(f"<{count}f", data, begin + offset))


for golden_name in GenerationTest.GOLDENS:
    setattr(GenerationTest, f"test_{golden_name}", lambda self, name=golden_name: self.check_tokens(name))

if __name__ == "__main__":
    harness.main()
