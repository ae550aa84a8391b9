"""Ranks that a launcher starts: how they find each other, and whether they were asked for the same."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

import harness
from harness import DEVICE, PORT, TRAINRUN, rank_variables
from ranks_test import RanksTest
from toy_run import write_tokens

MPIRUN = shutil.which("mpirun")
# Settings for runs as root, with more ranks than cores, without a network, and within the limits of containers.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader",
                    "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_oob_tcp_if_include": "lo"}
NEEDS_MPI = unittest.skipUnless(MPIRUN and Path(TRAINRUN).with_name("libtrainc_comm_mpi.so").exists() and
                                not os.environ.get("TRAINC_SANITIZE"), "needs MPI, which knows no sanitizers")


class LaunchersTest(RanksTest):
    def start_process(self, variables, plan, *args):
        process = subprocess.Popen([TRAINRUN, plan, "--data", self.tokens, *DEVICE, *map(str, args)], env=dict(os.environ, **variables),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def start_rank(self, rank, ranks, plan, *args, run=None, local_rank=None, **changed):
        variables = rank_variables(rank, ranks) | ({"TORCHELASTIC_RUN_ID": run} if run else {})
        if local_rank is not None:
            variables["LOCAL_RANK"] = str(local_rank)
        variables = {name: value for name, value in {**variables, **changed}.items() if value is not None}
        return self.start_process(variables, plan, *args)

    def start_as_torchrun(self, plans, *args, each=(), **kwargs):
        """A process for each plan, with the arguments of all and those of `each`."""
        return [self.start_rank(rank, len(plans), plan, *args, *(each[rank] if each else ()), **kwargs)
                for rank, plan in enumerate(plans)]

    def as_torchrun(self, plans, *args, **kwargs):
        """Standard error and exit code of each such process."""
        processes = self.start_as_torchrun(plans, *args, **kwargs)
        return self.outcomes_of(processes)

    def outcomes_of(self, processes):
        return [(process.communicate(timeout=60)[1].decode(), process.returncode) for process in processes]

    def as_srun(self, ranks, plan, *args, of_node=None):
        """Like as_torchrun(), with `of_node` ranks on each node, or all on one."""
        of_node = of_node or ranks
        job = dict(SLURM_JOB_ID=str(os.getpid()), SLURM_STEP_ID="3", SLURM_NTASKS=str(ranks), SLURM_STEP_NUM_TASKS=str(ranks),
                   SLURM_STEP_NUM_NODES=str(-(-ranks // of_node)))
        return self.outcomes_of([self.start_process(dict(job, SLURM_PROCID=str(rank), SLURM_LOCALID=str(rank % of_node)), plan, *args)
                           for rank in range(ranks)])

    def as_mpirun(self, plans, *args, each=(), **kwargs):
        """Like as_torchrun(); standard error of all."""
        contexts = [[":"] * (rank > 0) + ["-n", "1", TRAINRUN, plan, "--data", self.tokens, *DEVICE, *map(str, (*args, *(each[rank] if each else ())))]
                    for rank, plan in enumerate(plans)]
        return self.run_program(MPIRUN, *sum(contexts, []), env=dict(os.environ, **MPI_ENVIRONMENT), **kwargs)[1]


class Launchers(LaunchersTest):
    def test_torchrun(self):
        plan = self.plan(3, 3)
        self.train(plan, "--steps", 5, "--checkpoint-dir", "forked")
        for err, code in self.as_torchrun([plan] * 3, "--steps", 5, "--checkpoint-dir", "joined"):
            self.assertEqual(code, 0, err)
        self.assert_same_folder("forked/step-00000005", "joined/step-00000005")

    def test_srun(self):
        plan = self.plan(3, 3)
        self.train(plan, "--steps", 5, "--checkpoint-dir", "forked")
        for err, code in self.as_srun(3, plan, "--steps", 5, "--checkpoint-dir", "joined"):
            self.assertEqual(code, 0, err)
        self.assert_same_folder("forked/step-00000005", "joined/step-00000005")
        for err, code in self.as_srun(3, plan, "--steps", 5, "--comm=local", of_node=2):
            self.assertEqual(code, 2)
            self.assertIn("ranks of several hosts need --comm=mpi", err)
        for err, code in self.as_srun(2, plan, "--steps", 5):
            self.assertEqual(code, 2)
            self.assertIn("the plan is for 3 ranks, but srun started 2", err)

    def test_the_first_rank_of_each_host_speaks(self):
        """Ranks of two hosts, both of which are this one: ranks 0 and 1, and ranks 2 and 3."""
        plan = self.plan(4)
        for options, speaks in [([], [0]), (["--log-on-each-node"], [0, 2])]:
            processes = [self.start_rank(rank, 4, plan, "--steps", 3, *options, local_rank=rank % 2) for rank in range(4)]
            for rank, (err, code) in enumerate(self.outcomes_of(processes)):
                self.assertEqual(code, 0, err)
                self.assertEqual(bool(err), rank in speaks, f"rank {rank}: {err}")

    def test_a_plan_that_differs_on_one_rank(self):
        plans = [self.plan(3), self.plan(3, 3), self.plan(3)]
        for err, code in self.as_torchrun(plans, "--steps", 5):
            self.assertEqual(code, 2)
            self.assertRegex(err, r"rank 1 runs another plan \(checksum \w+\) than rank 0 \(\w+\)")

    def test_a_rank_that_an_older_job_has_left(self):
        plan = self.plan(2)
        for arguments, said in [([], "rank 1 is of another job than rank 0"), (["--stepz=5"], "--stepz")]:
            with self.subTest(arguments):
                new = self.start_rank(0, 2, plan, "--steps", 5, run="new")
                old = self.start_rank(1, 2, plan, "--steps", 5, *arguments, run="old")
                self.assertIn(said, old.communicate(timeout=20)[1].decode())
                self.assertEqual(old.returncode, 2)
                for process in [self.start_rank(1, 2, plan, "--steps", 5, run="new"), new]:
                    self.assertEqual(process.wait(timeout=20), 0, process.stderr.read().decode())

    def test_a_rank_that_does_not_get_as_far_as_the_others(self):
        plan = self.plan(3)
        for odd in [0, 1]:
            for plans, options, reason in [(["none.plan"], [], r"none\.plan: [^\n]*No such file"),
                                           ([plan], ["--stepz=5"], r"[^\n]*--stepz")]:
                each = [options if rank == odd else [] for rank in range(3)]
                ranks = self.as_torchrun([plans[0] if rank == odd else plan for rank in range(3)], "--steps", 5, each=each)
                for rank, (err, code) in enumerate(ranks):
                    self.assertEqual(code, 2 if rank == odd else 1, err)
                    self.assertRegex(err, "error: " + ("" if rank == odd else f"rank {odd} failed before it joined the others: ") + reason)

    def test_variables_of_one_rank_that_are_wrong(self):
        plan = self.plan(3)
        for odd, changed, reason in [(2, {"RANK": "3"}, "RANK=3 and WORLD_SIZE=3 contradict each other"),
                                     (0, {"LOCAL_RANK": "x"}, "the environment variable LOCAL_RANK is 'x'"),
                                     (0, {"WORLD_SIZE": None}, "RANK=0 is set, but WORLD_SIZE is not"),
                                     (1, {"WORLD_SIZE": None}, "RANK=1 is set, but WORLD_SIZE is not")]:
            with self.subTest(changed):
                ranks = self.outcomes_of([self.start_rank(rank, 3, plan, "--steps", 5, **(changed if rank == odd else {})) for rank in range(3)])
                for rank, (err, code) in enumerate(ranks):
                    self.assertEqual(code, 2 if rank == odd else 1, err)
                    number = changed.get("RANK", odd)
                    self.assertIn("error: " + ("" if rank == odd else f"rank {number} failed before it joined the others: "), err)
                    self.assertIn(reason, err)

    def test_two_processes_of_one_rank(self):
        plan = self.plan(3)
        for twin in [0, 1]:
            for err, code in self.outcomes_of([self.start_rank(rank, 3, plan, "--steps", 5) for rank in [0, 1, twin]]):
                self.assertEqual(code, 2, err)
                self.assertIn(f"say that they are rank {twin}; give each a RANK of its own, from 0 to 2", err)

    def test_two_launchers_that_differ(self):
        """As where srun starts one torchrun on each node."""
        plan = self.plan(2)
        slurm = dict(SLURM_PROCID="0", SLURM_NTASKS="1", SLURM_LOCALID="0", SLURM_STEP_NUM_TASKS="1", SLURM_STEP_NUM_NODES="1")
        ranks = self.outcomes_of([self.start_rank(rank, 2, plan, "--steps", 5, **slurm) for rank in range(2)])
        self.assertEqual([code for _, code in ranks], [0, 0], ranks)
        said = "RANK=0 and WORLD_SIZE=2 of torchrun count, and SLURM_PROCID=0 and SLURM_NTASKS=1 of srun are passed over"
        self.assertIn(said, ranks[0][0])
        self.assertEqual(ranks[1][0], "")

    def test_a_rank_that_is_wrong_and_alone_ends(self):
        environment = dict(os.environ, RANK="1", WORLD_SIZE="2", MASTER_PORT=PORT)
        self.fails([TRAINRUN, "none.plan", "--data", self.tokens], 2, "none.plan", env=environment, timeout=20)

    @NEEDS_MPI
    def test_mpirun(self):
        plan = self.plan(2, 2)
        self.train(plan, "--steps", 5, "--checkpoint-dir", "forked")
        self.as_mpirun([plan] * 2, "--steps", 5, "--checkpoint-dir", "mpi")
        self.assert_same_folder("forked/step-00000005", "mpi/step-00000005")

    def test_errors_say_how_to_start(self):
        two, one = self.plan(2), self.plan(1)
        data = ["--data", self.tokens, "--steps", "1"]
        self.fails([TRAINRUN, two, *data], 2, "the plan is for 2 ranks: add --nproc-per-node=2, or start it with mpirun, srun or torchrun")
        self.fails([TRAINRUN, two, "--nproc-per-node=3", *data], 2, "is for 2 ranks: use --nproc-per-node=2")
        self.fails([TRAINRUN, one, "--nproc-per-node=2", *data], 2, "is for 1 rank; leave the option out")
        environment = dict(os.environ, RANK="0", WORLD_SIZE="4", LOCAL_WORLD_SIZE="2", MASTER_PORT=PORT)
        self.fails([TRAINRUN, self.plan(4), "--comm=local", *data], 2, "ranks of several hosts need --comm=mpi", env=environment)
        self.fails([TRAINRUN, two, *data], 2, "the plan is for 2 ranks, but torchrun started 4", env=environment)
        environment = dict(os.environ, RANK="0", WORLD_SIZE="2", MASTER_PORT="none")
        self.fails([TRAINRUN, two, *data], 2, "MASTER_PORT is 'none'; expected a number from 1 to 65535", env=environment)
        self.fails([TRAINRUN, two, *data], 2, "WORLD_SIZE=2 is set, but RANK is not", env=dict(os.environ, WORLD_SIZE="2"))
        self.run_program(TRAINRUN, one, *data, env=dict(os.environ, WORLD_SIZE="2"))
        self.run_program(TRAINRUN, two, "--nproc-per-node=2", *data, env=dict(os.environ, WORLD_SIZE="2"))


class RanksThatDiffer(LaunchersTest):
    """In one thing on rank 1: all end before the first step, with exit code 2, and name it."""

    def assert_refused(self, each, name, first, second, *args):
        plan = self.plan(3)
        said = rf"{name}: expected the same on all ranks, found {first} on rank 0 and {second} on rank 1; start all ranks alike"
        for err, code in self.as_torchrun([plan] * 3, *args, each=[each[0], each[1], each[0]]):
            self.assertEqual(code, 2, err)
            self.assertRegex(err, said)

    def checkpoint(self, folder, steps, *args):
        self.train(self.plan(3), "--steps", steps, "--checkpoint-dir", folder, *args)
        return f"{folder}/step-{steps:08}"

    def test_options(self):
        steps = ["--steps", 5]
        self.assert_refused([["--seed=1"], ["--seed=2"]], "--seed", "1", "2", *steps)
        self.assert_refused([["--steps=5"], ["--steps=6"]], "--steps", "5", "6")
        self.assert_refused([[], ["--no-shuffle"]], "order of the samples", "shuffled", r"as in the data \(--no-shuffle\)", *steps)
        self.assert_refused([["--eval-every=2"], ["--eval-every=3"]], "--eval-every", "2", "3", "--eval-data", self.tokens, *steps)
        self.assert_refused([[], ["--eval-data", self.tokens]], "--eval-data", "nothing", "given", *steps)
        self.assert_refused([["--checkpoint-every=2"], ["--checkpoint-every=3"]], "--checkpoint-every", "2", "3",
                            "--checkpoint-dir", "ck", *steps)
        self.assertFalse(os.listdir("ck") if Path("ck").exists() else [])

    def test_weights(self):
        first, second = self.checkpoint("a", 20, "--seed=7"), self.checkpoint("b", 10, "--seed=7")
        self.assert_refused([[f"--resume={first}"], [f"--resume={second}"]], "weights to begin with",
                            r"a checkpoint of step 20 \(checksum \w+\)", r"a checkpoint of step 10 \(checksum \w+\)", "--steps", 30)
        other = self.checkpoint("c", 20, "--seed=8")
        self.assert_refused([["--init", first], ["--init", other]], "weights to begin with", r"--init \(checksum \w+\)",
                            r"--init \(checksum \w+\)", "--steps", 30)

    @NEEDS_MPI
    def test_options_over_mpi(self):
        err = self.as_mpirun([self.plan(3)] * 3, "--steps", 5, each=[["--seed=1"], ["--seed=2"], ["--seed=1"]], code=2)
        self.assertIn("--seed: expected the same on all ranks, found 1 on rank 0 and 2 on rank 1", err)
        self.assertNotIn("failed:", err)

    @NEEDS_MPI
    def test_plans_over_mpi(self):
        err = self.as_mpirun([self.plan(3), self.plan(3, 3), self.plan(3)], "--steps", 5, code=2)
        self.assertRegex(err, r"plan: expected the same on all ranks, found checksum \w+ on rank 0 and checksum \w+ on rank 1")

    def test_data(self):
        write_tokens("short.bin", 34)
        self.assert_refused([[], ["--data", "short.bin"]], "--data", r"\d+ samples \(checksum \w+\)",
                            r"\d+ samples \(checksum \w+\)", "--steps", 5)


if __name__ == "__main__":
    harness.main()
