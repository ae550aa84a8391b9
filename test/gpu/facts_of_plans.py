"""What the kit knows of a plan, of what trainc dump prints."""

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
    """What each kind of library call is -> [entry, instruction, op in the source] of each."""
    entry, found = "", {}
    for line in dump.splitlines():
        if match := ENTRY.match(line):
            entry = match.group(1)
        elif match := CALL.match(line):
            instruction, what, operands, op = match.groups()
            kind = ", ".join([what, *SPECIAL.findall(operands)])
            found.setdefault(kind, []).append([entry, instruction, op])
    return found
