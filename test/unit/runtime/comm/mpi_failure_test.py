#!/usr/bin/env python3
"""Runs three ranks of mpi_failure under MPI, of which rank 1 fails in one way or another: mpi_failure_test.py MPIRUN PROGRAM."""
import os
import re
import subprocess
import sys
import tempfile
import time

MPIRUN, PROGRAM = sys.argv[1:]
# Open MPI's number of the job is in the names of its segments.
RANK = ["sh", "-c", 'echo "job $PMIX_NAMESPACE"; exec "$@"', "sh", PROGRAM]
# The job ends when the first survivor does, so at least one of them is sure to be heard.
CANNOT = "all-reduce of 1000 f32 cannot be completed: rank 1 failed: "
NOT_STARTED = "MPI has not started within 2 s, as it waits for ranks that have not come"
EXPECTED = {
    "": "done",
    "slow": "done",
    "wait": "done",
    "fail": CANNOT + "no space left on device",
    "stop": CANNOT + "it did not arrive within 1 s: it has died, hangs or is stopped",
    "hang": CANNOT + "it did not arrive within 1 s: it has died, hangs or is stopped",
    "differ": CANNOT + "its plan differs: it started all-reduce of 500 f32 where rank 0 started all-reduce of 1000 f32",
    "end": CANNOT + "it has ended its run, without an error, while others continue",
    "leave": CANNOT + "it ended before its collectives",
    "kill": CANNOT + "its process has died",
    "elsewhere-fail": "s: rank 1 failed: no space left on device",
    "elsewhere-hang": "s: rank 1 failed: it did not arrive within 1 s: it has died, hangs or is stopped",
    "elsewhere-kill": "s: rank 1 failed: its process has died",
    "elsewhere-all": "no rank is known to have failed: all have waited for 1.5 s, so a device, or a link between two, hangs",
    "end-stop": "all work is done, but MPI has not ended within 1 s",
    "late-stop": NOT_STARTED,
    "late-hang": NOT_STARTED,
    "late-kill": "non-zero exit code",
}
MOST_SECONDS = 60  # as fast as a busy machine is, and no hang


def run(how):
    """Output of the job, its exit code, and all names in the folder of shared memory while it ran."""
    with tempfile.TemporaryFile("w+") as output:
        job = subprocess.Popen([MPIRUN, "-n", "3", *RANK, how], stdout=output, stderr=subprocess.STDOUT)
        names = set()
        for _ in range(6000):
            names.update(os.listdir("/dev/shm"))
            if job.poll() is not None:
                break
            time.sleep(0.01)
        else:
            job.kill()
            job.wait()
        output.seek(0)
        return output.read(), job.returncode, names


def segments(names, said):
    """Names of the job's segments."""
    job = re.search(r"^job (\d+)$", said, re.MULTILINE)
    return {name for name in names if job and f".{int(job[1]):x}." in name}


def check(how, expected):
    begin = time.monotonic()
    said, code, names = run(how)
    seconds = time.monotonic() - begin
    if expected not in said:
        return f"'{how}': no '{expected}' in:\n{said}"
    if (code == 0) != (expected == "done"):
        return f"'{how}': exit code {code}"
    if seconds > MOST_SECONDS:
        return f"'{how}': took {seconds:.1f} s"
    if subprocess.run(["pgrep", "-f", f"^{PROGRAM} {how}$"], capture_output=True).returncode == 0:
        return f"'{how}': left processes behind"
    if not how.startswith("late-") and not segments(names, said):
        return f"'{how}': the ranks share no memory that this test could look for"
    if left := segments(os.listdir("/dev/shm"), said):
        return f"'{how}': left in /dev/shm: {left}"
    print(f"'{how}': {seconds:.1f} s", flush=True)
    return None


def main():
    offences = [offence for how, expected in EXPECTED.items() if (offence := check(how, expected))]
    print("\n".join(offences) or "every failure ended the job")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
