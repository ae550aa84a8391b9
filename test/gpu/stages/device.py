"""The runtime's own tests, on the device."""

import re
from dataclasses import dataclass

from session import Failed

# Tests whose request or expected error is specific to the emulated libraries.
NEEDS_EMULATOR = ("CudaFaults.*:Tried.TooSmallAWorkspace:CudaProducts.RefusesTooSmallAWorkspace:"
                  "CudaDeviceTest.PrefersMachineCodeAndFallsBackToPtx")
# A kernel that fails leaves its process without a GPU: each such test has one of its own.
ALONE = re.compile(r"Fault")


@dataclass(frozen=True)
class Suite:
    environment: dict
    left_out: str = ""


# Ranks of the latter two are threads that exchange memory of the host; test/unit/runtime/CMakeLists.txt leaves them out as well.
SHARED = Suite({"TRAINC_TEST_DEVICE": "cuda"}, "*Ranks*:ExecutorSpaces.*")
SUITES = {"runtime_cuda_test": Suite({}), "runtime_executor_test": SHARED, "runtime_training_test": SHARED}
SUMMARY = re.compile(r"^\[==========\] (\d+) tests? .* ran", re.MULTILINE)


def tests_of(session, program, environment):
    """Full names of the tests that the program lists."""
    names, suite = [], ""
    for line in session.run_program(program, "--gtest_list_tests", environment=environment)[0].splitlines():
        name = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return names


def run_tests(session, program, filters, environment):
    """Number of tests run; fails with the names of those that failed."""
    try:
        out, _ = session.run_program(program, f"--gtest_filter={filters}", environment=environment)
    except Failed as reason:
        failed = sorted(set(re.findall(r"^\[  FAILED  \] ([\w/.]+)", str(reason), re.MULTILINE)))
        raise Failed(f"{', '.join(failed)}\n{reason}" if failed else str(reason)) from None
    return int(SUMMARY.search(out).group(1))


def run(session):
    for name, suite in SUITES.items():
        with session.line(name) as line:
            left_out = [each for each in (suite.left_out, "" if session.emulated else NEEDS_EMULATOR) if each]
            alone = [test for test in tests_of(session, name, suite.environment) if ALONE.search(test) and not test.startswith("CudaFaults.")]
            count = run_tests(session, name, f"-{':'.join([*alone, *left_out])}", suite.environment)
            count += sum(run_tests(session, name, test, suite.environment) for test in alone)
            line.detail = f"{count} tests" + (f", without {' and '.join(left_out)}" if left_out else "")
