"""A small GPT for several ranks, and the cost of sharding it by the formulas of docs/reference/memory-and-communication.md."""

import math
import re

import small_gpt

CHUNK = 256  # elements to which tensors in flat states are padded
FLOAT = 4    # bytes
WIDTH = 32   # of the model

# Blocks in blocks, frozen parameters among trained ones in a unit, and two learning rates.
MLP = """nn.block @mlp(%x: tensor<?x?x32xf32>) {
  %h = nn.linear "c_fc" %x to 128 layout in_out
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "c_proj" %g to 32 layout in_out
  nn.return %m
}

"""
IN_LAYER = """  %h = nn.linear "mlp.c_fc" %n2 to 128 layout in_out
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "mlp.c_proj" %g to 32 layout in_out
"""
GROUPS = """
  group "wte.*" lr_scale 0.5
  group "h.0.attn.c_proj.*" frozen
  group "h.1.ln_1.weight" frozen"""
FROZEN = re.compile(r"h\.0\.attn\.c_proj\.|h\.1\.ln_1\.weight")

# The start of a parameter's name that is its unit, for each --wrap: an MLP has 8352 parameters, a layer 12704.
UNITS = {"blocks": r"h\.\d+", "mlp": r"h\.\d+\.mlp", "5000": r"h\.\d+(\.mlp)?", "layer,mlp": r"h\.\d+(\.mlp)?", "model": ""}


def text(generates):
    edits = [("nn.block @layer", MLP + "nn.block @layer"), (IN_LAYER, '  %m = nn.apply @mlp "mlp" (%n2)\n'),
             ("steps 10", "steps 10" + GROUPS)]
    return small_gpt.text(*edits, *([] if generates else [('nn.output "logits"', 'nn.output "scores"')]))


def padded(number, multiple):
    return -(-number // multiple) * multiple


class Bucket:
    """Parameters of a unit that are updated alike: one flat state."""

    def __init__(self, frozen, matrices, whole):
        self.frozen, self.matrices, self.whole = frozen, matrices, whole
        self.names, self.elements = [], 0

    def bytes(self, ranks):
        return FLOAT * padded(self.elements, ranks * CHUNK)


def buckets(shapes, stage, wrap, persist_below):
    found = {}
    for name, shape in shapes.items():
        elements = math.prod(shape)
        unit = re.match(UNITS[wrap], name)
        frozen, matrix = bool(FROZEN.match(name)), len(shape) > 1
        if frozen and stage < 3:
            continue  # not flat, as nothing of it is divided
        whole = stage < 3 or elements < persist_below
        key = (unit and unit[0], frozen, matrix, name.startswith("wte."), whole)
        bucket = found.setdefault(key, Bucket(frozen, matrix, whole))
        bucket.names.append(name)
        bucket.elements += padded(elements, CHUNK)
    return list(found.values())


def memory(flat, shapes, group, stage, accumulate=1, sync="step", reproducible="plan"):
    """Bytes per rank by kind, where `group` ranks divide states among themselves."""
    trained = sum(bucket.bytes(group) for bucket in flat if not bucket.frozen)
    alone = set(shapes) - {name for bucket in flat for name in bucket.names}
    corrections = 2 * FLOAT  # of Adam's averages
    sums = accumulate.bit_length() - 1 if reproducible == "ranks" else min(1, accumulate - 1)
    return {"parameters": sum(bucket.bytes(group) // (1 if bucket.whole else group) for bucket in flat) +
                          sum(FLOAT * math.prod(shapes[name]) for name in alone),
            "optimizer": 2 * trained // (group if stage >= 1 else 1) + corrections,
            "gradients": sums * trained // (group if stage >= 2 and sync == "micro_step" else 1)}


def wire(flat, ranks, group, stage, accumulate=1, sync="step", reshard=True, wrap="blocks", targets=1, gradient=FLOAT):
    """Bytes that a rank sends in a step, by kind of collective. `targets` numbers are summed to count them. `gradient`: bytes of an element of the
    summed gradients."""
    trained = sum(bucket.bytes(group) for bucket in flat if not bucket.frozen)
    summed = trained * gradient // FLOAT
    sums = accumulate if sync == "micro_step" else 1
    scalars = sum(2 * FLOAT * numbers * (ranks - 1) // ranks for numbers in [1, targets])  # with the loss
    whole = 2 * sums * summed * (ranks - 1) // ranks + scalars  # sums that every rank gets all of
    if stage == 0:
        return {"all_reduce": whole}
    gathered = trained // CHUNK  # a square sum of each chunk, for the norm
    for bucket in flat:
        if bucket.whole:
            gathered += 0 if bucket.frozen else bucket.bytes(group)  # once updated
            continue
        # The backward reads matrices again, but not the positions' embedding; vectors are kept in the fused
        # kernels that read them.
        again = reshard and wrap != "model" and bucket.matrices and bucket.names != ["wpe.weight"]
        gathered += accumulate * bucket.bytes(group) * (2 if again else 1)
    subtrees = group == ranks or group & (group - 1) == 0  # of the tree over which ranks are summed
    if (stage == 1 and sums > 1) or not subtrees:  # until the update every rank keeps gradients whole; or makes whole sums
        return {"all_reduce": whole, "all_gather": gathered * (group - 1) // group}
    replicas = ranks // group
    across = 2 * sums * (trained // group) * (replicas - 1) // replicas  # sums of the groups' sums, which are in fp32
    return {"all_reduce": across + scalars, "reduce_scatter": sums * summed * (group - 1) // group,
            "all_gather": gathered * (group - 1) // group}
