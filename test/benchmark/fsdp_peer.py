#!/usr/bin/env python3
"""One rank of PyTorch's side of compare_ranks.py: GPT-2 under FSDP2 on one core; prints one JSON object (needs torch, numpy).

  fsdp_peer.py --config gpt2 --write-weights init.safetensors
  RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 fsdp_peer.py --config gpt2 --weights init.safetensors --data tokens.bin

The model, the optimizer and its settings are those of pytorch_peer.py, on trainrun's samples (--no-shuffle) and weights. FSDP2 is used as
its documentation shows: built on the meta device, fully_shard of each block and of the whole, gloo between the processes.
"""
import argparse
import json
import os
import pathlib
import statistics
import struct
import time


def pin_to_a_core():
    """Before torch starts threads, so that gloo's share the rank's core. Ranks of this host take its cores in turn."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(os.environ["RANK"]) % len(cores)]})


if "RANK" in os.environ:
    pin_to_a_core()

import numpy  # noqa: E402
import pytorch_peer  # noqa: E402
import torch  # noqa: E402
from torch import distributed, nn  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402


# --- weights, under Hugging Face's names ------------------------------------------------------------------------


def exchanged(model):
    """(name in the file, parameter, whether the file has it transposed) of each; Hugging Face's GPT-2 multiplies by [in, out]."""
    matrices = {f"{name}.weight" for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    for name, parameter in model.named_parameters():
        parts = name.split(".")
        if parts[0] == "h" and parts[2] in ("c_fc", "c_proj"):
            parts.insert(2, "mlp")
        yield ".".join(parts), parameter, name in matrices


def write_weights(model, path):
    header, arrays, end = {}, [], 0
    for name, parameter, transposed in exchanged(model):
        array = parameter.detach().numpy()
        arrays.append(numpy.ascontiguousarray(array.T if transposed else array, dtype="<f4"))
        begin, end = end, end + arrays[-1].nbytes
        header[name] = {"dtype": "F32", "shape": arrays[-1].shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays:
            file.write(array.data)


def load_weights(model, path, rank, ranks):
    """Copies this rank's part of each parameter: dimension 0 in as many chunks as there are ranks. The file is unmapped after it."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    for name, parameter, transposed in exchanged(model):
        shape, offset = header[name]["shape"], 8 + length + header[name]["data_offsets"][0]
        whole = numpy.memmap(path, dtype="<f4", mode="r", offset=offset, shape=tuple(shape))
        rows = torch.from_numpy(numpy.array(whole.T if transposed else whole)).chunk(ranks)
        with torch.no_grad():
            parameter.to_local().copy_(rows[rank])


# --- training ---------------------------------------------------------------------------------------------------


def make_model(config, weights, rank, ranks):
    with torch.device("meta"):
        model = pytorch_peer.Gpt(config)
    for block in model.h:
        fully_shard(block)
    fully_shard(model)
    model.to_empty(device="cpu")
    model.positions.copy_(torch.arange(config.seq_len))
    load_weights(model, weights, rank, ranks)
    return model


def make_batches(config, path, batch, rank, ranks):
    """In the file's order: a step takes `batch` windows for rank 0, then as many for rank 1, and so on."""
    stream = numpy.memmap(path, dtype="<u2", mode="r")
    windows = (len(stream) - 1) // config.seq_len
    for first in range(rank * batch, windows - batch, ranks * batch):
        begin, end = first * config.seq_len, (first + batch) * config.seq_len
        samples = torch.from_numpy(stream[begin : end + 1].astype(numpy.int64))
        yield samples[:-1].view(batch, -1), samples[1:].view(batch, -1)


def train_step(model, optimizer, tokens, labels):
    """The rank's loss and the gradient norm, which is summed over ranks on demand."""
    loss = model(tokens, labels)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), pytorch_peer.MAX_NORM)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item(), norm


def memory():
    """Memory of this process: proportional resident size now, and its peak resident size."""
    lines = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
    pss = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return {"pss_bytes": pss, "peak_rss_bytes": pytorch_peer.peak_rss_bytes()}


def measure(config, arguments):
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    model = make_model(config, arguments.weights, rank, ranks)
    optimizer = pytorch_peer.make_optimizer(model)
    batches = make_batches(config, arguments.data, arguments.batch, rank, ranks)
    seconds, losses, norms = [], [], []
    for step in range(arguments.warmup + arguments.steps):
        if step == arguments.warmup:
            used = time.process_time()
        began = time.perf_counter()
        loss, norm = train_step(model, optimizer, *next(batches))
        seconds.append(time.perf_counter() - began)
        losses.append(loss)
        norms.append(norm)
    used = time.process_time() - used
    distributed.barrier()  # pages that ranks share count half only while both live
    held = memory()
    distributed.barrier()
    mean_losses = torch.tensor(losses, dtype=torch.float64)
    distributed.all_reduce(mean_losses)
    step_seconds = statistics.median(seconds[arguments.warmup :])
    return held | {
        "processor_seconds": used / arguments.steps,
        "first_step_seconds": seconds[0],
        "step_seconds": step_seconds,
        "tokens_per_second": ranks * arguments.batch * config.seq_len / step_seconds,
        "losses": (mean_losses / ranks).tolist(),
        "grad_norms": [norm.full_tensor().item() for norm in norms],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", choices=pytorch_peer.CONFIGS, default="small")
    parser.add_argument("--batch", type=int, default=2, help="samples of a rank and step")
    parser.add_argument("--steps", type=int, default=10, help="steps that count")
    parser.add_argument("--warmup", type=int, default=3, help="steps before them")
    parser.add_argument("--data", type=pathlib.Path, help="raw uint16 tokens")
    parser.add_argument("--weights", type=pathlib.Path, help="initial weights, safetensors")
    parser.add_argument("--write-weights", type=pathlib.Path, help="draw initial weights, write them, and end")
    arguments = parser.parse_args()
    if arguments.steps < 1 or arguments.warmup < 1:
        parser.error("--steps and --warmup must be at least 1: the first step allocates")
    config = pytorch_peer.CONFIGS[arguments.config]
    torch.manual_seed(1)
    if arguments.write_weights is not None:
        write_weights(pytorch_peer.Gpt(config), arguments.write_weights)
        return
    if arguments.data is None or arguments.weights is None:
        parser.error("--data and --weights are needed: all that train take the same")
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    result = measure(config, arguments)
    if distributed.get_rank() != 0:
        result = {key: result[key] for key in ("pss_bytes", "peak_rss_bytes", "processor_seconds")}
    distributed.destroy_process_group()
    print(json.dumps(result | {"torch": torch.__version__}))


if __name__ == "__main__":
    main()
