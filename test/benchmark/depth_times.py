#!/usr/bin/env python3
"""How the time to compile a model grows with its depth, as Markdown.

    test/benchmark/depth_times.py
    test/benchmark/depth_times.py --layers 64,256,1024 -- --ranks=8 --zero-stage=3

The model is a transformer of width 2, with 11 ops in a layer: what grows with the width takes no time. Each row has the user seconds of all
threads and children of one run of

    trainc compile MODEL -o PLAN OPTIONS

and the seconds that trainc dump takes with the plan, which it verifies first. Needs build/bin/trainc; standard library only.
Exit codes: 0; 1 if a program failed or, with --check, a row took more than --check times its share of the row before.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def model(layers, width=2):
    return f"""nn.block @layer(%x: tensor<?x?x{width}xf32>) {{
  %n1 = nn.layer_norm "ln_1" %x
  %q = nn.linear "q" %n1 to {width}
  %k = nn.linear "k" %n1 to {width}
  %v = nn.linear "v" %n1 to {width}
  %a, %lse = nn.attention %q, %k, %v heads 1 causal
  %y = nn.add %x, %a
  %n2 = nn.layer_norm "ln_2" %y
  %h = nn.linear "fc" %n2 to {2 * width}
  %g = nn.gelu %h
  %m = nn.linear "proj" %g to {width}
  %z = nn.add %y, %m
  nn.return %z
}}
nn.model @deep(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {{
  %x = nn.embedding "wte" %tokens of 7 by {width}
  %h = nn.repeat @layer "h" times {layers} (%x)
  %n = nn.layer_norm "ln_f" %h
  %l = nn.linear "lm_head" %n tied "wte.weight" no_bias
  nn.output "logits" %l
  %nll, %lse = nn.cross_entropy %l, %labels
  nn.loss "loss" %nll
}}
train.program @pretrain {{ model @deep optimizer adamw(lr 1e-3) batch 1 x 4 }}
"""


def user_seconds(*command):
    before = os.times().children_user
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return os.times().children_user - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trainc", type=pathlib.Path, default=ROOT / "build/bin/trainc")
    parser.add_argument("--layers", default="64,128,256,512,1024", help="numbers of layers, ascending")
    parser.add_argument("--check", type=float, help="how many times its share of the row before a row may take")
    parser.add_argument("options", nargs="*", help="options of trainc compile, after --; --cpu=native if none")
    args = parser.parse_args()
    options = args.options or ["--cpu=native"]
    print("| layers | compile | a layer | dump | plan |\n|---|---|---|---|---|")
    grew, before = False, None
    with tempfile.TemporaryDirectory() as folder:
        text, plan = pathlib.Path(folder, "deep.mlir"), pathlib.Path(folder, "deep.plan")
        for layers in map(int, args.layers.split(",")):
            text.write_text(model(layers))
            compiled = user_seconds(args.trainc, "compile", text, "-o", plan, *options)
            dumped = user_seconds(args.trainc, "dump", plan)
            each = compiled / layers
            grew |= args.check is not None and before is not None and each > args.check * before
            before = each
            print(f"| {layers} | {compiled:.1f} s | {1000 * each:.0f} ms | {dumped:.1f} s | {plan.stat().st_size / 1e6:.1f} MB |", flush=True)
    return 1 if grew else 0


if __name__ == "__main__":
    sys.exit(main())
