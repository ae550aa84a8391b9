"""Checks that `trainc import` loses no key of a config that changes what transformers computes.

    pip install torch==2.11.0 transformers==5.24.0
    python test/golden/check_config_keys.py [NAME...]

Gives each key of the config class of each golden model (import_models.py), and each key that the class or the model reads beside
them, other values, and removes it. For each such config that `trainc import` accepts, one of these holds, else the config is printed:

* transformers rejects it,
* the model's text changes, and so does what transformers computes: the loss in evaluation, the loss in training (with dropout), the norm of
  all gradients, or the parameters,
* neither changes.

Keys of tokens are exempt as to gradients, because pad_token_id freezes a row of the embedding, and some keys (TOLD) as to texts. Values that
the text carries are compared by the goldens of test/golden/import; with --losses, each text is also trained for a step here and its loss
compared.
"""

import copy
import dataclasses
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "end_to_end"))

import import_test  # noqa: E402
from harness import TRAINC, TRAINRUN  # noqa: E402
from import_models import ATTENTION, MODELS, OPTIONS  # noqa: E402
from make_import_goldens import float64_alone, load, losses_of_rows  # noqa: E402

ACTIVATIONS = ["gelu", "gelu_new", "relu", "silu", "tanh"]
# Each in place of the model's own, in the forms of transformers 4 and 5.
ROTARY = [
    {}, {"rope_theta": 77.0}, {"rope_type": "default"}, {"rope_type": "linear", "factor": 2.0}, {"type": "linear", "rope_type": "default", "factor": 2.0},
    {"rope_type": "dynamic", "factor": 2.0}, {"rope_type": "yarn", "factor": 4.0}, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "attention_factor": 0.5},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "mscale": 0.5, "mscale_all_dim": 0.75},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "mscale": 0.5},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 4.0, "beta_slow": 0.5, "truncate": False},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32},
    {"rope_type": "default", "partial_rotary_factor": 0.5}, {"rope_type": "linear", "factor": 2.0, "attention_factor": 3.0},
    {"rope_type": "default", "mrope_section": [2, 1, 1]},
]  # fmt: skip
# Words of keys of which the text is told, and on which no number that is compared may depend: the class's window is longer than the texts here.
TOLD = re.compile("initializer_range|init_std|max_position_embeddings|n_positions|token_id|sliding")
SIZES = {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "n_embd", "n_layer"}


def keys_of(model_class, config):
    """Keys that the classes read, each with the value that a config without it has."""
    config_class = model_class.config_class
    keys = {field.name: None if field.default is dataclasses.MISSING else field.default for field in dataclasses.fields(config_class)}
    sources = [Path(sys.modules[each.__module__].__file__).read_text() for each in (config_class, model_class)]
    found = re.findall(r'kwargs\.(?:get|pop)\("(\w+)"|getattr\((?:self\.)?config, "(\w+)"|\bconfig\.(\w+)', "".join(sources))
    read = config_class.from_dict(copy.deepcopy(config))
    for key in [*(name for names in found for name in names if name), *getattr(config_class, "attribute_map", {}), *config]:
        value = getattr(read, key, None)
        keys.setdefault(key, value if isinstance(value, (bool, int, float, str, list)) else None)
    return {key: config.get(key, value) for key, value in keys.items() if key not in ("model_type", "architectures", "id2label", "label2id")}


def other_values(key, value):
    if isinstance(value, bool):
        return [None, not value]
    if "token_id" in key:
        return [None, 0, 1, 84]
    if isinstance(value, int):
        return [None, 2 * value, 0, 1]
    if isinstance(value, float):
        return [None, 1.5 * value + 0.125, 0.0]
    if isinstance(value, str):
        return [None, *(ACTIVATIONS if value in transformers.activations.ACT2FN else ["other"])]
    if isinstance(value, list):
        return [None, value[::-1], *([[kind] * len(value) for kind in ("sliding_attention", "full_attention")] if isinstance(value[0], str) else [])]
    return [True, False, 0.25, 2]


def edits(model_class, config):
    """Pairs of a description and a config."""
    keys = keys_of(model_class, config)
    for key, value in keys.items():
        for other in other_values(key, value):
            yield f"{key} = {json.dumps(other)}", {**config, key: other}
        if key in config and key not in SIZES:
            yield f"without {key}", {name: each for name, each in config.items() if name != key}
    rest = {key: value for key, value in config.items() if key not in ("rope_parameters", "rope_scaling", "rope_theta")}
    for rotary in ROTARY if "rope_parameters" in keys else []:
        for key in ("rope_parameters", "rope_scaling"):
            for outer in ({}, {"rope_theta": 123.0}, {"original_max_position_embeddings": 24}):
                yield f"{key} = {json.dumps(rotary)}, {json.dumps(outer)}", {**rest, **outer, key: rotary}
        for kinds in ({"full_attention": rotary}, {"sliding_attention": rotary}, {"full_attention": rotary, "sliding_attention": {"rope_theta": 55.0}}):
            yield f"rope_parameters = {json.dumps(kinds)}", {**rest, "rope_parameters": kinds}
    rest = {key: value for key, value in config.items() if key not in ("layer_types", "sliding_window", "use_sliding_window")}
    layers = config.get("num_hidden_layers", 2)
    for kinds in [["sliding_attention"] * layers, (["full_attention", "sliding_attention"] * layers)[:layers]] if "layer_types" in keys else []:
        for outer in ({}, {"sliding_window": 5}, {"sliding_window": 5, "use_sliding_window": True}, {"sliding_window": 5, "use_sliding_window": False}):
            yield f"layer_types = {json.dumps(kinds)}, {json.dumps(outer)}", {**rest, **outer, "layer_types": kinds}


