"""Compared golden numbers (test/golden/README.md), and tolerances."""

KEY_BIAS = slice(32, 64)  # of GPT-2's attn.c_attn.bias: a true gradient of zero

# For an fp32 implementation.
LOSS_BOUND, CURVE_BOUND, GRADIENT_BOUND, WEIGHTS_BOUND = 1e-6, 1e-5, 1e-5, 1e-4
KEYS_BOUND = 1e-6  # absolutely


def without_keys(name, values):
    """The elements that can be compared, and the keys' third of GPT-2's bias."""
    if not name.endswith("attn.c_attn.bias"):
        return values, []
    return values[:KEY_BIAS.start] + values[KEY_BIAS.stop:], values[KEY_BIAS]


def part(golden, prefix):
    """The tensors whose names begin with prefix and a dot, without both."""
    return {name.removeprefix(f"{prefix}."): tensor for name, tensor in golden.items() if name.startswith(f"{prefix}.")}
