"""A small GPT with dropout whose steps take some milliseconds, and tokens for it."""

import array
import random

from harness import edited, program

BATCH, LENGTH = 8, 64
DROPOUT = [
    ("%x = nn.add %wte, %wpe", '%e = nn.add %wte, %wpe\n  %x = nn.dropout "drop" %e p 0.1'),
    ("%y = nn.add %x, %a", '%d = nn.dropout "resid_dropout" %a p 0.2\n  %y = nn.add %x, %d'),
]


def text(*edits):
    """The golden GPT with dropout, for up to 64 tokens a sample, in batches of 8 x 64."""
    larger = [("of 16 by 32", f"of {LENGTH} by 32"), ("batch 3 x 16", f"batch {BATCH} x {LENGTH}")]
    return edited(program("gpt"), *DROPOUT, *larger, *edits)


def write_tokens(path, samples, seed=1, vocabulary=96):
    """Samples of LENGTH tokens, each token within 7 of a multiple of the one before it: something to learn."""
    numbers = random.Random(seed)
    tokens = array.array("H", [1])
    for _ in range(samples * LENGTH):
        tokens.append((3 * tokens[-1] + numbers.randrange(7)) % vocabulary)
    path = str(path)
    with open(path, "wb") as file:
        tokens.tofile(file)
    return path
