#!/usr/bin/env python3
"""DeepSpeed's published table of model states beside ours, row by row, as Markdown.

    test/benchmark/deepspeed_table.py > docs/measurements/DATE-deepspeed-table.md

`trainc estimate` plans a GPT of as many parameters with the settings of each row; nothing is run.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

from compare import ROOT
from gpt_family import gpt_text, parameter_count

GIB = 1 << 30
RANKS, LAYERS, WIDTH, HEADS, VOCABULARY = 2, 33, 2618, 22, 24828
BUFFER_FACTOR = 1.5  # additional_buffer_factor of DeepSpeed's column for the host
SETTINGS = ["--target=cuda", "--gpu=h100-sxm", f"--ranks={RANKS}", "--zero-stage=3", "--precision=fp16", "--micro-batch=1", "--seq-len=512", "--accumulate=2",
            "--activation-checkpointing=full"]  # fmt: skip
# offload_param, offload_optimizer, zero_init; host and GPU, in GiB; our --offload.
ROWS = [
    ("cpu", "cpu", 1, 70.00, 0.25, "optimizer,gradients,parameters"),
    ("cpu", "cpu", 0, 70.00, 0.25, "optimizer,gradients,parameters"),
    ("none", "cpu", 1, 62.23, 2.84, "optimizer,gradients"),
    ("none", "cpu", 0, 62.23, 2.84, "optimizer,gradients"),
    ("none", "none", 1, 0.74, 23.58, "none"),
    ("none", "none", 0, 31.11, 23.58, "none"),
]

HEAD = """# DeepSpeed's table of model states beside ours

**Nothing was run.** DeepSpeed's numbers are estimates by formulas, published for bigscience/T0_3B (2783M parameters, 65M in the largest layer) on one host of
{ranks} GPUs with ZeRO stage 3, in the documentation of Hugging Face's Transformers. Ours are plans of a GPT with {parameters:.0f}M parameters, {largest:.0f}M in the
largest layer ({layers} layers of width {width}, {heads} heads, vocabulary {vocabulary}). Made by

    test/benchmark/deepspeed_table.py

which runs `trainc estimate` with `{settings}`.

| DeepSpeed's options | host, GiB | without the factor {factor} | GPU, GiB | our `--offload` | host, GiB | GPU: states, GiB | GPU: all, GiB |
|---|---|---|---|---|---|---|---|"""

TAIL = """
* DeepSpeed's column "host" has a factor of {factor} as reserve. Without it, 46.67 GiB are 18 bytes a parameter: four numbers in f32 (weight, gradient, two moments)
  and a weight in fp16. Our plan keeps the same 18 bytes a parameter.
* With `offload_optimizer=cpu` alone, DeepSpeed moves the weights in f32 to the host, too. Our `optimizer,gradients` leaves them on the GPU: 6 bytes a parameter
  there, and 12 on the host.
* DeepSpeed's column "GPU" is states, and 4 bytes for each parameter of the largest layer ({layer:.2f} GiB). It has no activations, no buckets, no workspace and no
  memory of the driver. "GPU: all" is what the plan allocates, with gathered parameters and activations of one sample of 512 tokens, and
  {unplanned:.2f} GiB for driver and libraries.
* `zero_init=0` builds the model on the host at first. No rank of ours does: it draws or reads its own part. So both rows have the same plan.
"""


def plan(trainc, model, offload):
    done = subprocess.run([trainc, "estimate", model, "--json", *SETTINGS, f"--offload={offload}"], check=True, capture_output=True, text=True)
    (strategy,) = json.loads(done.stdout)["strategies"]
    return strategy["memory"]


def row(published, memory):
    param, optimizer, init, host, gpu, offload = published
    states = sum(memory[kind] for kind in ("parameters", "gradients", "optimizer"))
    return (f"| `offload_param={param} offload_optimizer={optimizer} zero_init={init}` | {host:.2f} | {host / BUFFER_FACTOR:.2f} | {gpu:.2f} | `{offload}` | "
            f"{RANKS * memory['host'] / GIB:.2f} | {states / GIB:.2f} | {(memory['peak'] - memory['host'] + memory['unplanned']) / GIB:.2f} |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    trainc = parser.parse_args().trainc
    print(HEAD.format(ranks=RANKS, parameters=parameter_count(LAYERS, WIDTH, VOCABULARY) / 1e6, largest=WIDTH * VOCABULARY / 1e6, layers=LAYERS, width=WIDTH,
                      heads=HEADS, vocabulary=VOCABULARY, settings=" ".join(SETTINGS), factor=BUFFER_FACTOR))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder, "gpt.mlir")
        model.write_text(gpt_text(LAYERS, WIDTH, HEADS, VOCABULARY))
        plans = {offload: plan(trainc, model, offload) for offload in {each[-1] for each in ROWS}}
    for each in ROWS:
        print(row(each, plans[each[-1]]))
    print(TAIL.format(factor=BUFFER_FACTOR, layer=4 * WIDTH * VOCABULARY / GIB, unplanned=plans["none"]["unplanned"] / GIB), end="")


if __name__ == "__main__":
    main()
