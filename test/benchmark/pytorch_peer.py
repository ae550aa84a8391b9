#!/usr/bin/env python3
"""The PyTorch side of the side-by-side benchmark: trains a model and prints one JSON object (needs torch, numpy).

  pytorch_peer.py --config gpt2 --mode compile
  pytorch_peer.py --config smollm2                    needs transformers, whose model it trains
  pytorch_peer.py --config gpt2 --precision bf16      in torch.autocast(bfloat16)

Written the way a careful user writes it today: fused QKV, scaled_dot_product_attention, tied embedding, fused AdamW
with decay for matrices only, clipping, gradients set to None, every core. compare.py runs it beside trainrun.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import time


def seconds_since_process_start():
    """Includes the start of Python and the imports, as a user's waiting does."""
    fields = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # field 22: ticks since boot
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


import numpy  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

PEAK_LEARNING_RATE, BETAS, WEIGHT_DECAY, MAX_NORM = 6e-4, (0.9, 0.95), 0.1, 1.0


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int
    width: int
    heads: int
    vocabulary: int
    context: int  # positions that the model has
    batch: int
    seq_len: int  # positions that a sample has


CONFIGS = {
    "gpt2": Config(layers=12, width=768, heads=12, vocabulary=50257, context=1024, batch=4, seq_len=256),
    "small": Config(layers=4, width=128, heads=4, vocabulary=256, context=128, batch=8, seq_len=128),
}


@dataclasses.dataclass(frozen=True)
class FolderConfig:
    """A model of transformers, from the config.json of a folder."""

    folder: pathlib.Path
    vocabulary: int
    batch: int
    seq_len: int


FOLDERS = {"smollm2": FolderConfig(pathlib.Path(__file__).resolve().parent / "smollm2", vocabulary=49152, batch=2, seq_len=512)}


# --- model ------------------------------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.c_attn = nn.Linear(config.width, 3 * config.width)
        self.c_proj = nn.Linear(config.width, config.width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.c_attn(x).split(width, dim=2)
        )
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.width)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.width)
        self.c_fc = nn.Linear(config.width, 4 * config.width)
        self.c_proj = nn.Linear(4 * config.width, config.width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocabulary, config.width)
        self.wpe = nn.Embedding(config.context, config.width)
        self.h = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.ln_f = nn.LayerNorm(config.width)
        self.register_buffer("positions", torch.arange(config.seq_len), persistent=False)
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def forward(self, tokens, labels):
        x = self.wte(tokens) + self.wpe(self.positions)
        for block in self.h:
            x = block(x)
        logits = functional.linear(self.ln_f(x), self.wte.weight)
        return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


class FromFolder(nn.Module):
    """Computes logits and loss as Gpt does."""

    def __init__(self, config):
        super().__init__()
        import transformers

        read = transformers.AutoConfig.from_pretrained(config.folder)
        self.model = transformers.AutoModelForCausalLM.from_config(read, dtype=torch.float32, attn_implementation="sdpa")

    def forward(self, tokens, labels):
        logits = self.model(input_ids=tokens, use_cache=False).logits
        return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def make_model(config):
    return Gpt(config) if isinstance(config, Config) else FromFolder(config)


def flops_per_token(config, model):
    """Matrix products of forward and backward: 6 per weight (the positions' table aside), and causal attention."""
    if isinstance(config, Config):
        weights = config.layers * 12 * config.width**2 + config.vocabulary * config.width
        return 6 * weights + 6 * config.layers * config.seq_len * config.width
    read = model.model.config
    weights = sum(each.numel() for each in model.parameters() if each.ndim >= 2)
    return 6 * weights + 6 * read.num_hidden_layers * config.seq_len * read.num_attention_heads * read.head_dim


# --- training ---------------------------------------------------------------------------------------------------


def make_optimizer(model):
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=PEAK_LEARNING_RATE, betas=BETAS, fused=True)


def make_batches(config, path):
    """Yields inputs and labels: random windows of a file of uint16 tokens, or random tokens."""
    random = numpy.random.default_rng(1)
    if path is None:
        stream = random.integers(config.vocabulary, size=1 << 20, dtype=numpy.uint16)
    else:
        stream = numpy.memmap(path, dtype="<u2", mode="r")
    while True:
        starts = random.integers(len(stream) - config.seq_len, size=config.batch)
        windows = numpy.stack([stream[start : start + config.seq_len + 1] for start in starts]).astype(numpy.int64)
        samples = torch.from_numpy(windows)
        yield samples[:, :-1].contiguous(), samples[:, 1:].contiguous()


def train_step(model, optimizer, tokens, labels, autocast):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        loss = model(tokens, labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def peak_rss_bytes():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def measure(config, arguments):
    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    model = make_model(config)
    flops = flops_per_token(config, model)
    optimizer = make_optimizer(model)
    if arguments.mode == "compile":
        model = torch.compile(model, mode=arguments.compile_mode)
    batches = make_batches(config, arguments.data)
    start_seconds = seconds_since_process_start()

    seconds, losses = [], []
    for step in range(arguments.warmup + arguments.steps):
        began = time.perf_counter()
        losses.append(train_step(model, optimizer, *next(batches), autocast=arguments.precision == "bf16"))
        seconds.append(time.perf_counter() - began)

    tokens = config.batch * config.seq_len
    step_seconds = statistics.median(seconds[arguments.warmup :])
    return {
        "start_seconds": start_seconds,
        "first_step_seconds": seconds[0],
        "step_seconds": step_seconds,
        "tokens_per_second": tokens / step_seconds,
        "gflop_per_second": flops * tokens / step_seconds / 1e9,
        "peak_rss_bytes": peak_rss_bytes(),
        "losses": losses,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", choices=[*CONFIGS, *FOLDERS], default="small")
    parser.add_argument("--mode", choices=["eager", "compile"], default="eager")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="bf16: in torch.autocast")
    parser.add_argument("--compile-mode", default="default", help="mode of torch.compile, such as max-autotune")
    parser.add_argument("--steps", type=int, default=10, help="steps that count")
    parser.add_argument("--warmup", type=int, default=3, help="steps before them")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--data", type=pathlib.Path, help="raw uint16 tokens (default: random ones)")
    arguments = parser.parse_args()
    if arguments.steps < 1 or arguments.warmup < 1:
        parser.error("--steps and --warmup must be at least 1: the first step allocates and compiles")
    config = (CONFIGS | FOLDERS)[arguments.config]
    settings = {
        "config": arguments.config, "mode": arguments.mode, "precision": arguments.precision, "threads": arguments.threads, "steps": arguments.steps,
        "torch": torch.__version__, "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }  # fmt: skip
    print(json.dumps(settings | measure(config, arguments)))


if __name__ == "__main__":
    main()
