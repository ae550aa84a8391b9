#!/usr/bin/env python3
"""Writes optimizers.txt: 200 steps of optimizers in float64, by PyTorch, and for Lion by the algorithm of its paper.

Needs torch (PyPI). optimizers_test.cpp reads the file. A case has two lines: the optimizer as a model's file has it; the three weights after
each tenth step. In step k, counted from 0, the weight i has the gradient cos(0.3 k + i) + 0.05 weight.
"""
import math
import pathlib

import torch

STEPS, EACH, WEIGHTS = 200, 10, (0.5, -1.0, 2.0)


class Lion(torch.optim.Optimizer):
    """Chen et al. 2023, Symbolic Discovery of Optimization Algorithms, algorithm 2."""

    def __init__(self, parameters, lr, betas, weight_decay):
        super().__init__(parameters, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            first, second = group["betas"]
            for weight in group["params"]:
                mean = self.state[weight].setdefault("exp_avg", torch.zeros_like(weight))
                direction = torch.sign(first * mean + (1 - first) * weight.grad)
                self.state[weight]["exp_avg"] = second * mean + (1 - second) * weight.grad
                weight.sub_(group["lr"] * (direction + group["weight_decay"] * weight))


CASES = [
    ("adamw(lr 0.01, beta1 0.8, beta2 0.95, eps 1e-6, weight_decay 0.1)",
     lambda p: torch.optim.AdamW(p, lr=0.01, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    ("adam(lr 0.01, beta1 0.8, beta2 0.95, eps 1e-6, weight_decay 0.1)",
     lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    ("sgd(lr 0.01, momentum 0.7, weight_decay 0.1)", lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.7, weight_decay=0.1)),
    ("lion(lr 0.01, beta1 0.8, beta2 0.95, weight_decay 0.1)", lambda p: Lion(p, 0.01, (0.8, 0.95), 0.1)),
]  # fmt: skip


def run(make):
    weights = torch.nn.Parameter(torch.tensor([WEIGHTS], dtype=torch.float64))
    optimizer = make([weights])
    found = []
    for step in range(STEPS):
        with torch.no_grad():
            drive = torch.tensor([[math.cos(0.3 * step + i) for i in range(len(WEIGHTS))]], dtype=torch.float64)
            weights.grad = drive + 0.05 * weights
        optimizer.step()
        if (step + 1) % EACH == 0:
            found += weights.detach().flatten().tolist()
    return found


def main():
    lines = [line for text, make in CASES for line in (text, " ".join(repr(x) for x in run(make)))]
    pathlib.Path(__file__).with_name("optimizers.txt").write_text("\n".join(lines) + "\n")
    print(f"torch {torch.__version__}: {len(CASES)} cases")


if __name__ == "__main__":
    main()