def attention_of(name, config):
    """The form of attention that computes as the model does. The eager one adds Falcon's ALiBi twice: it is in the mask, too."""
    return "sdpa" if config["model_type"] == "falcon" and config.get("alibi") else ATTENTION.get(name, "eager")


def numbers_of(name, config):
    """Loss, loss in training and norm of the gradients, and the parameters' shapes; nothing if transformers rejects the config."""
    with float64_alone():
        try:
            model = load(config, attention_of(name, config))
            loss_of = losses_of_rows(config, "--token-types" in OPTIONS.get(name, []))
            loss = loss_of(model, slice(0, 2))
            loss.backward()
            loss = float(loss.detach())
            squares = sum(float(parameter.grad.square().sum()) for parameter in model.parameters() if parameter.grad is not None)
            torch.manual_seed(1)
            with torch.no_grad():
                training = loss_of(model.train(), slice(0, 2))
        except Exception:  # of any kind, as the classes check little
            return None
    return [loss, float(training), math.sqrt(squares)], {key: list(parameter.shape) for key, parameter in model.named_parameters()}


def imported(name, config, folder):
    """The model's text; nothing if trainc rejects the config."""
    (folder / "config.json").write_text(json.dumps(config))
    options = OPTIONS.get(name, [])
    done = subprocess.run([TRAINC, "import", folder / "config.json", *options, "-o", folder / "model.mlir"], capture_output=True)
    if done.returncode not in (0, 2):
        raise AssertionError(f"{name}: trainc import ended with {done.returncode} on {config}")
    return (folder / "model.mlir").read_text() if done.returncode == 0 else None


class Rejected(Exception):
    """Error of trainc compile or trainrun about an imported text."""


def computation(text):
    """A text without comments and without the exported config."""
    return re.sub(r'(?s)//[^\n]*|export "config.json" \{.*?\} \{', "", text)


def trained_loss(name, config, shapes, text, folder):
    """The first loss of trainrun, as in import_test.py."""
    numbers = {"config": config, "gradients": {key: {"shape": shape} for key, shape in shapes.items()}}
    import_test.write_folder(folder / "model", numbers)
    import_test.write_data(folder / "data.safetensors", {**numbers, "options": OPTIONS.get(name, [])})
    start = text.index("train.program")
    program = import_test.PROGRAM % (re.search("  model @(.*)", text[start:])[1], "" if "image_size" in config else " x 48")
    (folder / "text.mlir").write_text(text[:start] + program)

    def run(*command):
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise Rejected(done.stderr)

    run(TRAINC, "compile", "--cpu=native", folder / "text.mlir", "-o", folder / "plan")
    run(TRAINRUN, folder / "plan", "--data", folder / "data.safetensors", "--init", folder / "model", "--no-shuffle", "--steps=1",
        "--metrics", folder / "metrics.jsonl")
    return json.loads((folder / "metrics.jsonl").read_text().splitlines()[0])["loss"]


def check(name, compares_losses):
    config = MODELS[name]
    model_class = getattr(transformers, config["architectures"][0])
    faults, seen, counts = [], set(), {"rejected": 0, "carried": 0, "without effect": 0}

    def tell(fault):
        faults.append(fault)
        print(fault, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        base, base_shapes = numbers_of(name, config)
        text = computation(imported(name, config, folder))
        for what, edited in edits(model_class, config):
            found = imported(name, edited, folder) if edited != config and json.dumps(edited) not in seen else None
            seen.add(json.dumps(edited))
            numbers = numbers_of(name, edited) if found else None
            if not numbers:
                counts["rejected"] += 1
                continue
            (numbers, shapes), is_same = numbers, computation(found) == text
            compared = 2 if "token_id" in what else 3
            differs = shapes != base_shapes or any(abs(one - other) > 1e-9 * abs(other) for one, other in list(zip(numbers, base))[:compared])
            counts["without effect" if is_same else "carried"] += 1
            if is_same and differs:
                tell(f"{name}: {what}: trainc import ignores it, and transformers computes {numbers} instead of {base}")
            elif not is_same and not differs and not TOLD.search(what):
                tell(f"{name}: {what}: trainc import changes the text, and transformers computes the same")
            elif not is_same and compares_losses and "dropout" not in found and computation(found) not in seen:
                seen.add(computation(found))
                with tempfile.TemporaryDirectory() as run:
                    try:
                        loss = trained_loss(name, edited, shapes, found, Path(run))
                    except Rejected as rejected:
                        tell(f"{name}: {what}: trainc import accepts it, and trainc or trainrun rejects the text: {rejected}")
                        continue
                if abs(loss - numbers[0]) > 2e-6 * abs(numbers[0]):
                    tell(f"{name}: {what}: trainrun's loss is {loss}, transformers' {numbers[0]}")
    print(f"{name}: {', '.join(f'{count} {what}' for what, count in counts.items())}, {len(faults)} faults", flush=True)
    return faults


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    names = [name for name in sys.argv[1:] if name != "--losses"] or list(MODELS)
    faults = [fault for name in names for fault in check(name, "--losses" in sys.argv)]
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
