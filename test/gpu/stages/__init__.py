"""The stages of the checklist, in their order."""

import functools
from dataclasses import dataclass
from typing import Callable

import plans
from stages import benchmark, bits, calls, cases, device, facts, golden, kernels, memory, ranks, sanitizer


@dataclass(frozen=True)
class Stage:
    run: Callable
    seconds: int  # at most
    title: str


def stages(emulated):
    """Name -> Stage."""
    beside = {name: Stage(functools.partial(benchmark.run, name), benchmark.seconds(case), f"Beside PyTorch: {benchmark.title(case)}" + (f", {' '.join(case.options)}" if case.options else ""))
              for name, case in plans.benchmarks(emulated).items()}  # fmt: skip
    return {
        "facts": Stage(facts.run, 60, "The device"),
        "calls": Stage(calls.run, 120, "Library calls"),
        "device": Stage(device.run, 240, "Tests of the runtime"),
        "cases": Stage(cases.run, 180, "Ops and kernels against their bounds"),
        "golden": Stage(golden.run, 120, "Golden models against PyTorch's numbers"),
        "bits": Stage(bits.run, 180, "The same bits"),
        "sanitizer": Stage(sanitizer.run, 300, "compute-sanitizer"),
        "memory": Stage(memory.run, 120, "Memory"),
        "ranks": Stage(ranks.run, 90, "Two ranks"),
        "kernels": Stage(kernels.run, 120, "Kernels against the machine"),
        **beside,
    }  # fmt: skip
