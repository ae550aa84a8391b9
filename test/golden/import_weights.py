"""Weights, tokens and projections of the tiny imported models: the same in the script that makes golden numbers and in the test, without
any package, so that no weights need to be stored."""

import math
import zlib

ROWS, LENGTH, STEPS = 2, 48, 5  # of a micro-batch; tokens of a row; AdamW steps
VOCABULARY = 256
PROMPT, GENERATED = b"The quick", 32
PROJECTIONS = 4


def stream(name):
    """Uniform numbers in [-1, 1) from a linear congruential generator (Knuth's MMIX) that starts from the name."""
    state = zlib.crc32(name.encode()) * 2654435761 + 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 40) / 2**23 - 1


def weights(family, name, shape):
    """f32 values, exactly. Norms are near 1 (Gemma's near 0), biases near 0.1; others have a scale of 1 / sqrt(inputs)."""
    count = math.prod(shape)
    numbers = stream(name)
    if len(shape) > 1:
        scale = 2 / math.sqrt(shape[-1]) if "embed" not in name and "wte" not in name and "wpe" not in name else 0.5
        centre = 0.0
    else:
        scale, centre = 0.25, 0.1 if name.endswith("bias") else 0.0 if family.startswith("gemma") else 1.0
    # A multiple of 2^-20: the sum is exact in f32.
    return [centre + round(next(numbers) * scale * 2**20) / 2**20 for _ in range(count)]


def tokens():
    """Rows of LENGTH + 1 tokens for all steps."""
    numbers = stream("tokens")
    return [[int((next(numbers) + 1) / 2 * VOCABULARY) for _ in range(LENGTH + 1)] for _ in range(ROWS * STEPS)]


def task_of(config):
    """The task of a config's class, as "MaskedLM"; decoders have "CausalLM", also those of models of pictures and texts."""
    architecture = config["architectures"][0]
    if "text_config" in config:
        return "CausalLM"
    return architecture.split("For")[1] if "For" in architecture else "CausalLM"


def row_lengths():
    """Tokens of each row of an encoder's data; the others are padding."""
    return [LENGTH - 11 * (row % 3) for row in range(ROWS * STEPS)]


def images_of(config):
    """Pixels, as lists of rows, channels, lines and numbers, each exact in f32."""
    numbers = stream("images")
    sides = config["image_size"] if isinstance(config["image_size"], list) else [config["image_size"]] * 2
    return [[[[round(next(numbers) * 2**10) / 2**10 for _ in range(sides[1])] for _ in range(sides[0])] for _ in range(config["num_channels"])]
            for _ in range(ROWS * STEPS)]


def encoder_columns(config, token_types):
    """Columns of an encoder's data, as lists of rows: images, or padded texts, and labels of the config's task."""
    numbers = stream("encoder")
    draw = lambda begin, end: begin + int((next(numbers) + 1) / 2 * (end - begin))
    lengths, pad = row_lengths(), config.get("pad_token_id") or 0
    padded = lambda values, other: values + [other] * (LENGTH - len(values))
    columns = {"tokens": [padded([draw(5, VOCABULARY) for _ in range(length)], pad) for length in lengths],
               "segments": [padded([1] * length, 0) for length in lengths]}
    if "image_size" in config:
        columns = {"pixel_values": images_of(config)}
    if token_types:
        columns["token_types"] = [padded([int(position >= length // 2) for position in range(length)], 0) for length in lengths]
    task, classes = task_of(config), len(config.get("id2label", range(2)))
    if task == "MaskedLM":
        columns["labels"] = [padded([draw(5, VOCABULARY) if draw(0, 10) < 3 else -100 for _ in range(length)], -100) for length in lengths]
    elif task == "TokenClassification":
        columns["labels"] = [padded([draw(0, classes) if draw(0, 10) < 8 else -100 for _ in range(length)], -100) for length in lengths]
    elif config.get("problem_type") == "multi_label_classification":
        columns["labels"] = [[float(draw(0, 2)) for _ in range(classes)] for _ in lengths]
    elif config.get("problem_type") == "regression":
        columns["labels"] = [[draw(-100, 100) / 64 for _ in range(classes)] for _ in lengths]
    elif classes == 1:
        columns["labels"] = [draw(-100, 100) / 64 for _ in lengths]
    else:
        columns["labels"] = [draw(0, classes) for _ in lengths]
    return columns


def projections(name, values):
    """Scalar products with random vectors of -1 and 1: a wrong element changes each of them."""
    numbers = stream("projection " + name)
    sums = [0.0] * PROJECTIONS
    for value in values:
        for index in range(PROJECTIONS):
            sums[index] += value if next(numbers) >= 0 else -value
    return sums
