"""Makes golden numbers of tiny models of the families that `trainc import` knows: test/golden/import/NAME.json.

    pip install torch==2.11.0 transformers==5.24.0
    python test/golden/make_import_goldens.py [NAME...]

Each file holds a config.json and what transformers computes with it in float64: the loss and all gradients of the first step, five losses
under AdamW, and a decoder's greedy tokens. Weights are not stored: `import_weights.py` draws them from their names.
"""

import contextlib
import copy
import json
import math
import sys
from pathlib import Path

import torch
import transformers

import import_weights
from import_models import ATTENTION, LENGTHS, MODELS, OPTIONS

HERE = Path(__file__).parent / "import"


@contextlib.contextmanager
def float64_alone():
    """transformers computes norms, angles and the softmax in float32 in any case; here in float64."""
    wide = lambda value: torch.float64 if value in (torch.float32, torch.float) else value
    to, to_float, softmax = torch.Tensor.to, torch.Tensor.float, torch.nn.functional.softmax

    def patched_to(self, *args, **kwargs):
        return to(self, *[wide(arg) if isinstance(arg, torch.dtype) else arg for arg in args],
                  **{key: wide(value) if key == "dtype" else value for key, value in kwargs.items()})

    torch.Tensor.to = patched_to
    torch.Tensor.float = lambda self: to(self, torch.float64)
    torch.nn.functional.softmax = lambda *args, dtype=None, **kwargs: softmax(*args, dtype=wide(dtype), **kwargs)
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.Tensor.to, torch.Tensor.float, torch.nn.functional.softmax = to, to_float, softmax
        torch.set_default_dtype(torch.float32)


def parameters_of(model):
    """The parameters of a decoder or encoder by name. Those of a decoder within a model of pictures and texts have the names of the decoder alone."""
    pictures = ("model.vision_tower.", "model.multi_modal_projector.")
    return [(name.replace("model.language_model.", "model."), parameter) for name, parameter in model.named_parameters() if not name.startswith(pictures)]


def load(config, attention):
    """The model of a config with the weights of import_weights."""
    model_class = getattr(transformers, config["architectures"][0])
    model = model_class(model_class.config_class.from_dict(copy.deepcopy({**config, "attn_implementation": attention}))).to(torch.float64).eval()
    with torch.no_grad():
        for name, parameter in parameters_of(model):
            values = torch.tensor(import_weights.weights(config["model_type"], name, list(parameter.shape)), dtype=torch.float64)
            parameter.copy_(values.reshape(parameter.shape))
    return model


def decoder_loss(model, rows):
    logits = model(input_ids=rows[:, :-1]).logits
    return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), rows[:, 1:].reshape(-1))


# Names of columns in transformers.
ARGUMENTS = {"tokens": "input_ids", "segments": "attention_mask", "token_types": "token_type_ids"}


def losses_of_rows(config, token_types):
    """A function from a model and a slice of rows to the loss."""
    if import_weights.task_of(config) == "CausalLM":
        rows = torch.tensor(import_weights.tokens())
        return lambda model, part: decoder_loss(model, rows[part])
    columns = {ARGUMENTS.get(name, name): torch.tensor(rows) for name, rows in import_weights.encoder_columns(config, token_types).items()}
    columns = {name: values.to(torch.float64) if values.is_floating_point() else values for name, values in columns.items()}
    return lambda model, part: model(**{name: values[part] for name, values in columns.items()}).loss


def greedy(model, prompt, count):
    tokens = list(prompt)
    margin = math.inf
    for _ in range(count):
        with torch.no_grad():
            best = model(input_ids=torch.tensor([tokens])).logits[0, -1].topk(2)
        margin = min(margin, float(best.values[0] - best.values[1]))
        tokens.append(int(best.indices[0]))
    return tokens[len(prompt):], margin


def numbers_of(config, attention, options, lengths):
    model = load(config, attention)
    loss_of = losses_of_rows(config, "--token-types" in options)
    groups = [{"params": [p for _, p in parameters_of(model) if (p.dim() > 1) == decays], "weight_decay": 0.1 if decays else 0.0} for decays in (True, False)]
    optimizer = torch.optim.AdamW([group for group in groups if group["params"]], lr=1e-2, betas=(0.5, 0.95), eps=1e-8)
    result = {"config": config, "losses": [], "gradients": {}}
    if import_weights.task_of(config) == "CausalLM":
        result["tokens"], result["margin"] = greedy(model, import_weights.PROMPT, import_weights.GENERATED)
    if options:
        result["options"] = options
    if lengths:
        rows = torch.tensor(import_weights.tokens())[:import_weights.ROWS]
        with torch.no_grad():
            result["losses_of_lengths"] = {str(length): float(decoder_loss(model, rows[:, :length + 1])) for length in lengths}
    per_step = import_weights.ROWS
    for step in range(import_weights.STEPS):
        part = slice(step * per_step, (step + 1) * per_step)
        optimizer.zero_grad()
        loss = loss_of(model, part)
        loss.backward()
        result["losses"].append(float(loss))
        if step == 0:
            for name, parameter in parameters_of(model):
                gradient = parameter.grad.reshape(-1).tolist()
                result["gradients"][name] = {"shape": list(parameter.shape), "norm": math.sqrt(sum(g * g for g in gradient)),
                                             "projections": import_weights.projections(name, gradient)}
        optimizer.step()
    return result


def main():
    torch.set_num_threads(1)
    names = sys.argv[1:] or list(MODELS)
    for name in names:
        with float64_alone():
            numbers = numbers_of(MODELS[name], ATTENTION.get(name, "eager"), OPTIONS.get(name, []), LENGTHS.get(name, []))
        (HERE / f"{name}.json").write_text(json.dumps(numbers, indent=1) + "\n")
        margin = f", greedy margin {numbers['margin']:.4f}" if "margin" in numbers else ""
        print(f"{name}: losses {numbers['losses'][0]:.6f} to {numbers['losses'][-1]:.6f}{margin}")


if __name__ == "__main__":
    main()
