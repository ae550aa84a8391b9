"""Ops, gradients and fused kernels against their bounds: cases that trainc-check --write-cases made."""

import re

from session import Failed, Skipped

CASE = re.compile(r"^(PASS|FAIL) (\S+)(.*)$", re.MULTILINE)


def run(session):
    with session.line("cases") as line:
        folder = session.kit.folder / "cases"
        if not folder.is_dir():
            raise Skipped("the kit has no cases")
        try:
            out, _ = session.run_program("run-cases", folder)
        except Failed as reason:
            found = CASE.findall(str(reason))
            failed = [name + rest for verdict, name, rest in found if verdict == "FAIL"]
            raise Failed("\n".join([*failed, str(reason)])) from None
        found = CASE.findall(out)
        if not found:
            raise Failed(f"expected a line for each case, found none:\n{out[-500:]}")
        line.detail = f"{len(found)} cases"
