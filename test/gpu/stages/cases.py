"""Ops, gradients and fused kernels against their bounds: cases that trainc-check --write-cases made."""

import re

from session import Failed

CASE = re.compile(r"^(PASS|FAIL) (\S+)(.*)$", re.MULTILINE)


def run(session):
    with session.line("cases") as line:
        try:
            out, _ = session.run_program("run-cases", session.kit.cases())
        except Failed as reason:
            found = CASE.findall(reason.output)
            failed = [name + rest for verdict, name, rest in found if verdict == "FAIL"]
            raise Failed("\n".join([*failed, str(reason)])) from None
        found = CASE.findall(out)
        if not found:
            raise Failed(f"expected a line for each case, found none:\n{out[-500:]}")
        line.detail = f"{len(found)} cases"
