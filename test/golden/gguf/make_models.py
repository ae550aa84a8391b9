#!/usr/bin/env python3
"""Writes tiny models as GGUF files, as llama.cpp's converter lays them out, and what transformers reads from them.

    pip install gguf==0.19.0 transformers==5.24.0 torch==2.11.0 accelerate numpy safetensors
    test/golden/gguf/make_models.py [FAMILY...]

Writes, beside this script, for each family: FAMILY.gguf, random tensors in F32, F16 and Q8_0; FAMILY.safetensors, the tensors that
transformers makes of the file. Seeds for the fuzzer are copied to test/fuzz/corpus/gguf.
"""
import pathlib
import shutil
import sys

import gguf
import numpy
import safetensors.torch
import torch
import transformers
from gguf import GGMLQuantizationType as Type

HERE = pathlib.Path(__file__).parent
SEEDS = HERE.parents[1] / "fuzz" / "corpus" / "gguf"
WIDTH, HEADS, KEYS, HIDDEN, VOCABULARY = 32, 4, 2, 32, 8
HEAD = WIDTH // HEADS

GATED = {"ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}
SPLIT = {"attn_q": (WIDTH, WIDTH), "attn_k": (KEYS * HEAD, WIDTH), "attn_v": (KEYS * HEAD, WIDTH), "attn_output": (WIDTH, WIDTH)}
NORMS = {"attn_norm": (WIDTH,), "ffn_norm": (WIDTH,)}
HEAD_NORMS = {"attn_q_norm": (HEAD,), "attn_k_norm": (HEAD,)}
AFTER = {"post_attention_norm": (WIDTH,), "post_ffw_norm": (WIDTH,)}
# Tensors of a layer, names of those with a bias, and whether the head is the embedding, for each family.
FAMILIES = {
    "llama": (GATED | SPLIT | NORMS, [], False),
    "qwen2": (GATED | SPLIT | NORMS, ["attn_q", "attn_k", "attn_v"], False),
    "qwen3": (GATED | SPLIT | NORMS | HEAD_NORMS, [], True),
    "gemma2": (GATED | SPLIT | NORMS | AFTER, [], True),
    "gemma3": (GATED | SPLIT | NORMS | AFTER | HEAD_NORMS, [], True),
    "phi3": (
        {"attn_qkv": ((HEADS + 2 * KEYS) * HEAD, WIDTH), "attn_output": (WIDTH, WIDTH), "ffn_up": (2 * HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)} | NORMS,
        [], False,
    ),
    "starcoder2": (
        {"ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)} | SPLIT | NORMS,
        ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down", "attn_norm", "ffn_norm"], True,
    ),
    "gpt2": (
        {"attn_qkv": (3 * WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH), "ffn_up": (4 * WIDTH, WIDTH), "ffn_down": (WIDTH, 4 * WIDTH)} | NORMS,
        ["attn_qkv", "attn_output", "ffn_up", "ffn_down", "attn_norm", "ffn_norm"], True,
    ),
    "bloom": (
        {"attn_qkv": (3 * WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH), "ffn_up": (4 * WIDTH, WIDTH), "ffn_down": (WIDTH, 4 * WIDTH)} | NORMS,
        ["attn_qkv", "attn_output", "ffn_up", "ffn_down", "attn_norm", "ffn_norm"], True,
    ),
}
OLDER = ("gpt2", "bloom")  # as many heads of keys as of queries, and a wide MLP


def tensors_of(family: str) -> dict:
    layer, biased, tied = FAMILIES[family]
    shapes = {"token_embd.weight": (VOCABULARY, WIDTH), "output_norm.weight": (WIDTH,)}
    if family in ("gpt2", "starcoder2", "bloom"):
        shapes["output_norm.bias"] = (WIDTH,)
    if family == "bloom":
        shapes |= {"token_embd_norm.weight": (WIDTH,), "token_embd_norm.bias": (WIDTH,)}
    if family == "gpt2":
        shapes["position_embd.weight"] = (16, WIDTH)
    if not tied:
        shapes["output.weight"] = (VOCABULARY, WIDTH)
    for module, shape in layer.items():
        shapes[f"blk.0.{module}.weight"] = shape
        if module in biased:
            shapes[f"blk.0.{module}.bias"] = shape[:1]
    random = numpy.random.default_rng(1)
    return {name: random.normal(0, 1, shape).astype(numpy.float32) for name, shape in shapes.items()}


def write(family: str, path: pathlib.Path) -> None:
    writer = gguf.GGUFWriter(path, family)
    writer.add_block_count(1)
    writer.add_context_length(16)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(4 * WIDTH if family in OLDER else HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS if family in OLDER else KEYS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_vocab_size(VOCABULARY)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_layer_norm_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(HEAD)
    if family in ("gemma2", "gemma3", "phi3"):
        writer.add_sliding_window(16)
    for add in (writer.add_bos_token_id, writer.add_eos_token_id, writer.add_pad_token_id):
        add(1)
    for index, (name, tensor) in enumerate(tensors_of(family).items()):
        kind = Type.F32 if tensor.ndim == 1 else [Type.Q8_0, Type.F16, Type.F32][index % 3]
        writer.add_tensor(name, gguf.quants.quantize(tensor, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    for family in sys.argv[1:] or FAMILIES:
        path = HERE / f"{family}.gguf"
        write(family, path)
        # Sizes that transformers does not take from the file.
        sizes = {"head_dim": HEAD} if family in ("qwen3", "gemma2", "gemma3") else {}
        if family in ("gpt2", "starcoder2", "bloom"):
            sizes = {"vocab_size": VOCABULARY}
        if family == "gpt2":
            sizes["n_positions"] = 16
        model = transformers.AutoModelForCausalLM.from_pretrained(HERE, gguf_file=path.name, dtype=torch.float32, **sizes)
        tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
        if FAMILIES[family][2]:
            tensors.pop("lm_head.weight", None)
        safetensors.torch.save_file(tensors, HERE / f"{family}.safetensors")
        print(family, len(tensors), sum(tensor.numel() for tensor in tensors.values()))
    for family in {"llama", "gpt2"} & set(sys.argv[1:] or FAMILIES):
        shutil.copy(HERE / f"{family}.gguf", SEEDS)


if __name__ == "__main__":
    main()
