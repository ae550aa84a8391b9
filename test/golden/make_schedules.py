#!/usr/bin/env python3
"""Writes schedules.txt: learning rates of 200 steps by the schedules of PyTorch and transformers.

Needs torch and transformers (PyPI). test/unit/runtime/training/learning_rate_test.cpp reads the file. A case has two lines: the schedule as a
model's file has it; the learning rates, of each step after the warmup. During the warmup of n steps, trainc's
step k has the rate peak (k + 1) / n, while transformers' begins with 0.
"""
import pathlib

import torch
import transformers
from transformers import optimization

STEPS, WARMUP, PEAK = 200, 20, 0.5


def rates(make):
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=PEAK)
    schedule = make(optimizer)
    found = []
    for _ in range(STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return found


CASES = [
    ("linear(warmup 20)", lambda o: optimization.get_linear_schedule_with_warmup(o, WARMUP, STEPS)),
    ("cosine(warmup 20)", lambda o: optimization.get_cosine_schedule_with_warmup(o, WARMUP, STEPS)),
    ("cosine(warmup_ratio 0.1)", lambda o: optimization.get_cosine_schedule_with_warmup(o, WARMUP, STEPS)),
    ("cosine(warmup 20, minimum 0.05)",
     lambda o: optimization.get_cosine_with_min_lr_schedule_with_warmup(o, WARMUP, STEPS, min_lr=0.05)),
    ("cosine_with_restarts(warmup 20, cycles 3)",
     lambda o: optimization.get_cosine_with_hard_restarts_schedule_with_warmup(o, WARMUP, STEPS, num_cycles=3)),
    ("polynomial(warmup 20, power 2, minimum 0.01)",
     lambda o: optimization.get_polynomial_decay_schedule_with_warmup(o, WARMUP, STEPS, lr_end=0.01, power=2.0)),
    ("inverse_sqrt(warmup 20)", lambda o: optimization.get_inverse_sqrt_schedule(o, WARMUP)),
    ("inverse_sqrt(warmup 20, timescale 50)", lambda o: optimization.get_inverse_sqrt_schedule(o, WARMUP, timescale=50)),
    ("linear(warmup 20, decay 60, minimum 0.05)",
     lambda o: optimization.get_wsd_schedule(o, WARMUP, 60, STEPS, min_lr_ratio=0.1, decay_type="linear")),
    ("cosine(warmup 20, decay_ratio 0.3, minimum 0.05)",
     lambda o: optimization.get_wsd_schedule(o, WARMUP, 60, STEPS, min_lr_ratio=0.1, decay_type="cosine")),
    ("one_minus_sqrt(warmup 20, decay 60)",
     lambda o: optimization.get_wsd_schedule(o, WARMUP, 60, STEPS, decay_type="1-sqrt")),
    ("one_cycle()", lambda o: torch.optim.lr_scheduler.OneCycleLR(o, PEAK, total_steps=STEPS)),
    ("one_cycle(pct_start 0.25, div_factor 10, final_div_factor 100)",
     lambda o: torch.optim.lr_scheduler.OneCycleLR(o, PEAK, total_steps=STEPS, pct_start=0.25, div_factor=10, final_div_factor=100)),
]  # fmt: skip


def main():
    lines = []
    for text, make in CASES:
        warmup = WARMUP if "warmup" in text else 0
        lines += [text, " ".join(repr(float(rate)) for rate in rates(make)[warmup:])]
    pathlib.Path(__file__).with_name("schedules.txt").write_text("\n".join(lines) + "\n")
    print(f"transformers {transformers.__version__}, torch {torch.__version__}: {len(CASES)} cases")


if __name__ == "__main__":
    main()
