"""Writes generation.json: 64 greedy tokens of the tiny models of every family (import_models.py), by transformers in float64.

    pip install torch==2.11.0 transformers==5.24.0
    python test/golden/make_generation.py [NAME...]

Contexts are longer than those of test/golden/import, so that the prompt and all tokens fit. `margin` is the smallest distance between the
largest logit and the next one.
"""

import json
import sys
from pathlib import Path

import torch

import import_weights
from import_models import ATTENTION, MODELS
from make_import_goldens import float64_alone, greedy, load

TOKENS, POSITIONS = 64, 128


def with_positions(config):
    if config["model_type"] == "bloom":  # has no table of positions
        return config
    key = "n_positions" if "n_positions" in config else "max_position_embeddings"
    # From this length on, transformers changes the factors of longrope and Ministral 3's queries; a plan has those of its length.
    original = {"original_max_position_embeddings": 112}
    if "original_max_position_embeddings" in config:
        return {**config, key: POSITIONS, **original}
    if config["model_type"] == "ministral3":
        return {**config, key: POSITIONS, "rope_parameters": {**config["rope_parameters"], **original}}
    return {**config, key: POSITIONS}


def main():
    """Makes the numbers of the models named on the command line anew, or of all."""
    torch.set_num_threads(1)
    path = Path(__file__).with_name("generation.json")
    goldens = json.loads(path.read_text()) if sys.argv[1:] else {}
    for name, config in MODELS.items():
        # With this script's original length, phi3_long_texts is phi3_longrope.
        if import_weights.task_of(config) != "CausalLM" or "text_config" in config or name == "phi3_long_texts":
            continue
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        with float64_alone():
            tokens, margin = greedy(load(with_positions(config), ATTENTION.get(name, "eager")), import_weights.PROMPT, TOKENS)
        goldens[name] = {"config": with_positions(config), "tokens": tokens, "margin": margin}
        print(f"{name}: {len(set(tokens))} different tokens, margin {margin:.4f}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(golden)}" for name, golden in goldens.items())
    path.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
