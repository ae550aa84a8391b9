#!/usr/bin/env python3
"""Writes grad_scaler.txt: what scale PyTorch's GradScaler has in each of 5000 steps, of which a seeded choice overflows.

Without torch, Scaler below stands in for it: torch's _amp_update_scale_, with a minimum of 1, which torch has not.

  python make_grad_scaler.py           write the file
  python make_grad_scaler.py --torch   instead check that torch's GradScaler gives the runs
"""
import pathlib
import random
import struct
import sys

STEPS = 5000
# initial scale, growth interval, share of steps that overflow, seed
RUNS = [
    (2**16, 2000, 0.001, 1),
    (2**16, 2000, 0.0001, 2),
    (2**16, 50, 0.013, 3),
    (2**40, 7, 0.02, 4),  # grows until twice of it would be infinite
]


def in_f32(number):
    """The number as f32 holds it."""
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return float("inf")


class Scaler:
    def __init__(self, scale, window):
        self.scale, self.window, self.good = float(scale), window, 0

    def update(self, overflows):
        if overflows:
            self.good = 0
            self.scale = max(in_f32(self.scale * 0.5), 1.0)
            return
        self.good += 1
        if self.good == self.window:
            self.good = 0
            grown = in_f32(self.scale * 2)
            if grown != float("inf"):
                self.scale = grown


class TorchScaler:
    def __init__(self, scale, window):
        import torch

        self.torch = torch
        self.scaler = torch.amp.GradScaler("cpu", init_scale=float(scale), growth_interval=window)
        self.weight = torch.zeros(1, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.weight], lr=0.0)

    @property
    def scale(self):
        return self.scaler.get_scale()

    def update(self, overflows):
        self.scaler.scale(self.torch.zeros(()))  # makes its state on first use
        self.weight.grad = self.torch.full((1,), float("inf") if overflows else 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()


def overflowing(share, seed):
    numbers = random.Random(seed)
    return [step for step in range(STEPS) if numbers.random() < share]


def scales(scaler, overflows):
    """The steps in which the scale is another than before, with it."""
    changes, last, overflows = [], None, set(overflows)
    for step in range(STEPS):
        if scaler.scale != last:
            last = scaler.scale
            changes.append((step, last))
        scaler.update(step in overflows)
    return changes


def main():
    lines = []
    for *settings, share, seed in RUNS:
        overflows = overflowing(share, seed)
        changes = scales(Scaler(*settings), overflows)
        if "--torch" in sys.argv:
            assert scales(TorchScaler(*settings), overflows) == changes, settings
            assert min(scale for _, scale in changes) > 1, "torch has no minimum"
            print(settings, "equals torch's in", STEPS, "steps,", len(overflows), "overflows")
            continue
        lines.append(" ".join(map(str, [*settings, STEPS])))
        lines.append(" ".join(map(str, [len(overflows), *overflows])))
        lines.append(" ".join([str(len(changes)), *(f"{step} {scale!r}" for step, scale in changes)]))
    if lines:
        pathlib.Path(__file__).with_name("grad_scaler.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
