"""The training that test/golden/make_autocast.py compares with PyTorch's: models, samples, commands, and how far two curves lie apart."""

import contextlib
import subprocess
from pathlib import Path

import harness
import small_gpt

MODELS = "gpt", "llama"
STEPS, BATCH, LENGTH, VOCABULARY = 200, 4, small_gpt.LENGTH, 256
WINDOW = 20  # steps
RATE = 1e-3  # at the examples' 3e-3, rounding to bf16 is visible in single steps of Llama: up to 2 %, for PyTorch too


def text(name, rate=RATE):
    """The small model of an example, with another peak of the learning rate."""
    source = (harness.ROOT / "examples" / name / "small.mlir").read_text()
    return harness.edited(source, ("adamw(lr 3e-3", f"adamw(lr {rate}"), ("minimum 3e-4", f"minimum {rate / 10}"))


def write_tokens(path):
    return small_gpt.write_tokens(path, STEPS * BATCH, vocabulary=VOCABULARY)


def train(model, precision, data, steps=STEPS, folder=None):
    """The metrics of a training in the current folder: one order of samples, and one seed of weights."""
    Path("model.mlir").write_text(model)
    Path("run.jsonl").unlink(missing_ok=True)
    checkpoints = [f"--checkpoint-dir={folder}"] if folder else []
    for command in ([harness.TRAINC, "compile", "model.mlir", "-o", "model.plan", "--cpu=native", f"--precision={precision}",
                     f"--micro-batch={BATCH}", f"--seq-len={LENGTH}"],
                    [harness.TRAINRUN, "model.plan", "--data", data, "--no-shuffle", "--seed=1", f"--steps={steps}",
                     "--metrics=run.jsonl", *checkpoints, *harness.DEVICE]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{command}\n{done.stderr}")
    return harness.metrics("run.jsonl")


def in_folder(folder, function, *args):
    with contextlib.chdir(folder):
        return function(*args)


def window_differences(losses, expected):
    """Relative differences of the mean loss of each window of steps."""
    def means(curve):
        return [sum(curve[i:i + WINDOW]) / WINDOW for i in range(0, len(curve), WINDOW)]
    return [found / mean - 1 for found, mean in zip(means(losses), means(expected), strict=True)]


def worst_step(losses, expected):
    """The step, from 1, whose losses differ most, and their relative difference."""
    differences = [found / loss - 1 for found, loss in zip(losses, expected, strict=True)]
    step = max(range(len(differences)), key=lambda i: abs(differences[i]))
    return step + 1, differences[step]
