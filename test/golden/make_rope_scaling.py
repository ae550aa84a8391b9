#!/usr/bin/env python3
"""Writes rope_scaling.txt: frequencies of rotary positions by the functions of Hugging Face's transformers, with scalings of published models.

Needs torch and transformers (PyPI). test/unit/nn/rope_scaling_test.cpp reads the file. A case has three lines: theta, the number of rotated
numbers, and the scaling as a model's file has it; the factor of cosines and sines; the frequencies, which transformers computes in float32.
"""
import pathlib

import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

LONG = [1.0 + 0.5 * i for i in range(16)]

# scaling in a model's file, theta, rotated numbers, parameters of transformers, other keys of config.json
CASES = [
    ("linear(factor 8)", 1e6, 256, {"rope_type": "linear", "factor": 8.0}, {}),  # Gemma 3
    ("llama3(factor 8, low 1, high 4, original 8192)", 5e5, 128,  # Llama 3.1
     {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}, {}),
    ("llama3(factor 32, low 1, high 4, original 8192)", 5e5, 64,  # Llama 3.2 1B
     {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}, {}),
    ("yarn(factor 4, original 32768)", 1e6, 128,  # Qwen 2.5
     {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, {}),
    ("yarn(factor 32, original 4096, beta_fast 32, beta_slow 1, untruncated)", 1.5e5, 64,  # gpt-oss
     {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}, {}),
    ("yarn(factor 16, original 4096, beta_fast 64, beta_slow 2, attention_factor 1.25)", 1e4, 32,
     {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096, "beta_fast": 64.0, "beta_slow": 2.0, "attention_factor": 1.25}, {}),
    (f"longrope(factors [{', '.join(map(str, LONG))}], attention_factor 1.1902380714238083)", 1e4, 32,  # as Phi-3, of short heads
     {"rope_type": "longrope", "short_factor": [1.0] * 16, "long_factor": LONG, "factor": 32.0, "original_max_position_embeddings": 4096}, {"seq_len": 8192}),
    ("proportional(share 0.25)", 1e6, 512,  # Gemma 4
     {"rope_type": "proportional", "partial_rotary_factor": 0.25}, {}),
]  # fmt: skip


def main():
    lines = []
    for text, theta, rotary, parameters, options in CASES:
        config = transformers.LlamaConfig(hidden_size=rotary, num_attention_heads=1, head_dim=rotary, max_position_embeddings=131072)
        config.rope_parameters = {"rope_theta": theta, **parameters}
        frequencies, factor = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, torch.device("cpu"), **options)
        lines += [f"{theta:g} {rotary} {text}", repr(float(factor)), " ".join(repr(x) for x in frequencies.double().tolist())]
    path = pathlib.Path(__file__).resolve().parent / "rope_scaling.txt"
    path.write_text("\n".join(lines) + "\n")
    print(f"transformers {transformers.__version__}, torch {torch.__version__}: {len(CASES)} cases")


if __name__ == "__main__":
    main()
