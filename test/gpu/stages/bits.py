"""Two runs have the same bits, and so has a run that was resumed."""

import harness
import small_gpt
from session import Failed

STEPS, BENCHMARK_STEPS = 8, 4


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def same_folder(one, other):
    """How many files; fails where one differs."""
    ours, theirs = files(one), files(other)
    differ = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if differ or not ours:
        raise Failed(f"{one.name} and {other.name} differ in {', '.join(differ) or 'nothing: both are empty'}")
    return f"{len(ours)} files, {sum(map(len, ours.values()))} bytes"


def curve(path):
    """Losses and norms of each step."""
    return [(line["step"], line["loss"], line["grad_norm"]) for line in harness.metrics(path)]


def run(session):
    data = small_gpt.write_tokens(session.work / "bits.bin", 100)

    def train(run, steps, *arguments):
        session.trainrun("dropout", "--data", data, "--seed=1", f"--steps={steps}", "--checkpoint-dir", run, "--metrics", f"{run}.jsonl", *arguments)
        return session.work / run / f"step-{steps:08}"

    whole = session.work / "whole" / f"step-{STEPS:08}"
    with session.line("two runs of the small GPT") as line:
        train("whole", STEPS)
        line.detail = same_folder(whole, train("again", STEPS))
    with session.line("a run of half its steps, resumed") as line:
        train("parts", STEPS // 2)
        line.detail = same_folder(whole, train("parts", STEPS, "--resume"))
    for name, case in session.kit.benchmarks().items():
        with session.line(f"two runs of {name}: losses and norms") as line:
            tokens = small_gpt.write_tokens(session.work / "two.bin", case.batch * case.length * BENCHMARK_STEPS // small_gpt.LENGTH + 1)
            curves = []
            for each in ("two-1", "two-2"):
                session.trainrun(name, "--data", tokens, "--seed=1", f"--steps={BENCHMARK_STEPS}", "--metrics", f"{each}.jsonl")
                curves.append(curve(session.work / f"{each}.jsonl"))
            if curves[0] != curves[1]:
                raise Failed(f"{curves[0]} and {curves[1]}")
            line.detail = f"{len(curves[0])} steps, norm {curves[0][-1][2]:.6g}"
