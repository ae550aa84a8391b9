"""The plans of a kit: models and options."""

from dataclasses import dataclass

import paths  # noqa: F401
import autocast_run
import harness
import small_gpt
from harness import edited, program

GOLDEN_MODELS = "mlp", "gpt", "llama"
PRECISIONS = "fp32", "bf16"
# With beta1 1/2 and no clipping, exp_avg after one step is half of the gradient (test/golden).
GRADIENT_EDITS = ("beta1 0.9", "beta1 0.5"), ("  clip 1.0\n", "")


@dataclass(frozen=True)
class Plan:
    text: str
    options: tuple


@dataclass(frozen=True)
class Gpt2:
    """A case of the benchmark: a plan of trainc, and PyTorch's counterpart."""

    config: str  # of pytorch_gpt2.py
    batch: int
    options: tuple  # of trainc
    peers: tuple  # further options of pytorch_gpt2.py, for each of its runs
    length: int = 1024
    vocabulary: int = 50257


# Variants for libraries that reject products with epilogues, or all library calls.
PLAIN, KERNELS = "--library-calls=plain", "--library-calls=none"
AUTOCAST, PURE = ("--precision=autocast",), ("--precision=bf16",)
GPT2 = {
    "gpt2-16": Gpt2("gpt2", 16, (), (AUTOCAST, PURE)),
    "gpt2-16-cudnn": Gpt2("gpt2", 16, ("--library-calls=all",), (AUTOCAST,)),
    "gpt2-16-pure": Gpt2("gpt2", 16, ("--param-type=bf16", "--optimizer-states=bf16"), (PURE,)),
    "gpt2-16-plain": Gpt2("gpt2", 16, (PLAIN,), (AUTOCAST,)),
    "gpt2-64": Gpt2("gpt2", 64, (), (AUTOCAST, PURE)),
    "gpt2-xl": Gpt2("gpt2-xl", 8, ("--activation-checkpointing=selective",),
                    ((*AUTOCAST, "--checkpointing=full"), (*AUTOCAST, "--checkpointing=none"))),
}  # fmt: skip
# For an emulated kit: the benchmark with a model that an emulator can run.
TINY = {"tiny": Gpt2("tiny", 3, (), (AUTOCAST,), length=16, vocabulary=96)}

XL_EDITS = (
    ("x768xf32", "x1600xf32"), ("by 768", "by 1600"), ("to 768", "to 1600"), ("to 2304", "to 4800"), ("to 3072", "to 6400"),
    ("heads 12", "heads 25"), ("times 12", "times 48"), ("normal(0.00408248)", "normal(0.00204124)"),  # 0.02 / sqrt(2 * 48)
    ("n_embd = 768, n_layer = 12, n_head = 12", "n_embd = 1600, n_layer = 48, n_head = 25"),
)  # fmt: skip


def gpt2_text(config):
    if config == "tiny":
        return program("gpt")
    text = (harness.ROOT / "examples" / "gpt" / "gpt.mlir").read_text()
    return edited(text, *XL_EDITS) if config == "gpt2-xl" else text


def benchmarks(emulated):
    return TINY if emulated else GPT2


# Golden plans that an emulated kit leaves out: e2e_cuda_models has similar ones.
NOT_EMULATED = "gpt-fp32", "gpt-host-updates", "gpt-gradients", "llama-fp32", "llama-bf16", "llama-gradients"

# It shows that a GPU is there, whatever the libraries reject.
WITHOUT_LIBRARIES = "mlp-kernels"
TWO_RANKS = "two-ranks"


def golden_plans():
    plans = {}
    for model in GOLDEN_MODELS:
        for precision in PRECISIONS:
            plans[f"{model}-{precision}"] = Plan(program(model), (f"--precision={precision}",))
        plans[f"{model}-gradients"] = Plan(edited(program(model), *GRADIENT_EDITS), ("--precision=fp32",))
    plans[WITHOUT_LIBRARIES] = Plan(program("mlp"), ("--precision=fp32", KERNELS))
    plans["gpt-plain"] = Plan(program("gpt"), ("--precision=bf16", PLAIN))
    plans["gpt-host-updates"] = Plan(program("gpt"), ("--precision=fp32", "--offload=optimizer", "--offload-update=host"))
    return plans


def autocast_plans():
    options = ("--precision=bf16", f"--micro-batch={autocast_run.BATCH}", f"--seq-len={autocast_run.LENGTH}")
    return {f"{model}-autocast": Plan(autocast_run.text(model), options) for model in autocast_run.MODELS}


def rank_plans():
    """The same samples a step on one rank and on two."""
    low = "--precision=bf16"
    return {"one-rank": Plan(program("gpt"), (low, "--micro-batch=4")),
            TWO_RANKS: Plan(program("gpt"), (low, "--micro-batch=2", "--ranks=2", "--zero-stage=3"))}  # fmt: skip


def benchmark_plans(emulated):
    return {name: Plan(gpt2_text(case.config), ("--precision=bf16", f"--micro-batch={case.batch}", "--accumulate=1",
                                                f"--seq-len={case.length}", *case.options))
            for name, case in benchmarks(emulated).items()}  # fmt: skip


def kit_plans(emulated):
    """Name -> Plan. Leaves out plans that take an emulator long."""
    plans = golden_plans() | rank_plans() | benchmark_plans(emulated)
    if not emulated:
        return plans | autocast_plans() | {"dropout": Plan(small_gpt.text(), ("--precision=bf16",))}
    plans["dropout"] = Plan(small_gpt.text(), ("--precision=bf16", "--micro-batch=2", "--seq-len=16"))
    return {name: plan for name, plan in plans.items() if name not in NOT_EMULATED}
