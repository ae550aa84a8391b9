#!/usr/bin/env python3
"""Writes the golden numbers of three tiny models, computed by PyTorch in float64.

For each of `gpt`, `llama` and `mlp` a folder beside this script receives
  inputs.safetensors   initial weights (f32)
  data.safetensors     the samples of all steps, in step order
  golden.safetensors   loss, gradients, and the outcome of ten AdamW steps (f64)
README.md says what they mean and how to compare with them. Needs torch, transformers, safetensors:

  python make_goldens.py               write the files
  python make_goldens.py --float32     instead print how far PyTorch's own float32 lies from them
"""
import argparse
import math
import pathlib

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

STEPS = 10
VOCABULARY, CONTEXT, BATCH = 96, 16, 3
FEATURES, CLASSES, MLP_BATCH = 20, 10, 8
IGNORED = -100
LEARNING_RATE, BETAS, EPSILON, WEIGHT_DECAY, MAX_NORM = 1e-2, (0.9, 0.95), 1e-8, 0.1, 1.0
HERE = pathlib.Path(__file__).resolve().parent


# --- models -----------------------------------------------------------------------------------------------------


class ExactRmsNorm(nn.Module):
    """LlamaRMSNorm without its cast to float32, which would cost the goldens nine digits."""

    def __init__(self, weight, epsilon):
        super().__init__()
        self.weight = weight
        self.epsilon = epsilon

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon)


class ExactRotary(nn.Module):
    """LlamaRotaryEmbedding (default type) without its casts to float32."""

    def __init__(self, head_dim, theta):
        super().__init__()
        self.head_dim = head_dim
        self.theta = theta

    def forward(self, x, position_ids):
        exponents = torch.arange(0, self.head_dim, 2, dtype=torch.float64) / self.head_dim
        angles = position_ids[..., None].double() * self.theta**-exponents
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(FEATURES, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, CLASSES)

    def forward(self, features):
        return self.fc3(functional.relu(self.fc2(functional.relu(self.fc1(features)))))


def make_gpt():
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=CONTEXT, n_embd=32, n_layer=2, n_head=4,
        activation_function="gelu_new", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        bos_token_id=None, eos_token_id=None, attn_implementation="eager")  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


def make_llama():
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, max_position_embeddings=CONTEXT, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, intermediate_size=48, rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, tie_word_embeddings=False,
        attn_implementation="sdpa")  # fmt: skip  # eager casts the softmax to float32
    return transformers.LlamaForCausalLM(config)


def remove_float32_islands(model):
    """Replaces the modules of a Hugging Face Llama that compute in float32 whatever the model's type is."""
    decoder, config = model.model, model.config
    decoder.rotary_emb = ExactRotary(config.head_dim, config.rope_parameters["rope_theta"])
    for layer in decoder.layers:
        for name in ("input_layernorm", "post_attention_layernorm"):
            setattr(layer, name, ExactRmsNorm(getattr(layer, name).weight, config.rms_norm_eps))
    decoder.norm = ExactRmsNorm(decoder.norm.weight, config.rms_norm_eps)


MAKERS = {"gpt": make_gpt, "llama": make_llama, "mlp": Mlp}
# Adam divides by a gradient's own size, so a weight whose gradient is once near zero ends where rounding sends it.
# With these seeds no weight is in that position, and final weights can be compared tightly (see --float32).
SEEDS = {"gpt": 11, "llama": 1, "mlp": 1}


def public_name(name):
    """GPT-2's names as in its published checkpoints, which lack the prefix `transformer.`."""
    return name.removeprefix("transformer.")


def randomise(model, generator):
    """Weights large enough that every gradient matters, and no scale of 1 or bias of 0 that could hide a mistake."""
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        is_scale = name.endswith("weight") and parameter.ndim == 1
        parameter.data = 1.0 + 0.2 * noise if is_scale else 0.15 * noise


# --- data -------------------------------------------------------------------------------------------------------


def make_sequences(generator):
    """Rows of a mostly predictable walk over the vocabulary; labels are the next tokens, some of them ignored."""
    rows = STEPS * BATCH
    stream = torch.randint(VOCABULARY, (rows, CONTEXT + 1), generator=generator)
    predictable = torch.rand(rows, CONTEXT, generator=generator) < 0.8
    for t in range(CONTEXT):
        stream[:, t + 1] = torch.where(predictable[:, t], (5 * stream[:, t] + 3) % VOCABULARY, stream[:, t + 1])
    labels = stream[:, 1:].clone()
    for row in range(rows):  # 0, 2, 4, 6 or 8 ignored targets a row
        labels[row, torch.randperm(CONTEXT, generator=generator)[: 2 * (row % 5)]] = IGNORED
    labels[3 * BATCH + 1] = IGNORED  # and one row, in step 4, without any target
    return {"tokens": stream[:, :-1].contiguous().int(), "labels": labels.int()}


