"""Ranks of a launcher that die, stop, have no disk or receive a signal: how the others end, and their messages."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import harness
from harness import DEVICE, TRAINRUN
from launchers_test import MPI_ENVIRONMENT, MPIRUN, NEEDS_MPI, LaunchersTest
from ranks_test import FOREVER, processes_left

TIMED_OUT = "it did not arrive within {} s: it has died, hangs or is stopped"
STOPPED = "stopped by (SIGTERM|a signal to another rank) after step"
RUNNING = ["--steps", FOREVER, "--metrics", "running.jsonl"]


class LauncherFailuresTest(LaunchersTest):
    def wait_anywhere(self):
        """Until some place of some step: how soon a launcher's first step is seen would decide on the place."""
        metrics = Path("running.jsonl")
        some = len(metrics.read_bytes()) + random.randrange(1, 5000)
        self.wait_until(lambda: len(metrics.read_bytes()) >= some, "the run does not go on")

    def assert_failure_is_named(self, fail_and_hear, victim, reason):
        """The messages after a rank has failed in the middle of a step. Repeats, because few failures hit between steps."""
        for _ in range(5):
            Path("running.jsonl").unlink(missing_ok=True)
            err = fail_and_hear()
            if self.assert_survivors_say(err, {0, 1, 2} - {victim}, f"rank {victim} failed: {reason}"):
                return err
        self.fail("hardly any time passes between steps")


class Torchrun(LauncherFailuresTest):
    """By its variables: it would end the others, too, but later, and gives them 30 s."""

    def start_training(self, plan, *args):
        processes = self.start_as_torchrun([plan] * 3, *RUNNING, *args)
        self.wait_for_a_step()
        self.assert_shared_memory_is_removed(process.pid for process in processes)
        return processes

    def wait_for_all(self, processes, code):
        """Standard error of processes that must end soon."""
        deadline = time.monotonic() + 60
        err = "".join(process.communicate(timeout=deadline - time.monotonic())[1].decode() for process in processes)
        self.assertEqual([process.returncode for process in processes], [code] * len(processes), err)
        return err

    def fail_rank(self, victim, number, *args):
        """Standard error of the others."""
        processes = self.start_training(self.plan(3, 3, "linger"), *args)
        lost = processes.pop(victim)
        self.wait_anywhere()
        lost.send_signal(number)
        err = self.wait_for_all(processes, 1)
        lost.kill()
        lost.communicate()
        return err

    def test_a_rank_that_is_killed(self):
        self.assert_failure_is_named(lambda: self.fail_rank(1, signal.SIGKILL), 1, TIMED_OUT.format(5))

    def test_a_rank_that_is_stopped_for_as_long_as_asked(self):
        self.assert_failure_is_named(lambda: self.fail_rank(2, signal.SIGSTOP, "--comm-timeout", 2), 2, TIMED_OUT.format(2))

    def test_a_full_disk_on_one_rank(self):
        plan = self.plan(3, 3)
        processes = self.start_training(plan, "--checkpoint-dir", "ck", "--checkpoint-every", 10)
        done = self.fill_disk(processes[0], processes[1].pid)
        self.assert_checkpoint_not_written(self.wait_for_all(processes, 1), 1, "write its share", done)
        self.assert_resumes(plan)

    def test_a_signal_to_one_rank(self):
        plan = self.plan(3, 3)
        processes = self.start_training(plan, "--checkpoint-dir", "ck")
        processes[1].send_signal(signal.SIGTERM)
        self.assertRegex(self.wait_for_all(processes, 0), STOPPED)
        self.assertEqual(len(self.checkpoints()), 1)
        self.assert_resumes(plan)


@NEEDS_MPI
class Mpirun(LauncherFailuresTest):
    def setUp(self):
        super().setUp()
        self.jobs = []

    def tearDown(self):
        super().tearDown()
        self.assertEqual([name for job in self.jobs for name in self.segments_of(job)], [])

    def segments_of(self, job):
        """Open MPI's, whose names end with the job and the rank."""
        return [name for name in os.listdir("/dev/shm") if name.startswith("vader_segment") and f".{job:x}." in name]

    def start_training(self, plan, *args, ranks=3):
        """mpirun, and its ranks' processes."""
        process = subprocess.Popen([MPIRUN, "-n", str(ranks), TRAINRUN, plan, "--data", self.tokens, *RUNNING, *DEVICE, *map(str, args)],
                                   env=dict(os.environ, **MPI_ENVIRONMENT), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (process.terminate(), process.communicate()))  # it ends its ranks
        self.wait_for_a_step()
        pids = {}
        for pid in map(int, processes_left()):
            variables = dict(entry.split("=", 1) for entry in Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in entry)
            if "OMPI_COMM_WORLD_RANK" in variables:
                pids[int(variables["OMPI_COMM_WORLD_RANK"])] = pid
                job = int(variables["PMIX_NAMESPACE"])
        self.assertEqual(sorted(pids), list(range(ranks)))
        self.assertTrue(self.segments_of(job), os.listdir("/dev/shm"))
        self.assert_shared_memory_is_removed(pids.values())
        self.jobs.append(job)
        return process, pids

    def fail_rank(self, victim, number, code, *args):
        process, ranks = self.start_training(self.plan(3, 3, "linger"), *args)
        self.wait_anywhere()
        os.kill(ranks[victim], number)
        return self.end(process, code)

    def test_a_rank_that_is_killed(self):
        """mpirun says which, and ends the others, but these are faster."""
        err = self.assert_failure_is_named(lambda: self.fail_rank(2, signal.SIGKILL, 128 + signal.SIGKILL), 2, "its process has died")
        self.assertRegex(err, r"process rank 2 with PID \d+ on node \S+ exited on signal 9 \(Killed\)")

    def test_a_rank_that_is_stopped(self):
        self.assert_failure_is_named(lambda: self.fail_rank(2, signal.SIGSTOP, 1, "--comm-timeout", 2), 2, TIMED_OUT.format(2))

    def test_a_full_disk_on_one_rank(self):
        plan = self.plan(3, 3)
        process, ranks = self.start_training(plan, "--checkpoint-dir", "ck", "--checkpoint-every", 10)
        done = self.fill_disk(process, ranks[1])
        self.assert_checkpoint_not_written(self.end(process, 1), 1, "write its share", done)
        self.assert_resumes(plan)

    def test_a_signal(self):
        """To a rank, or to the launcher, which hands it on and calls the job failed."""
        for to_launcher, code in [(False, 0), (True, 1)]:
            with self.subTest(to_launcher=to_launcher):
                Path("running.jsonl").unlink(missing_ok=True)
                folder = f"ck-{code}"
                process, ranks = self.start_training(self.plan(2), "--checkpoint-dir", folder, ranks=2)
                os.kill(process.pid if to_launcher else ranks[1], signal.SIGTERM)
                self.assertRegex(self.end(process, code), STOPPED)
                self.assertEqual(len(os.listdir(folder)), 1)


if __name__ == "__main__":
    harness.main()
