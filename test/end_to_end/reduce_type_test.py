"""--reduce-type=bf16 and f16: gradients are rounded once before ranks sum them, and sums once; half the bytes go from rank to rank, and
all else is as ever."""

import math
import os

import harness
from harness import TRAINRUN
from launchers_test import MPI_ENVIRONMENT, MPIRUN, NEEDS_MPI
from ranks_bits_test import ShardedTest

BF16 = {"reduce_type": "bf16"}
ONE = {"micro_batch": 4, "accumulate": 2}


class ReduceTypeTest(ShardedTest):
    def losses(self, name, steps, *args, **kwargs):
        return [line["loss"] for line in self.train(name, steps, *args, **kwargs)]

    def assert_stages(self, **options):
        self.assert_same_bits(steps=3, **{f"stage{stage}": {**options, "zero_stage": stage} for stage in range(4)})
        if "precision" not in options:  # of which the formulas there are of fp32
            for name in self.plans:
                self.assert_costs(name)

    def test_2_ranks(self):
        self.assert_stages(ranks=2, micro_batch=2, **BF16)

    def test_4_ranks_that_sum_once_a_step(self):
        self.assert_stages(ranks=4, micro_batch=1, accumulate=2, sync_gradients="step", reduce_type="f16", precision="fp16")

    def test_4_ranks_that_sum_every_micro_batch(self):
        self.assert_stages(ranks=4, micro_batch=1, accumulate=2, sync_gradients="micro_step", **BF16)

    def test_bf16_with_bf16(self):
        self.assert_stages(ranks=2, micro_batch=2, accumulate=2, sync_gradients="micro_step", precision="bf16", **BF16)

    def assert_groups(self, wrap="mlp", **options):
        """Groups of 2 have the bits that there are without groups."""
        four = {"ranks": 4, "micro_batch": 1, **options}
        groups = {**four, "hybrid_shard": 2}
        self.assert_same_bits(steps=3, flat={**four, "zero_stage": 2}, groups1={**groups, "zero_stage": 1},
                              groups2={**groups, "zero_stage": 2},
                              groups3={**groups, "zero_stage": 3, "prefetch": 3, "wrap": wrap})
        if "precision" not in options:
            for name in self.plans:
                self.assert_costs(name)

    def test_groups(self):
        self.assert_groups(**BF16)

    def test_groups_that_sum_every_micro_batch(self):
        self.assert_groups(**BF16, accumulate=2, sync_gradients="micro_step", reduce_bucket_size=0)

    def test_groups_in_fp16(self):
        self.assert_groups(precision="fp16", reduce_type="f16", accumulate=2, sync_gradients="step")

    def test_groups_in_bf16(self):
        self.assert_groups(precision="bf16", **BF16, wrap="blocks")

    def test_groups_that_are_no_subtrees(self):
        six = {"ranks": 6, "micro_batch": 1, **BF16}
        self.assert_same_bits(steps=3, flat={**six, "zero_stage": 2}, groups={**six, "zero_stage": 3, "hybrid_shard": 3},
                              pairs={**six, "zero_stage": 2, "hybrid_shard": 2})
        for name in ["flat", "groups"]:  # three pairs send thirds of sums that are not multiples of three
            self.assert_costs(name)

    @NEEDS_MPI
    def test_groups_over_mpi(self):
        self.compile_plans(groups={"ranks": 4, "micro_batch": 1, "zero_stage": 3, "hybrid_shard": 2, **BF16})
        self.train("groups", 3)
        self.run_program(MPIRUN, "-n", 4, TRAINRUN, "groups.plan", "--data", "tokens.bin", "--steps", 3, "--checkpoint-dir", "mpi",
                         env=dict(os.environ, **MPI_ENVIRONMENT))
        self.assert_same_folder("groups/step-00000003", "mpi/step-00000003")

    def test_gradients_are_rounded_once(self):
        """The first loss comes before any gradient. Each element of the first gradient is off by 2^-9 of it at most, so the norm is as
        well; f32 adds less than 2^-20. On two ranks the parts of a sum may be larger than the sum."""
        self.compile_plans(wide=ONE, one={**ONE, **BF16}, two={**ONE, **BF16, "ranks": 2, "zero_stage": 2, "accumulate": 1})
        (wide,), (one,), (two,) = (self.train(name, 1) for name in self.plans)
        self.assertEqual(one["loss"], wide["loss"])
        off = abs(one["grad_norm"] / wide["grad_norm"] - 1)
        self.assertTrue(0 < off < 2**-9 + 2**-20, off)
        self.assertLess(abs(two["loss"] / wide["loss"] - 1), 2e-6)

    def test_trains_as_in_f32(self):
        """As the precision does: within a hundredth, over the last third of a run."""
        self.compile_plans(wide=ONE, one={**ONE, **BF16}, two={**ONE, **BF16, "ranks": 2, "zero_stage": 3, "accumulate": 1})
        means = {name: sum(self.losses(name, 60)[-20:]) / 20 for name in self.plans}
        for name in ["one", "two"]:
            self.assertLess(abs(means[name] / means["wide"] - 1), 0.01, means)

    def test_a_resumed_run_has_the_bits_of_one(self):
        self.compile_plans(whole={**BF16, "ranks": 2, "zero_stage": 2, "micro_batch": 2, "accumulate": 2, "precision": "bf16"})
        self.train("whole", 4)
        self.train("whole", 2, run="parts")
        self.train("whole", 4, "--resume", run="parts")
        self.assert_same_folder("whole/step-00000004", "parts/step-00000004")

    def test_f16_sums_that_overflow_are_skipped(self):
        """With this scale the step overflows where gradients are rounded alone: f32 holds them."""
        scaled = {"micro_batch": 4, "ranks": 2, "precision": "fp16", "loss_scale_init": 2**20}
        self.compile_plans(wide=scaled, half={**scaled, "reduce_type": "f16"})
        wide, half = self.train("wide", 6), self.train("half", 6)
        self.assertEqual([line["skipped_steps"] for line in wide], [0] * 6)
        self.assertEqual([half[0]["skipped_steps"], half[0]["grad_norm"]], [1, None])
        self.assertLess(half[-1]["skipped_steps"], 3)
        self.assertTrue(math.isfinite(half[-1]["grad_norm"]))

    def test_no_promise_for_other_numbers_of_ranks(self):
        self.fails([harness.TRAINC, "compile", "gpt.mlir", "-o", "model.plan", "--reproducible=ranks", "--reduce-type=bf16"], 2,
                   "gpt.mlir:", "expected reduce_type f32; leave one of the two out")


if __name__ == "__main__":
    harness.main()
