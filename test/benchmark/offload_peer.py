#!/usr/bin/env python3
"""PyTorch's side of largest_model.py: trains a GPT that hardly fits, and prints one JSON object (needs torch, numpy).

  offload_peer.py --layers 12 --width 1280 --data tokens.bin --dir /mnt/nvme

Written the way a careful user writes it today. Blocks run in torch.utils.checkpoint. AdamW's moments lie in a file and go past the page cache.
The fused kernel of AdamW updates parameters piece by piece. Meanwhile a thread reads the next piece and writes the one before.
"""
import argparse
import concurrent.futures
import json
import mmap
import os
import pathlib
import statistics
import tempfile
import time

import pytorch_peer
import torch
from pytorch_peer import BETAS, MAX_NORM, WEIGHT_DECAY, Config
from torch import nn
from torch.nn import functional
from torch.optim.adamw import adamw
from torch.utils.checkpoint import checkpoint

PIECE = 4 << 20  # elements that are updated at once: 16 MiB of each moment
BLOCK = 4096  # alignment of direct I/O in bytes
EPSILON = 1e-8


class CheckpointedGpt(pytorch_peer.Gpt):
    def forward(self, tokens, labels):
        x = self.wte(tokens) + self.wpe(self.positions)
        for block in self.h:
            x = checkpoint(block, x, use_reentrant=False)
        logits = functional.linear(self.ln_f(x), self.wte.weight)
        return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


class DiskAdamW:
    """AdamW with both moments on disk. Two pieces of them are in memory, in slots that take turns."""

    def __init__(self, parameters, folder, learning_rate):
        self.learning_rate, self.steps, self.disk_seconds = learning_rate, 0, 0.0
        self.pieces, end = [], 0  # parameter, its first and last element, where the moments begin in the file, bytes of one moment
        for parameter in parameters:
            for first in range(0, parameter.numel(), PIECE):
                last = min(first + PIECE, parameter.numel())
                size = -(-4 * (last - first) // BLOCK) * BLOCK
                self.pieces.append((parameter, first, last, end, size))
                end += 2 * size
        self.slots = [mmap.mmap(-1, 2 * 4 * PIECE) for _ in range(2)]  # page-aligned, as direct I/O requires
        descriptor, path = tempfile.mkstemp(dir=folder)
        os.posix_fallocate(descriptor, 0, end)  # reads as zeros
        self.file = os.open(path, os.O_RDWR | os.O_DIRECT)
        os.close(descriptor)
        os.unlink(path)
        self.disk_bytes = end
        self.disk = concurrent.futures.ThreadPoolExecutor(max_workers=1)  # so that a slot is written before it is read anew

    def transfer(self, function, number):
        _, _, _, offset, size = self.pieces[number]
        began = time.perf_counter()
        moved = function(self.file, [memoryview(self.slots[number % 2])[: 2 * size]], offset)
        self.disk_seconds += time.perf_counter() - began
        if moved != 2 * size:
            raise OSError(f"{function.__name__}: moved {moved} of {2 * size} bytes at {offset}")

    @torch.no_grad()
    def step(self):
        coming, written = self.disk.submit(self.transfer, os.preadv, 0), []
        for number in range(len(self.pieces)):
            coming.result()
            if number + 1 < len(self.pieces):
                coming = self.disk.submit(self.transfer, os.preadv, number + 1)
            self.update(number)
            written.append(self.disk.submit(self.transfer, os.pwritev, number))
        for each in written:
            each.result()
        self.steps += 1

    def update(self, number):
        parameter, first, last, _, size = self.pieces[number]
        slot, count = self.slots[number % 2], last - first
        moments = [torch.frombuffer(slot, dtype=torch.float32, count=count, offset=offset) for offset in (0, size)]
        adamw([parameter.view(-1)[first:last]], [parameter.grad.view(-1)[first:last]], [moments[0]], [moments[1]], [],
              [torch.tensor(float(self.steps))], fused=True, amsgrad=False, beta1=BETAS[0], beta2=BETAS[1], lr=self.learning_rate,
              weight_decay=WEIGHT_DECAY if parameter.ndim >= 2 else 0.0, eps=EPSILON, maximize=False)  # fmt: skip


def train_step(model, optimizer, batches, accumulate):
    total = 0.0
    for _ in range(accumulate):
        loss = model(*next(batches)) / accumulate
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
    began = time.perf_counter()
    optimizer.step()
    update_seconds = time.perf_counter() - began
    for parameter in model.parameters():
        parameter.grad = None
    return total, update_seconds


def measure(arguments):
    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    config = Config(arguments.layers, arguments.width, arguments.heads, arguments.vocabulary, context=1024, batch=1, seq_len=arguments.seq_len)
    model = CheckpointedGpt(config)
    optimizer = DiskAdamW(list(model.parameters()), arguments.dir, arguments.learning_rate)
    batches = pytorch_peer.make_batches(config, arguments.data)
    seconds, losses, updates, disk = [], [], [], []
    for _ in range(arguments.warmup + arguments.steps):
        began, optimizer.disk_seconds = time.perf_counter(), 0.0
        loss, update_seconds = train_step(model, optimizer, batches, arguments.accumulate)
        seconds.append(time.perf_counter() - began)
        losses.append(loss)
        updates.append(update_seconds)
        disk.append(optimizer.disk_seconds)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "step_seconds": statistics.median(seconds[arguments.warmup :]),
        "update_seconds": statistics.median(updates[arguments.warmup :]),
        "disk_seconds": statistics.median(disk[arguments.warmup :]),
        "disk_bytes": optimizer.disk_bytes,
        "peak_rss_bytes": pytorch_peer.peak_rss_bytes(),
        "losses": losses,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--heads", type=int, required=True)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--seq-len", type=int, default=256)
    parser.add_argument("--accumulate", type=int, default=1, help="micro-batches of one sample in a step")
    parser.add_argument("--learning-rate", type=float, default=2e-5)
    parser.add_argument("--steps", type=int, default=3, help="steps that count")
    parser.add_argument("--warmup", type=int, default=1, help="steps before them")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="raw uint16 tokens")
    parser.add_argument("--dir", type=pathlib.Path, required=True, help="folder on the disk that holds the moments")
    print(json.dumps(measure(parser.parse_args())))


if __name__ == "__main__":
    main()
