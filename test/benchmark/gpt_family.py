"""GPTs of other sizes than examples/gpt/gpt.mlir, made of its text (standard library only)."""
import math
import re

from compare import ROOT, ProgramFailed

EXAMPLE = "examples/gpt/gpt.mlir"


def gpt_text(layers, width, heads, vocabulary, learning_rate=None):
    """The example with these sizes, and with this rate at every step instead of its schedule."""
    text = (ROOT / EXAMPLE).read_text()
    changes = [
        (r"(?<!\d)768(?!\d)", width), (r"(?<!\d)2304(?!\d)", 3 * width), (r"(?<!\d)3072(?!\d)", 4 * width), (r"\b50257\b", vocabulary),
        (r"\b50256\b", vocabulary - 1), (r"(?<=heads )12\b", heads), (r"(?<=n_head = )12\b", heads), (r"(?<=times )12\b", layers),
        (r"(?<=n_layer = )12\b", layers), (r"12(?= layers)", layers), (r"(?<=normal\()0\.00408248", f"{0.02 / math.sqrt(2 * layers):.8f}"),
    ]  # fmt: skip
    if learning_rate is not None:
        changes += [(r"(?<=adamw\(lr )[^,]*", learning_rate), (r"schedule cosine\(.*\)", "schedule constant")]
    for old, new in changes:
        text, found = re.subn(old, str(new), text)
        if found == 0:
            raise ProgramFailed(f"{EXAMPLE}: expected text that matches '{old}', to make a GPT of another size")
    return text


def parameter_count(layers, width, vocabulary, context=1024):
    """Number of weights, biases and norms; the output projection shares the embedding."""
    return layers * (12 * width**2 + 13 * width) + (vocabulary + context) * width + 2 * width
