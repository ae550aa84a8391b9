#!/usr/bin/env python3
"""Checkpoints to and from Hugging Face transformers (needs torch, transformers, safetensors).

  hf_roundtrip.py check CHECKPOINT --data FILE --seq-len T --loss 3.21
  hf_roundtrip.py check CHECKPOINT --data FILE --seq-len T --metrics run.jsonl
      loads a checkpoint folder of trainrun (model.safetensors, config.json) with `from_pretrained`, unchanged, and
      compares its mean loss over FILE with the one that trainrun reported. Exit code 1 where they differ or a
      weight is left over or missing, 2 for bad input.

  hf_roundtrip.py init gpt|llama FOLDER [--layers ...]
      writes a freshly initialised Hugging Face checkpoint, for `trainrun --init=FOLDER/model.safetensors`.
"""
import argparse
import json
import math
import pathlib
import sys

import numpy
import torch
import transformers
from safetensors.numpy import load_file
from torch.nn import functional

TOLERANCE = 1e-5  # relative difference of the losses
IGNORED = -100
LLM_C_HEADER_BYTES, LLM_C_MAGIC = 256 * 4, 20240520


class Mismatch(Exception):
    """The checkpoint does not fit Hugging Face's model."""


class BadInput(Exception):
    """A file that holds nothing to compare with."""


# --- data -------------------------------------------------------------------------------------------------------


def read_tokens(path, dtype):
    """Raw little-endian tokens, or llm.c's format, which announces itself in a header."""
    raw = path.read_bytes()
    if len(raw) >= LLM_C_HEADER_BYTES and int.from_bytes(raw[:4], "little") == LLM_C_MAGIC:
        return numpy.frombuffer(raw[LLM_C_HEADER_BYTES:], dtype="<u2")
    return numpy.frombuffer(raw, dtype=dtype)


def read_samples(path, seq_len, dtype):
    """Inputs and targets, both [samples, T]. A token stream is cut into windows of T + 1 that share their end tokens."""
    if path.suffix == ".safetensors":
        columns = load_file(path)
        tokens, labels = columns["tokens"][:, :seq_len], columns["labels"][:, :seq_len]
    else:
        stream = read_tokens(path, dtype)
        count = (len(stream) - 1) // seq_len
        tokens = stream[: count * seq_len].reshape(count, seq_len)
        labels = stream[1 : count * seq_len + 1].reshape(count, seq_len)
    if len(tokens) == 0:
        raise BadInput(f"{path}: holds no sample of {seq_len} tokens; expected at least {seq_len + 1} tokens")
    return torch.from_numpy(tokens.astype(numpy.int64)), torch.from_numpy(labels.astype(numpy.int64))


# --- check ------------------------------------------------------------------------------------------------------


def load_checkpoint(folder):
    """The model as `from_pretrained` gives it; rejects a checkpoint that leaves or adds a weight."""
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True, output_loading_info=True
    )
    problems = {kind: sorted(map(str, found)) for kind, found in report.items() if found}
    if problems:
        raise Mismatch(f"{folder}: every weight should have loaded, but transformers reports {problems}")
    return model


def mean_loss(model, tokens, labels, batch):
    """Mean cross-entropy over all targets that are not ignored."""
    total, count = 0.0, 0
    with torch.inference_mode():
        for rows in torch.arange(len(tokens)).split(batch):
            logits = model(input_ids=tokens[rows], use_cache=False).logits
            targets = labels[rows].flatten()
            total += functional.cross_entropy(
                logits.flatten(0, 1).double(), targets, ignore_index=IGNORED, reduction="sum"
            ).item()
            count += int((targets != IGNORED).sum())
    return total / count


def last_logged_loss(path, key):
    """The last value of `key` in a JSONL file."""
    records = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    values = [record[key] for record in records if record.get(key) is not None]
    if not values:
        raise BadInput(f"{path}: no record holds '{key}'; expected one JSON object a line, one of them with it")
    return values[-1]