def make_points(generator):
    """Points of ten overlapping clusters, scaled so that the gradient's norm lies now above, now below MAX_NORM."""
    centres = torch.randn(CLASSES, FEATURES, generator=generator)
    labels = torch.randint(CLASSES, (STEPS * MLP_BATCH,), generator=generator)
    features = 0.5 * (centres[labels] + torch.randn(len(labels), FEATURES, generator=generator))
    return {"features": features, "labels": labels.int()}


def batches(data):
    """The data cut into STEPS batches."""
    pieces = {name: column.chunk(STEPS) for name, column in data.items()}
    return [{name: piece[step] for name, piece in pieces.items()} for step in range(STEPS)]


# --- training ---------------------------------------------------------------------------------------------------


def mean_loss(model, batch):
    """Mean cross-entropy over the targets that are not ignored."""
    labels = batch["labels"].long()
    if "features" in batch:
        logits = model(batch["features"].to(model.fc1.weight.dtype))
    else:
        logits = model(input_ids=batch["tokens"].long(), use_cache=False).logits
    return functional.cross_entropy(logits.flatten(0, -2), labels.flatten(), ignore_index=IGNORED)


def make_optimizer(model):
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=BETAS, eps=EPSILON)


def train(model, data):
    """Runs all steps; returns the tensors of golden.safetensors in the model's own type."""
    optimizer = make_optimizer(model)
    golden, losses, norms = {}, [], []
    for step, batch in enumerate(batches(data)):
        optimizer.zero_grad()
        loss = mean_loss(model, batch)
        loss.backward()
        if step == 0:
            golden |= {f"grad.{public_name(n)}": p.grad.clone() for n, p in model.named_parameters()}
        losses.append(loss.detach())
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM))
        optimizer.step()
    golden |= {f"final.{public_name(n)}": p.detach().clone() for n, p in model.named_parameters()}
    return golden | {"losses": torch.stack(losses), "grad_norms": torch.stack(norms), "loss": losses[0].clone()}


def check_against_library(name, inputs, data, golden):
    """The replaced modules must agree with Hugging Face's own, to the latter's float32."""
    expected = mean_loss(load_model(name, inputs, torch.float32), batches(data)[0]).item()
    assert math.isclose(golden["loss"].item(), expected, rel_tol=2e-6), (name, golden["loss"], expected)


def load_model(name, inputs, dtype, exact=False):
    model = MAKERS[name]()
    if exact and name == "llama":
        remove_float32_islands(model)
    for parameter_name, parameter in model.named_parameters():
        parameter.data = inputs[public_name(parameter_name)].clone()
    return model.to(dtype)


# --- files ------------------------------------------------------------------------------------------------------


def write(name, seed):
    generator = torch.Generator().manual_seed(seed)
    model = MAKERS[name]()
    randomise(model, generator)
    inputs = {public_name(n): p.detach().clone() for n, p in model.named_parameters()}
    data = make_points(generator) if name == "mlp" else make_sequences(generator)
    golden = train(load_model(name, inputs, torch.float64, exact=True), data)
    assert all(tensor.dtype == torch.float64 and tensor.isfinite().all() for tensor in golden.values())
    check_against_library(name, inputs, data, golden)

    folder = HERE / name
    folder.mkdir(exist_ok=True)
    made_by = {"made_by": f"make_goldens.py, torch {torch.__version__}, transformers {transformers.__version__}"}
    save_file(inputs, folder / "inputs.safetensors", metadata=made_by)
    save_file(data, folder / "data.safetensors", metadata=made_by)
    save_file(golden, folder / "golden.safetensors", metadata=made_by)
    print(f"{name}: losses {golden['losses'].tolist()}\n{name}: norms {golden['grad_norms'].tolist()}")


def without_key_bias(name, tensor):
    """GPT-2's key bias shifts all scores of a query alike, so its true gradient is zero: leave it out."""
    if not name.endswith("attn.c_attn.bias"):
        return tensor
    query, _, value = tensor.chunk(3)
    return torch.cat((query, value))


def relative_error(name, actual, expected):
    actual, expected = (without_key_bias(name, t.double()) for t in (actual, expected))
    return ((actual - expected).abs().max() / expected.abs().max()).item()


def print_float32_errors(name):
    folder = HERE / name
    inputs, data, golden = (load_file(folder / f"{part}.safetensors") for part in ("inputs", "data", "golden"))
    actual = train(load_model(name, inputs, torch.float32), data)
    for kind in ("loss", "losses", "grad_norms", "grad.", "final."):
        names = [n for n in golden if n == kind or (kind.endswith(".") and n.startswith(kind))]
        error, worst = max((relative_error(n, actual[n], golden[n]), n) for n in names)
        print(f"{name:6} {kind:10} {error:.1e}  {worst}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--float32", action="store_true", help="print the errors of float32, write nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # one order of summation, so that the files are the same on every machine
    for name, seed in SEEDS.items():
        if arguments.float32:
            print_float32_errors(name)
        else:
            write(name, seed)


if __name__ == "__main__":
    main()
