#!/usr/bin/env python3
"""Runs three ranks of mpi_failure under MPI, of which rank 1 fails in one way or another: mpi_failure_test.py MPIRUN PROGRAM."""
import subprocess
import sys
import time

MPIRUN, PROGRAM = sys.argv[1:]
# The job ends when the first survivor does, so at least one of them is sure to be heard.
CANNOT = "all-reduce of 1000 f32 (slot 3) cannot be completed: rank 1 failed: "
EXPECTED = {
    "": "done",
    "slow": "done",
    "wait": "done",
    "fail": CANNOT + "no space left on device",
    "stop": CANNOT + "it did not arrive within 1 s: it has died, hangs or is stopped",
    "hang": CANNOT + "it did not arrive within 1 s: it has died, hangs or is stopped",
    "differ": CANNOT + "its plan differs: it started all-reduce of 500 f32 where rank 0 started all-reduce of 1000 f32",
    "end": CANNOT + "it has ended its run, without an error, while others go on",
    "leave": CANNOT + "it ended before its collectives",
    "kill": "exited on signal 9",
}
MOST_SECONDS = 10


def check(how, expected):
    begin = time.monotonic()
    job = subprocess.run([MPIRUN, "-n", "3", PROGRAM, how], capture_output=True, text=True, timeout=60)
    seconds = time.monotonic() - begin
    said = job.stdout + job.stderr
    if expected not in said:
        return f"'{how}': no '{expected}' in:\n{said}"
    if (job.returncode == 0) != (expected == "done"):
        return f"'{how}': exit code {job.returncode}"
    if seconds > MOST_SECONDS:
        return f"'{how}': took {seconds:.1f} s"
    if subprocess.run(["pgrep", "-f", f"^{PROGRAM} {how}$"], capture_output=True).returncode == 0:
        return f"'{how}': left processes behind"
    print(f"'{how}': {seconds:.1f} s", flush=True)
    return None


def main():
    offences = [offence for how, expected in EXPECTED.items() if (offence := check(how, expected))]
    print("\n".join(offences) or "every failure ended the job")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