def check(arguments):
    ours = arguments.loss if arguments.metrics is None else last_logged_loss(arguments.metrics, arguments.key)
    model = load_checkpoint(arguments.checkpoint)
    tokens, labels = read_samples(arguments.data, arguments.seq_len, arguments.data_dtype)
    if arguments.samples is not None:
        tokens, labels = tokens[: arguments.samples], labels[: arguments.samples]
    theirs = mean_loss(model, tokens, labels, arguments.batch)
    difference = abs(ours - theirs) / abs(theirs)
    agree = math.isfinite(difference) and difference <= TOLERANCE
    print(f"checkpoint      {arguments.checkpoint} ({type(model).__name__})")
    print(f"samples         {len(tokens)} x {tokens.shape[1]}, {int((labels != IGNORED).sum())} targets")
    print(f"trainrun        {ours:.9g}\ntransformers    {theirs:.9g}")
    print(f"difference      {difference:.2e} relative, {'within' if agree else 'BEYOND'} {TOLERANCE:.0e}")
    return 0 if agree else 1


# --- init -------------------------------------------------------------------------------------------------------


def make_model(arguments):
    common = {"vocab_size": arguments.vocab, "bos_token_id": None, "eos_token_id": None}
    if arguments.family == "gpt":
        config = transformers.GPT2Config(
            n_positions=arguments.context, n_embd=arguments.width, n_layer=arguments.layers, n_head=arguments.heads,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, **common)  # fmt: skip
        return transformers.GPT2LMHeadModel(config)
    config = transformers.LlamaConfig(
        max_position_embeddings=arguments.context, hidden_size=arguments.width, num_hidden_layers=arguments.layers,
        num_attention_heads=arguments.heads, num_key_value_heads=arguments.kv_heads or arguments.heads,
        intermediate_size=arguments.intermediate or 4 * arguments.width, rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, tie_word_embeddings=False,
        **common)  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def init(arguments):
    torch.manual_seed(arguments.seed)
    model = make_model(arguments)
    (model.base_model if arguments.bare_names else model).save_pretrained(arguments.folder)
    print(f"{arguments.folder}: {type(model).__name__}, {model.num_parameters()} parameters")
    return 0


# --- command line -----------------------------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    checking = commands.add_parser("check", help="compare a checkpoint of trainrun")
    checking.add_argument("checkpoint", type=pathlib.Path, help="folder with model.safetensors and config.json")
    checking.add_argument("--data", type=pathlib.Path, required=True, help="token file or safetensors with tokens, labels")
    checking.add_argument("--data-dtype", default="<u2", choices=["<u2", "<u4"], help="type of raw tokens")
    checking.add_argument("--seq-len", type=int, required=True, help="tokens a sample")
    checking.add_argument("--samples", type=int, help="how many samples from the beginning (default: all)")
    checking.add_argument("--batch", type=int, default=8, help="samples computed at a time")
    reported = checking.add_mutually_exclusive_group(required=True)
    reported.add_argument("--loss", type=float, help="the loss that trainrun reported")
    reported.add_argument("--metrics", type=pathlib.Path, help="trainrun's --metrics file")
    checking.add_argument("--key", default="eval_loss", help="which value of the metrics file")
    checking.set_defaults(run=check)

    making = commands.add_parser("init", help="write an initialised Hugging Face checkpoint")
    making.add_argument("family", choices=["gpt", "llama"])
    making.add_argument("folder", type=pathlib.Path)
    for name, default in {"layers": 4, "width": 128, "heads": 4, "vocab": 256, "context": 128, "seed": 1}.items():
        making.add_argument(f"--{name}", type=int, default=default)
    making.add_argument("--kv-heads", type=int, help="Llama: key-value heads (default: as many as heads)")
    making.add_argument("--intermediate", type=int, help="Llama: width of the MLP (default: 4 x width)")
    making.add_argument("--bare-names", action="store_true", help="GPT-2: names without the prefix 'transformer.'")
    making.set_defaults(run=init)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    transformers.utils.logging.disable_progress_bar()
    try:
        return arguments.run(arguments)
    except (Mismatch, BadInput, OSError) as error:
        print(f"hf_roundtrip: {error}", file=sys.stderr)
        return 1 if isinstance(error, Mismatch) else 2


if __name__ == "__main__":
    sys.exit(main())
