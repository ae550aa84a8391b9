#!/usr/bin/env python3
"""Prints what the cost model predicts of GPT-2 124M in bf16 on the GPUs that it knows, as Markdown.

    test/benchmark/predictions.py --trainc build/bin/trainc > docs/measurements/DATE-predicted-gpus.md

Nothing is run: the numbers follow from examples/clusters and the plans.
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPUS = ["h100-sxm", "h100-pcie", "h200", "a100"]
BATCHES = [16, 64]
LENGTH = 1024
SHOWN = 0.004  # share of the step from which on an instruction has a row of its own

HEAD = """# Predicted: GPT-2 124M on GPUs

**These are predictions, not measurements.** No step of it has run on a GPU. The cost model (`plan/cost`) makes them from data sheets and
from shares of them that kernels are taken to reach, each with its source in `examples/clusters`. Made by

    test/benchmark/predictions.py --trainc build/bin/trainc

which compiles `examples/gpt/gpt.mlir` with `--target=cuda --precision=bf16 --micro-batch=B --seq-len=1024 --accumulate=1 --gpu=...` and reads
`costs` of [the report](../report.md).

## Steps
"""

KNOWN = """
## Beside known figures

llm.c trained this model on 10 billion tokens in 45 minutes on 8 H100 (README of KellerJordan/modded-nanogpt): 463k tokens/s a GPU, with the optimizer's step once in
half a million tokens. So the predictions are of the right size. The rows below say where time goes:

* The products of the vocabulary are the longest. Its rows of 50,257 numbers have padding, and so are aligned to 16 bytes
  ([0026](../adr/0026-padded-rows.md)). Without that half of the rate would be taken for them, and their time would double.
* Attention is cuDNN's, taken at two fifths of the tensor cores' rate. Its gradient is cuDNN's on GPUs of compute capability 9 that `--gpu` names, taken at
  three tenths. Kernels of the plan compute it for the A100, at two fifths, and for plans without `--gpu`, at a fifth of an H100's rate.
* Products that apply an activation, or add up columns, take longer than others of their size: that arithmetic is outside tensor cores. On
  an A100, whose other arithmetic is slow beside its tensor cores, it counts most.
* Queries, keys and values are copied out of one product.
"""


def compile_report(trainc, gpu, batch):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        subprocess.run([trainc, "compile", ROOT / "examples/gpt/gpt.mlir", "-o", Path(folder, "gpt.plan"), "--target=cuda", "--gpu-levels=none",
                        "--precision=bf16", f"--micro-batch={batch}", f"--seq-len={LENGTH}", "--accumulate=1", f"--gpu={gpu}",
                        f"--report={report}"], check=True)
        return json.loads(report.read_text())


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def step_row(gpu, batch, report):
    seconds, peak = report["predicted_step_seconds"], report["machine"]["flops_per_second"]
    return [f"`{gpu}` ({report['machine']['name']})", f"{batch} x {LENGTH}", f"{1e3 * seconds:.1f} ms",
            f"{batch * LENGTH / seconds / 1e3:.0f}k", f"{report['flops_per_step'] / seconds / peak:.0%}",
            f"{report['memory']['peak'] / 2**30:.1f} GiB"]


def cost_row(row, step):
    seconds = row["count"] * row["seconds"]
    return [f"`{row['what']}`", row["source"][:60].replace("|", "/"), f"{row['count']:.0f}", f"{row['flops'] / 1e9:.1f}",
            f"{row['bytes'] / 1e6:.1f}", row["bound_by"], f"{1e6 * row['seconds']:.1f}", f"{seconds / step:.1%}"]


def roofline(report):
    step = report["predicted_step_seconds"]
    shown = [row for row in report["costs"] if row["count"] * row["seconds"] >= SHOWN * step]
    rest = [row for row in report["costs"] if row not in shown]
    rows = [cost_row(row, step) for row in shown]
    rows.append([f"{len(rest)} others", "", f"{sum(row['count'] for row in rest):.0f}", "", "", "", "",
                 f"{sum(row['count'] * row['seconds'] for row in rest) / step:.1%}"])
    return table(["instruction", "first op", "count", "GFLOP", "MB", "bound by", "us each", "of the step"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainc", required=True)
    trainc = parser.parse_args().trainc
    reports = {(gpu, batch): compile_report(trainc, gpu, batch) for gpu in GPUS for batch in BATCHES}
    print(HEAD)
    print(table(["GPU", "batch", "step", "tokens/s", "MFU", "planned peak"], [step_row(*key, report) for key, report in reports.items()]))
    print(KNOWN.rstrip())
    for batch in BATCHES:
        print(f"\n## {GPUS[0]}, {batch} x {LENGTH}\n")
        print(roofline(reports[GPUS[0], batch]))


if __name__ == "__main__":
    main()
