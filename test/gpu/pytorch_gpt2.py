#!/usr/bin/env python3
"""PyTorch's side of the benchmark on a GPU: trains GPT-2 and prints one JSON object (needs torch, numpy).

  pytorch_gpt2.py --config=gpt2 --batch=16 --precision=autocast
  pytorch_gpt2.py --config=tiny --device=cpu --batch=2 --length=16      to see that it works

The model, the optimizer and the batches are those of test/benchmark/pytorch_peer.py: fused QKV, scaled_dot_product_attention, tied
embedding, fused AdamW, clipping. torch.compile compiles the whole model. The host waits for the GPU once, after the last step.
"""

import argparse
import contextlib
import json
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmark"))

import gpu_memory  # noqa: E402
import pytorch_peer  # noqa: E402
import torch  # noqa: E402
from pytorch_peer import Config  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

# layers, width, heads, vocabulary, context
SIZES = {"gpt2": (12, 768, 12, 50257, 1024), "gpt2-xl": (48, 1600, 25, 50257, 1024), "tiny": (2, 32, 2, 96, 1024)}
TRIALS = 10  # of each kind of attention, before the run
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


class Checkpointed(nn.Module):
    """A block of which the backward computes all again."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)


def build(config, arguments):
    """(trained model, its compiled form)."""
    torch.manual_seed(1)
    model = pytorch_peer.Gpt(config).to(arguments.device)
    if arguments.precision == "bf16":
        model = model.to(torch.bfloat16)
    if arguments.checkpointing == "full":
        model.h = nn.ModuleList(Checkpointed(block) for block in model.h)
    return model, model if arguments.eager else torch.compile(model)


def seconds_of_attention(backend, shape):
    """Time of a forward and a backward pass; infinity if the backend does not support it."""
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    try:
        with sdpa_kernel(backend):
            for trial in range(1 + TRIALS):
                if trial == 1:
                    torch.cuda.synchronize()
                    began = time.perf_counter()
                out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                out.backward(torch.ones_like(out))
            torch.cuda.synchronize()
    except RuntimeError:
        return math.inf
    return (time.perf_counter() - began) / TRIALS


def choose_attention(config, arguments):
    """The name of the faster backend, at the sizes of the run."""
    if arguments.attention != "fastest" or arguments.device != "cuda":
        return arguments.attention
    shape = config.batch, config.heads, config.seq_len, config.width // config.heads
    fastest = min(BACKENDS, key=lambda name: seconds_of_attention(BACKENDS[name], shape))
    torch.cuda.empty_cache()  # releases the memory of the trials
    torch.cuda.reset_peak_memory_stats()
    return fastest


def attention_by(name, arguments):
    """Selects a backend on a GPU, which offers a choice."""
    return sdpa_kernel(BACKENDS[name]) if arguments.device == "cuda" else contextlib.nullcontext()


def synchronise(arguments):
    if arguments.device == "cuda":
        torch.cuda.synchronize()


def train_step(model, compiled, optimizer, batch, arguments):
    tokens, labels = (each.to(arguments.device, non_blocking=True) for each in batch)
    with torch.autocast(arguments.device, dtype=torch.bfloat16, enabled=arguments.precision == "autocast"):
        loss = compiled(tokens, labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), pytorch_peer.MAX_NORM)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.detach()


def measure(config, arguments):
    before = gpu_memory.used_bytes()
    attention = choose_attention(config, arguments)
    model, compiled = build(config, arguments)
    optimizer = pytorch_peer.make_optimizer(model)
    batches = pytorch_peer.make_batches(config, arguments.data)
    pin = (lambda batch: [each.pin_memory() for each in batch]) if arguments.device == "cuda" else (lambda batch: batch)
    ready = [pin(next(batches)) for _ in range(arguments.warmup + arguments.steps)]
    losses = []
    with attention_by(attention, arguments):
        for step, batch in enumerate(ready):
            if step == arguments.warmup:
                synchronise(arguments)
                began = time.perf_counter()
            losses.append(train_step(model, compiled, optimizer, batch, arguments))
        synchronise(arguments)
    seconds = (time.perf_counter() - began) / arguments.steps
    # The allocator keeps memory once taken, so its size after the timed steps is the maximum.
    used = gpu_memory.used_bytes()
    found = {"attention": attention, "used_bytes": None if used is None or before is None else used - before,
             "step_seconds": seconds, "tokens_per_second": config.batch * config.seq_len / seconds,
             "flops_per_token": pytorch_peer.flops_per_token(config), "losses": [loss.item() for loss in losses]}  # fmt: skip
    if arguments.device == "cuda":
        found |= {"allocated_bytes": torch.cuda.max_memory_allocated(), "reserved_bytes": torch.cuda.max_memory_reserved()}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", choices=SIZES, default="gpt2")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=1024, help="tokens of a sample")
    parser.add_argument("--precision", choices=["autocast", "bf16", "fp32"], default="autocast",
                        help="autocast: parameters and AdamW in fp32; bf16: all in bf16")
    parser.add_argument("--checkpointing", choices=["none", "full"], default="none", help="full: of each block")
    parser.add_argument("--attention", choices=["fastest", *BACKENDS], default="fastest",
                        help="on a GPU: by which kernels; fastest: those that take less time alone")
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    parser.add_argument("--warmup", type=int, default=5, help="steps before those that count")
    parser.add_argument("--steps", type=int, default=20, help="steps that count")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--data", type=Path, help="raw uint16 tokens (default: random ones)")
    arguments = parser.parse_args()
    if arguments.steps < 1 or arguments.warmup < 1:
        parser.error("--steps and --warmup must be at least 1: the first step allocates and compiles")
    layers, width, heads, vocabulary, context = SIZES[arguments.config]
    config = Config(layers, width, heads, vocabulary, context, arguments.batch, arguments.length)
    settings = {"torch": torch.__version__} | {key: str(value) for key, value in vars(arguments).items()}
    try:
        found = measure(config, arguments)
    except torch.OutOfMemoryError:
        found = {"out_of_memory": True}
    print(json.dumps(settings | found))


if __name__ == "__main__":
    main()
