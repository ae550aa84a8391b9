"""Ranks of trainrun on emulated GPUs that communicate through the emulated NCCL: how they meet, and their errors if one of them dies or hangs."""

import json
import socket
import subprocess
import time
from pathlib import Path

import emulated_gpus
import harness
from harness import MAKE_TOY_PLAN, TRAINRUN
from launchers_test import MPI_ENVIRONMENT, MPIRUN, NEEDS_MPI
from toy_run import write_uneven_tokens

MOST_SECONDS = 10  # until a job ends of which a rank has died or hangs
SECRET = dict(TRAINC_SECRET="a secret of many letters")
WHERE = r"step \d+: .*entry \w+, instruction \d+ \(.* at test.mlir:\d+\).*: (all-gather|all-reduce|reduce-scatter) of .* cannot be completed: "
# A rank may learn of the end of another one while its device is between two collectives.
WHERE_IF_ONE_DIES = rf"({WHERE}|step \d+: while entry .* ran: rank \d: what ranks do together cannot be completed: )"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class NcclTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.run_program(MAKE_TOY_PLAN, "gpus.plan", 2, 2, "cuda")
        self.run_program(MAKE_TOY_PLAN, "gpus4.plan", 4, 2, "cuda")
        write_uneven_tokens("tokens.bin")

    @staticmethod
    def emulator(devices=2, **variables):
        """With variables by their names."""
        return dict(emulated_gpus.environment(devices=devices), **{k: str(v) for k, v in variables.items()})

    @staticmethod
    def command(plan, *args, steps=10):
        return [TRAINRUN, plan, "--data", "tokens.bin", "--data-dtype=uint16", "--seed=3", f"--steps={steps}", *map(str, args)]

    def outcomes_of(self, processes):
        """Output and exit code of each process."""
        outcomes = []
        for process in processes:
            err = process.communicate(timeout=120)[1].decode()
            outcomes.append((err, process.returncode))
        return outcomes

    def start(self, command, environment):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def as_torchrun(self, plan, ranks, *args, **how):
        return self.outcomes_of(self.started_as_by_torchrun(plan, ranks, *args, **how))

    def started_as_by_torchrun(self, plan, ranks, *args, ranks_of_host=None, own_gpus=False, steps=10, odd={}, **variables):
        """A process for each rank, with torchrun's variables; `odd` are those of the last rank."""
        each = ranks_of_host or ranks
        port = str(free_port())
        processes = []
        for rank in range(ranks):
            launcher = harness.rank_variables(rank, ranks) | dict(LOCAL_RANK=rank % each, LOCAL_WORLD_SIZE=each, MASTER_PORT=port)
            # Ranks that say they are on different hosts have a GPU each all the same.
            visible = dict(CUDA_VISIBLE_DEVICES=rank) if each == 1 or own_gpus else {}
            processes.append(self.start(self.command(plan, *args, steps=steps), self.emulator(ranks, **launcher | visible | variables | (odd if rank + 1 == ranks else {}))))
        return processes

    def forked(self, plan, ranks, *args):
        self.run_program(*self.command(plan, f"--nproc-per-node={ranks}", *args), env=self.emulator(ranks))

    def test_who_starts_ranks_makes_no_difference(self):
        self.forked("gpus4.plan", 4, "--checkpoint-dir", "forked")
        joined = self.as_torchrun("gpus4.plan", 4, "--checkpoint-dir", "joined")
        self.assertEqual([code for _, code in joined], [0] * 4, joined)
        self.assert_same_folder("forked/step-00000010", "joined/step-00000010")

    def test_who_communicates_and_how_long(self):
        """Seconds of collectives are known to a profile alone; unknown ones are no zeros."""
        keys = ["wait_seconds", "communication_seconds", "exposed_seconds"]
        for options, known in (([], False), (["--profile"], True)):
            _, err = self.run_program(*self.command("gpus.plan", "--nproc-per-node=2", "--metrics=m.jsonl", *options), env=self.emulator())
            self.assertRegex(err, r"cuda 0 \(.*, NCCL [\d.]+ among 2 ranks; ")
            self.assertEqual("  waits " in err, known, err)
            for line in map(json.loads, Path("m.jsonl").read_text().splitlines()):
                self.assertGreater(line["sent_bytes"], 0)
                if not known:
                    self.assertEqual([line[key] for key in keys], [None] * 3)
                    continue
                waited, in_flight, exposed = (line[key] for key in keys)
                self.assertGreater(in_flight, 0)
                self.assertLess(in_flight, line["step_seconds"])
                self.assertLessEqual(exposed, min(waited, in_flight) + 1e-9)

    @NEEDS_MPI
    def test_ranks_meet_over_mpi(self):
        self.forked("gpus.plan", 2, "--checkpoint-dir", "forked")
        command = [MPIRUN, "-n", "2", *self.command("gpus.plan", "--checkpoint-dir", "mpi", "--log-level-replica=info")]
        _, err = self.run_program(*command, env=dict(self.emulator(), **MPI_ENVIRONMENT))
        for gpu in range(2):
            self.assertIn(f"(emulated GPU {gpu}, ", err)
        self.assert_same_folder("forked/step-00000010", "mpi/step-00000010")

    def test_ranks_may_see_their_own_gpu_alone(self):
        """As under srun --gpus-per-task=1."""
        own = self.as_torchrun("gpus.plan", 2, own_gpus=True)
        self.assertEqual([code for _, code in own], [0, 0], own)
        same = self.as_torchrun("gpus.plan", 2, CUDA_VISIBLE_DEVICES=1, TRAINC_EMULATOR_NCCL_VERSION=23000)
        for err, code in same:
            self.assertEqual(code, 2, err)
            self.assertIn("ranks 0 and 1 are on one GPU: expected a GPU for each, found 1 that a rank sees", err)

    def test_ranks_of_several_hosts_meet_over_tcp(self):
        self.forked("gpus.plan", 2, "--checkpoint-dir", "forked")
        tcp = self.as_torchrun("gpus.plan", 2, "--checkpoint-dir", "tcp", ranks_of_host=1, **SECRET)
        self.assertEqual([code for _, code in tcp], [0, 0], tcp)
        self.assert_same_folder("forked/step-00000010", "tcp/step-00000010")
        without = self.as_torchrun("gpus.plan", 2, ranks_of_host=1)
        for err, code in without:
            self.assertEqual(code, 2, err)
            self.assertIn("need a secret, or anyone could join them: set TRAINC_SECRET", err)

    def test_a_rank_with_wrong_variables_ends_all_over_tcp(self):
        """Two ranks on two hosts end within seconds, and both say what disagrees."""
        taken = "RANK: expected each number from 0 to 1 once, found {} on two processes"
        for changed, of_rank_0, of_odd in [(dict(WORLD_SIZE="3"), "rank 1 failed before it joined the others: gpus.plan: {}", "the plan is for 2 ranks, but torchrun started 3: start 2 instead"),
                                           (dict(WORLD_SIZE="1"), "rank 1 failed before it joined the others: {}", "RANK=1 and WORLD_SIZE=1 contradict each other: ranks are numbered from 0"),
                                           (dict(RANK="2"), "rank 2 failed before it joined the others: {}", "RANK=2 and WORLD_SIZE=2 contradict each other: ranks are numbered from 0"),
                                           (dict(RANK="0"), taken.format(0), taken.format(0))]:
            with self.subTest(changed):
                begin = time.monotonic()
                (err, code), (odd, _) = self.as_torchrun("gpus.plan", 2, ranks_of_host=1, odd=changed, **SECRET)
                self.assertLess(time.monotonic() - begin, 10)
                self.assertNotEqual(code, 0)
                self.assertIn(of_rank_0.format(of_odd), err)
                self.assertIn(of_odd, odd)

    def test_the_number_on_the_host_picks_the_gpu(self):
        ranks = self.as_torchrun("gpus.plan", 2, "--log-level-replica=info", TRAINC_EMULATOR_DEVICES=3, CUDA_VISIBLE_DEVICES="2,0")
        for (err, code), gpu in zip(ranks, (2, 0)):
            self.assertEqual(code, 0, err)
            self.assertIn(f"(emulated GPU {gpu}, ", err)

    def end(self, plan, ranks, fault, *args):
        """Output of a job in which a rank is at fault, and its duration."""
        begin = time.monotonic()
        process = self.start(self.command(plan, f"--nproc-per-node={ranks}", *args, steps=2000), self.emulator(ranks, TRAINC_EMULATOR_NCCL=fault))
        (err, code), = self.outcomes_of([process])
        return err, code, time.monotonic() - begin

    def test_a_rank_that_dies_is_named(self):
        err, code, seconds = self.end("gpus4.plan", 4, "die:rank=1:collective=20")
        self.assertNotEqual(code, 0)
        self.assertRegex(err, WHERE_IF_ONE_DIES + r"rank \d failed: (it was )?killed by signal 9")
        self.assertLess(seconds, MOST_SECONDS + 5)

    def test_a_device_that_hangs_ends_the_job(self):
        err, code, seconds = self.end("gpus4.plan", 4, "hang:rank=1:collective=20")
        self.assertEqual(code, 1)
        self.assertRegex(err, WHERE + "no rank is known to have failed: all have waited for 7.5 s, so a device, or a link between two, hangs")
        self.assertLess(seconds, MOST_SECONDS + 5)  # with the start

    def test_ranks_that_a_launcher_started_tell_of_one_that_fails(self):
        """Over shared memory and over TCP; all of these jobs at the same time."""
        begin = time.monotonic()
        jobs = [(fault, self.started_as_by_torchrun("gpus.plan", 2, steps=2000, ranks_of_host=each, TRAINC_EMULATOR_NCCL=f"{fault}:rank=1:collective=20", **SECRET))
                for fault in ("die", "hang") for each in (2, 1)]
        for fault, processes in jobs:
            (err, code), (_, code_of_failed) = self.outcomes_of(processes)
            self.assertEqual((code, code_of_failed), (1, -9 if fault == "die" else 1), err)
            self.assertRegex(err, WHERE_IF_ONE_DIES + r"rank \d failed: " if fault == "die" else WHERE + "no rank is known to have failed: ")
        self.assertLess(time.monotonic() - begin, MOST_SECONDS + 5)

    def test_ranks_that_nobody_watches_end_by_themselves(self):
        """Whether NCCL releases its resources or hangs: each rank reports the reason first."""
        hang = dict(TRAINC_EMULATOR_NCCL="hang:rank=1:collective=20", **SECRET)
        for variables in ({}, dict(TRAINC_EMULATOR_NCCL_ABORT="hang"), dict(ranks_of_host=1)):
            with self.subTest(**variables):
                begin = time.monotonic()
                ranks = self.as_torchrun("gpus.plan", 2, "--comm-timeout=2", **hang, **variables)
                for err, code in ranks:
                    self.assertEqual(code, 1, err)
                    self.assertRegex(err, WHERE + "no rank is known to have failed: all have waited for 3 s, so a device, or a link between two, hangs")
                self.assertLess(time.monotonic() - begin, MOST_SECONDS)

    def test_errors_say_what_to_do(self):
        two = self.command("gpus.plan", "--nproc-per-node=2")
        self.fails(two, 1, "cannot load libnccl.so.2", "install NCCL 2.28 or newer", env=emulated_gpus.broken(self.emulator(), "libnccl.so.2"))
        self.fails(two, 1, "expected NCCL 2.28.0 or newer, found 2.27.3; install NCCL", env=self.emulator(TRAINC_EMULATOR_NCCL_VERSION=22703))
        self.fails(two + ["--comm=local"], 2, "--comm=local: the plan gpus.plan is for GPUs, which communicate through NCCL", env=self.emulator())
        self.fails(two, 2, "ranks 0 and 1 are on one GPU", "takes NCCL 2.30.0 or newer (found ", "and NCCL_MULTI_RANK_GPU_ENABLE=1 (set)",
                   env=self.emulator(1, NCCL_MULTI_RANK_GPU_ENABLE=1))
        self.run_program(*two, env=self.emulator(1, NCCL_MULTI_RANK_GPU_ENABLE=1, TRAINC_EMULATOR_NCCL_VERSION=23000))
        self.fails(two, 1, "cannot allocate", "ncclMemAlloc: ", env=self.emulator(TRAINC_EMULATOR_FAULT="ncclMemAlloc:1=ncclUnhandledCudaError"))
        self.fails(two, 1, "ncclCommInitRankConfig: unhandled system error", env=self.emulator(TRAINC_EMULATOR_FAULT="ncclCommInitRankConfig:1=ncclSystemError"))


if __name__ == "__main__":
    harness.main()
