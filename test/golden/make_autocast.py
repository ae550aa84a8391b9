#!/usr/bin/env python3
"""Trains Hugging Face's GPT-2 and Llama in fp32 and in torch.autocast(bfloat16), and writes the losses to autocast.json.

The models are examples/{gpt,llama}/small.mlir: trainrun draws the weights, transformers loads them from its checkpoint. Both sides
take the same samples in the same order at the same learning rates. Last comes trainc's own training beside PyTorch's, in both
precisions. Needs a build, torch, transformers and safetensors:

  python make_autocast.py                         write autocast.json
  python make_autocast.py --compare --rate 3e-3   only print how far the four curves lie apart
"""
import argparse
import copy
import json
import pathlib
import sys
import tempfile

import torch
import transformers
from hf_roundtrip import load_checkpoint, read_samples
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
import autocast_run  # noqa: E402
from make_goldens import BETAS, EPSILON, MAX_NORM, WEIGHT_DECAY  # noqa: E402


def initial_model(name, data):
    """Weights drawn by trainrun, in Hugging Face's model: a step with learning rate 0 writes them to a checkpoint."""
    autocast_run.train(autocast_run.text(name, rate=0.0), "fp32", data, steps=1, folder=f"{name}.rest")
    return load_checkpoint(pathlib.Path(f"{name}.rest/step-00000001"))


def train(model, data, rates, autocast):
    """The losses of PyTorch."""
    tokens, labels = read_samples(pathlib.Path(data), autocast_run.LENGTH, "<u2")
    groups = [
        {"params": [p for p in model.parameters() if p.ndim >= 2], "weight_decay": WEIGHT_DECAY},
        {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=rates[0], betas=BETAS, eps=EPSILON)
    losses = []
    for rate, inputs, targets in zip(rates, tokens.split(autocast_run.BATCH), labels.split(autocast_run.BATCH), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            logits = model(input_ids=inputs, use_cache=False).logits
            loss = functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
        losses.append(loss.item())
    return losses


def curves(name, rate):
    """The losses of each program in each precision."""
    data = autocast_run.write_tokens("tokens.bin")
    text = autocast_run.text(name, rate)
    metrics = {precision: autocast_run.train(text, precision, data) for precision in ("fp32", "bf16")}
    rates = [line["lr"] for line in metrics["fp32"]]
    found = {f"trainc {precision}": [line["loss"] for line in lines] for precision, lines in metrics.items()}
    model = initial_model(name, data)
    for precision in ("fp32", "bf16"):
        found[f"PyTorch {precision}"] = train(copy.deepcopy(model), data, rates, autocast=precision == "bf16")
    return found


def print_table(name, found):
    print(f"\n{name}: relative difference    windows of {autocast_run.WINDOW} steps, worst    last    worst step")
    for one, other in [("trainc bf16", "PyTorch bf16"), ("trainc fp32", "PyTorch fp32"), ("trainc bf16", "trainc fp32"),
                       ("PyTorch bf16", "PyTorch fp32")]:  # fmt: skip
        windows = autocast_run.window_differences(found[one], found[other])
        step, worst = autocast_run.worst_step(found[one], found[other])
        print(f"{one + ' of ' + other:30} {max(windows, key=abs):+14.3%} {windows[-1]:+14.3%} {worst:+10.3%} (step {step})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="write nothing")
    parser.add_argument("--rate", type=float, default=autocast_run.RATE, help="peak of the learning rate")
    arguments = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)  # one order of summation
    golden = {"made_by": f"make_autocast.py, torch {torch.__version__}, transformers {transformers.__version__}"}
    with tempfile.TemporaryDirectory() as folder:
        for name in autocast_run.MODELS:
            found = autocast_run.in_folder(folder, curves, name, arguments.rate)
            print_table(name, found)
            golden[name] = {precision: found[f"PyTorch {precision}"] for precision in ("fp32", "bf16")}
    if not arguments.compare:
        (HERE / "autocast.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
