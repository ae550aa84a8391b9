"""The runtime's own tests, on the device."""

import re

from session import Failed

# What they say of faults, they ask the emulated driver for.
NEEDS_EMULATOR = "CudaFaults.*"
# A kernel that fails leaves its process without a GPU: each such test has one of its own.
ALONE = re.compile(r"Fault")
SUITES = {"runtime_cuda_test": {}}
SUMMARY = re.compile(r"^\[==========\] (\d+) tests? .* ran", re.MULTILINE)


def tests_of(session, program, environment):
    """Full names, of the tests that the program lists."""
    names, suite = [], ""
    for line in session.run(program, "--gtest_list_tests", environment=environment)[0].splitlines():
        name = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return names


def run_tests(session, program, filters, environment):
    """How many ran; fails with the names of those that failed."""
    try:
        out, _ = session.run(program, f"--gtest_filter={filters}", environment=environment)
    except Failed as reason:
        failed = sorted(set(re.findall(r"^\[  FAILED  \] ([\w/.]+)", str(reason), re.MULTILINE)))
        raise Failed(f"{', '.join(failed)}\n{reason}" if failed else str(reason)) from None
    return int(SUMMARY.search(out).group(1))


def run(session):
    for name, environment in SUITES.items():
        with session.line(name) as line:
            program = session.program(name)
            left_out = [] if session.emulated else [NEEDS_EMULATOR]
            alone = [test for test in tests_of(session, program, environment) if ALONE.search(test) and not test.startswith("CudaFaults.")]
            count = run_tests(session, program, f"-{':'.join([*alone, *left_out])}", environment)
            count += sum(run_tests(session, program, test, environment) for test in alone)
            line.detail = f"{count} tests" + (f", without {', '.join(left_out)}" if left_out else "")
