"""Compares base/config_defaults.cpp with the classes of transformers: every default that both know must be equal.

    pip install transformers==5.24.0
    python test/golden/check_config_defaults.py
"""

import dataclasses
import json
import re
import sys
from pathlib import Path

from transformers.models.auto.configuration_auto import CONFIG_MAPPING

SOURCE = Path(__file__).resolve().parents[2] / "base" / "config_defaults.cpp"

# Keys that no field of a class holds: older names, and names of inner values. A class reads them from further arguments.
INNER = {"rope_theta": lambda rope: rope["rope_theta"], "partial_rotary_factor": lambda rope: rope.get("partial_rotary_factor", 1.0),
         "rotary_emb_base": lambda rope: rope["rope_theta"], "rotary_pct": lambda rope: rope["partial_rotary_factor"],
         "global_rope_theta": lambda rope: rope["full_attention"]["rope_theta"], "local_rope_theta": lambda rope: rope["sliding_attention"]["rope_theta"],
         "rope_local_base_freq": lambda rope: rope["sliding_attention"]["rope_theta"]}
# Keys of older versions, whose meaning is a constant of today's classes.
CONSTANT = {"position_embedding_type", "sliding_window_pattern", "global_attn_every_n_layers", "no_rope_layer_interval"}


def table():
    text = SOURCE.read_text()
    classes = {}
    for name, base, keys in re.findall(r'\{"([^"]+)", "([^"]*)", R"\((.*?)\)"\}', text, re.DOTALL):
        classes[name] = {**classes.get(base, {}), **json.loads(keys)}
    return classes


def main():
    faults, count = [], 0
    for name, keys in table().items():
        config = CONFIG_MAPPING[name]()
        fields = {field.name: field.default for field in dataclasses.fields(config)}
        rope = getattr(config, "rope_parameters", None) or {}
        for key, value in keys.items():
            if key in INNER and key not in fields:
                if name == "ministral3":
                    continue  # its class has rope_parameters, which are compared
                inner = rope.get("full_attention", rope) if key == "rope_theta" else rope
                expected = INNER[key](inner)
            elif key == "rope_parameters":
                expected, value = {k: v for k, v in rope.items() if k != "type"}, dict(value)
            elif key in fields:
                expected = fields[key]  # not the instance's, which depends on other keys
            else:
                if key not in CONSTANT and key not in ("attention_bias", "mlp_bias"):
                    faults.append(f"{name}: no such key: {key}")
                continue
            count += 1
            if value != expected:
                faults.append(f"{name}: {key} is {value}, and {expected} in transformers")
    print("\n".join(faults) or f"{count} defaults are equal")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
