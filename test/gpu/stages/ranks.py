"""Two ranks, on a GPU each or, where NCCL can do that, on one: they train as one rank does, with the same bits in every run."""

import harness
import machine
import plans
from harness import relative_error
from session import Failed, Skipped
from stages import bits

STEPS = 6
BOUND = 2e-2  # bf16: sums of gradients are rounded at other places
CANNOT_SHARE = "ranks 0 and 1 are on one GPU"
SHARING = {"NCCL_MULTI_RANK_GPU_ENABLE": "1"}
EMULATED = {"TRAINC_EMULATOR_NCCL_VERSION": "23000"}


def train(session, plan, run, *arguments):
    environment = SHARING | (EMULATED if session.emulated else {})
    try:
        session.trainrun(plan, "--data", machine.golden_data("gpt"), "--no-shuffle", "--seed=1", f"--steps={STEPS}", "--checkpoint-dir", run,
                         "--metrics", f"{run}.jsonl", *arguments, environment=environment)  # fmt: skip
    except Failed as reason:
        if CANNOT_SHARE in str(reason):
            raise Skipped(next(text for text in str(reason).splitlines() if CANNOT_SHARE in text)) from None
        raise
    return session.work / run / f"step-{STEPS:08}"


def run(session):
    with session.line("two ranks beside one") as line:
        train(session, "one-rank", "one-rank")
        first = train(session, plans.TWO_RANKS, "two-ranks-1", "--nproc-per-node=2")
        one, two = ([each[1] for each in bits.curve(session.work / f"{name}.jsonl")] for name in ("one-rank", "two-ranks-1"))
        error = relative_error(two, one)
        line.judge(error < BOUND, f"losses within {error:.2g} of {BOUND:.2g}")
    with session.line("two runs of two ranks") as line:
        line.detail = bits.same_folder(first_of(session), train(session, plans.TWO_RANKS, "two-ranks-2", "--nproc-per-node=2"))


def first_of(session):
    """The checkpoint of the first line; None if it was skipped."""
    folder = session.work / "two-ranks-1" / f"step-{STEPS:08}"
    if not folder.exists():
        raise Skipped("the first run left no checkpoint")
    return folder
