#!/usr/bin/env python3
"""Checks that llama.cpp computes the same as transformers with the GGUF files that `trainc export` writes.

    pip install xllamacpp==2026.10.11549
    test/golden/gguf/check_llama_cpp.py [NAME...]

Writes the tiny model of each family, or of each NAME, as F32. 64 greedy tokens of llama.cpp are those of transformers in float64
(test/golden/generation.json). Families of which only an edited model can be GGUF (families_test.py) have no such tokens.
"""
import json
import sys
from pathlib import Path

import xllamacpp

GOLDEN = Path(__file__).resolve().parents[1]
sys.path += [str(GOLDEN.parent / "end_to_end"), str(GOLDEN)]

import families_test  # noqa: E402
import import_test  # noqa: E402
import import_weights  # noqa: E402

GOLDENS = json.loads((GOLDEN / "generation.json").read_text())
NAMES = [name for name, edits in families_test.ExportGgufTest.FAMILIES.items() if not edits and name in GOLDENS]


def generate(path):
    """64 greedy tokens after the golden prompt."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.warmup = 128, 1, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    answer = xllamacpp.Server(params).handle_completions(
        {"prompt": list(import_weights.PROMPT), "n_predict": 64, "temperature": 0, "logprobs": 1, "cache_prompt": False})
    return [token["id"] for token in answer["choices"][0]["logprobs"]["content"]]


class LlamaCpp(import_test.ImportTestCase):
    def check(self, name):
        golden, numbers = GOLDENS[name], import_test.numbers_of(name)
        for key, entry in numbers["gradients"].items():
            if "wpe" in key:
                entry["shape"][0] += 64
        import_test.write_folder(Path("model"), {**numbers, "config": golden["config"]})
        # Tokens of two letters, which answers show one by one. One that does not occur ends a text.
        tokens = {chr(97 + id // 16) + chr(97 + id % 16): id for id in range(256)}
        Path("model/tokenizer.json").write_text(json.dumps({
            "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
            "post_processor": None, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": tokens, "merges": []}}))  # fmt: skip
        end = min(set(range(256)) - set(golden["tokens"]))
        Path("model/generation_config.json").write_text(json.dumps({"bos_token_id": end, "eos_token_id": end}))
        self.trainc("export", "model/model.safetensors", "--like=model", "-o", "model.gguf")
        self.assertEqual(generate(Path("model.gguf").resolve()), golden["tokens"])


for golden_name in sys.argv[1:] or NAMES:
    setattr(LlamaCpp, f"test_{golden_name}", lambda self, name=golden_name: self.check(name))

if __name__ == "__main__":
    import_test.harness.unittest.main(argv=sys.argv[:1])
