"""Makes golden numbers of T5's biases of distances: test/golden/t5.json.

    pip install torch==2.11.0 transformers==5.24.0
    python test/golden/make_t5_goldens.py

The file holds the buckets of all distances, and what a tiny encoder with padded texts computes in float64, as make_import_goldens.py says.
"""

import json
from pathlib import Path

import torch
from make_import_goldens import float64_alone, numbers_of
from transformers.models.t5.modeling_t5 import T5Attention

import import_weights

CONFIG = {"architectures": ["T5ForTokenClassification"], "model_type": "t5", "vocab_size": 256, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2,
          "num_heads": 4, "relative_attention_num_buckets": 12, "relative_attention_max_distance": 20, "dropout_rate": 0.0, "classifier_dropout": 0.0,
          "feed_forward_proj": "relu", "layer_norm_epsilon": 1e-6, "pad_token_id": 0, "tie_word_embeddings": False,
          "id2label": {"0": "a", "1": "b", "2": "c"}}  # fmt: skip


def buckets(both_sides):
    """Buckets of keys from LENGTH - 1 positions after a query to as many before it."""
    distances = torch.arange(import_weights.LENGTH - 1, -import_weights.LENGTH, -1)
    return T5Attention._relative_position_bucket(distances, both_sides, CONFIG["relative_attention_num_buckets"],
                                                 CONFIG["relative_attention_max_distance"]).tolist()  # fmt: skip


def main():
    torch.set_num_threads(1)
    with float64_alone():
        encoder = numbers_of(CONFIG, "eager", [])
    result = {"buckets": {"causal": buckets(False), "both sides": buckets(True)}, "encoder": encoder}
    (Path(__file__).parent / "t5.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
