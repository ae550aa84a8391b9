"""Facts of a plan in the kit, from the output of trainc dump."""

import re

ENTRY = re.compile(r"^entry (\S+) ")
KERNEL = re.compile(r"^kernel (\S+) ")
# 3: matrix product 48 x 96 x 32 (a ..., b ..., out workspace ...)  // h.0.attn.c_attn: nn.product (gpt.mlir:4:10)
CALL = re.compile(r"^ +(\d+): ((?:gradient of )?attention .*?|matrix product .*?) \((.*)\).*?  // (.*?)(?: \([^()]*\))?(?:, predicted [^,]+)?$")
# Operands that make a call another one.
SPECIAL = re.compile(r"\b(bias|auxiliary) ")


def kernels(dump):
    """Their symbols."""
    return [match.group(1) for line in dump.splitlines() if (match := KERNEL.match(line))]


def calls(dump):
    """Description of each kind of library call -> [entry, instruction, op in the source] of each call."""
    entry, found = "", {}
    for line in dump.splitlines():
        if match := ENTRY.match(line):
            entry = match.group(1)
        elif match := CALL.match(line):
            instruction, what, operands, op = match.groups()
            kind = ", ".join([what, *SPECIAL.findall(operands)])
            found.setdefault(kind, []).append([entry, instruction, op])
    return found
