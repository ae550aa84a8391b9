#!/usr/bin/env python3
"""Writes logits_processors.txt: probabilities of the next token by the logits processors of Hugging Face's transformers.

Needs torch and transformers (PyPI). test/unit/runtime/training/generate_test.cpp reads the file. A case has four lines: temperature, top-k (0:
none), top-p, min-p and repetition penalty; the tokens of the text; the logits; the probability of each token, 0 for tokens left out.
"""
import pathlib
import random

import torch
import transformers

VOCABULARY = 40

# temperature, top-k, top-p, min-p, repetition penalty
CASES = [
    (1.0, 0, 1.0, 0.0, 1.0),
    (0.7, 0, 1.0, 0.0, 1.0),
    (1.0, 0, 0.9, 0.0, 1.0),
    (1.0, 0, 0.01, 0.0, 1.0),  # the most likely token alone
    (1.0, 0, 1.0, 0.05, 1.0),
    (2.5, 0, 1.0, 0.3, 1.0),
    (1.0, 0, 1.0, 0.0, 1.3),
    (1.0, 0, 1.0, 0.0, 0.8),
    (0.8, 12, 0.85, 0.1, 1.2),
    (1.5, 5, 0.95, 0.02, 1.1),
    (0.5, 30, 0.99, 0.001, 5.0),
]  # fmt: skip


def main():
    config = transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=16, n_embd=8, n_layer=1, n_head=1)
    model = transformers.GPT2LMHeadModel(config)
    lines = []
    for seed, (temperature, top_k, top_p, min_p, penalty) in enumerate(CASES):
        numbers = random.Random(seed)
        logits = torch.tensor([[numbers.gauss(0, 3) for _ in range(VOCABULARY)]], dtype=torch.float32)
        text = [numbers.randrange(VOCABULARY) for _ in range(12)]
        # top_k 0 leaves the processor out; the default is 50
        generation = transformers.GenerationConfig(do_sample=True, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p or None,
                                                   repetition_penalty=penalty)  # fmt: skip
        processors = model._get_logits_processor(generation_config=generation, input_ids_seq_length=len(text))
        print(settings := (temperature, top_k, top_p, min_p, penalty), [type(each).__name__ for each in processors])
        probabilities = torch.softmax(processors(torch.tensor([text]), logits.clone()).double(), dim=-1)[0]
        lines.append(" ".join(map(str, settings)))
        lines.append(" ".join(map(str, text)))
        lines.append(" ".join(map(repr, logits[0].tolist())))
        lines.append(" ".join(map(repr, probabilities.tolist())))
    print(f"torch {torch.__version__}, transformers {transformers.__version__}")
    pathlib.Path(__file__).with_name("logits_processors.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
