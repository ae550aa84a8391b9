"""trainrun on GPUs, which test/emulator stands for: the toy plan trains as on the CPU."""

import json
import os
import re
from pathlib import Path

import emulated_gpus
import harness
from harness import MAKE_TOY_PLAN, TRAINRUN, metrics, relative_error
from toy_run import write_uneven_tokens

STEPS = 20


class CudaTest(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.run_program(MAKE_TOY_PLAN, "cuda.plan", "cuda")
        self.run_program(MAKE_TOY_PLAN, "cpu.plan")
        write_uneven_tokens("tokens.bin")

    @staticmethod
    def command(plan, *args):
        return [TRAINRUN, plan, "--data", "tokens.bin", "--data-dtype=uint16", "--seed=3", *map(str, args)]

    def train(self, plan, run, *args, steps=STEPS, **variables):
        """The run's output, and the losses and norms of its metrics; the last checkpoint is in the run's folder."""
        _, err = self.run_program(*self.command(plan, "--steps", steps, "--checkpoint-dir", run, "--metrics", f"{run}.jsonl", *args),
                                  env=emulated_gpus.environment(**variables))
        return err, self.numbers(run)

    @staticmethod
    def numbers(run):
        return [line[key] for line in metrics(f"{run}.jsonl") for key in ("loss", "grad_norm", "eval_loss") if key in line]

    def test_trains_as_the_cpu_in_every_order(self):
        _, expected = self.train("cpu.plan", "cpu", "--eval-data=tokens.bin", "--eval-every=7")
        runs = []
        for seed in range(1, 5):
            err, actual = self.train("cuda.plan", f"cuda-{seed}", "--eval-data=tokens.bin", "--eval-every=7", seed=seed)
            self.assertIn("cuda 0 (", err)
            self.assertLess(relative_error(actual, expected), 1e-5)
            runs.append(actual)
            self.assertEqual(actual, runs[0])
            self.assert_same_folder(f"cuda-1/step-{STEPS:08}", f"cuda-{seed}/step-{STEPS:08}")

    def test_ranks_train_as_those_on_cpus(self):
        for ranks, shard in ((2, 2), (4, 2)):
            self.run_program(MAKE_TOY_PLAN, "ranks.plan", ranks, shard)
            self.run_program(MAKE_TOY_PLAN, "gpus.plan", ranks, shard, "cuda")
            _, expected = self.train("ranks.plan", f"cpus-{ranks}", f"--nproc-per-node={ranks}")
            runs = []
            for seed in (1, 2):
                run = f"gpus-{ranks}-{seed}"
                runs.append(self.train("gpus.plan", run, f"--nproc-per-node={ranks}", seed=seed, devices=ranks)[1])
                self.assertLess(relative_error(runs[-1], expected), 1e-5)
                self.assertEqual(runs[-1], runs[0])
                self.assert_same_folder(f"gpus-{ranks}-1/step-{STEPS:08}", f"{run}/step-{STEPS:08}")
        self.fails(self.command("gpus.plan", "--nproc-per-node=4", "--steps=5"), 2,
                   "rank 2 of 4 on this host: expected a GPU for each, found 2", env=emulated_gpus.environment(devices=2))

    def test_resumes_with_the_same_bits(self):
        self.run_program(MAKE_TOY_PLAN, "cuda2.plan", 2, 2, "cuda")
        for plan, ranks in (("cuda.plan", 1), ("cuda2.plan", 2)):
            how = dict(devices=ranks)
            options = [f"--nproc-per-node={ranks}", "--eval-data=tokens.bin", "--eval-every=7"]
            whole, parts = f"whole-{ranks}", f"parts-{ranks}"
            _, expected = self.train(plan, whole, *options, **how)
            self.train(plan, parts, *options, steps=11, seed=5, **how)
            err, _ = self.train(plan, parts, "--resume", *options, seed=6, **how)
            self.assertNotIn("warning", err)
            self.assert_same_folder(f"{whole}/step-{STEPS:08}", f"{parts}/step-{STEPS:08}")

    def test_checkpoints_move_between_cpu_and_gpu(self):
        self.train("cpu.plan", "there", steps=5)
        err, _ = self.train("cuda.plan", "there", "--resume", steps=10)
        self.assertRegex(err, r"step-00000005: it was computed on a CPU, and now is on a GPU: bits are not those of an uninterrupted run\n")
        err, _ = self.train("cpu.plan", "there", "--resume", steps=15)
        self.assertRegex(err, r"step-00000010: it was computed on a GPU, and now is on a CPU: bits are not")
        _, whole = self.train("cpu.plan", "whole", steps=15)
        self.assertLess(relative_error(self.numbers("there"), whole), 1e-5)

    def test_a_resume_on_another_gpu_names_what_differs(self):
        self.train("cuda.plan", "there", steps=5)
        err, _ = self.train("cuda.plan", "there", "--resume", steps=10, name="another GPU")
        self.assertIn("step-00000005: it was computed with emulated GPU 0, and now is with another GPU 0: bits are not those of an uninterrupted run\n", err)

    def test_profiles(self):
        err, losses = self.train("cuda.plan", "profiled", "--profile=p.json", "--trace=t.json", "--trace-steps=3", memory=256 << 20)
        self.assertIn(", compute_80 compiled by the driver, driver for CUDA", err)
        self.assertRegex(err, r"\n  seconds  share predicted    calls ")
        self.assertRegex(err, r"micro_step: toy_micro \(loss: nn.cross_entropy at test.mlir:7\)")
        self.assertIn(" GB/s of a measured copy (3352.3 GB/s by the memory's clock), and 66.9 TFLOP/s in f32, 535.3 in TF32, 1070.5 in bf16 and f16, 2141.1 in fp8 "
                      "(132 multiprocessors of compute capability 9.0 at their highest clock, 1.98 GHz)", err)
        rates = json.loads(Path("p.json").read_text())["rates"]
        self.assertGreater(rates["copied_bytes"], 0)
        self.assertAlmostEqual(rates["half_flops"], 132 * 1.98e9 * 4096)
        events = json.loads(Path("t.json").read_text())
        steps = [event for event in events if event["tid"] == 0 and event["ph"] == "X"]
        self.assertEqual([step["name"] for step in steps], ["step 1", "step 2", "step 3"])
        micro = [event for event in events if event["name"] == "loss: nn.cross_entropy"]
        self.assertEqual(len(micro), 6)
        for event in micro:
            self.assertTrue(any(step["ts"] <= event["ts"] and event["ts"] + event["dur"] <= step["ts"] + step["dur"] for step in steps))
        self.assertEqual(losses, self.train("cuda.plan", "as-graphs")[1])

    def test_a_profile_needs_no_memory(self):
        """Unknown figures are omitted: the measured copy, and the rates of an unknown GPU."""
        self.train("cuda.plan", "poor", "--profile=p.json", memory=256 << 20, fault="cuMemAlloc:3=CUDA_ERROR_OUT_OF_MEMORY", capability="9.9")
        profile = json.loads(Path("p.json").read_text())
        self.assertEqual((profile["rates"]["copied_bytes"], profile["rates"]["f32_flops"]), (0, 0))
        row, = (row for row in profile["rows"] if row["what"] == "toy_micro")
        self.assertAlmostEqual(row["least_seconds"], row["bytes"] / profile["rates"]["memory_bytes"])

    def test_memory(self):
        """GPU memory by use: printed at the end, and before the run if memory may be insufficient."""
        context, arenas = 1 << 20, 4356
        summary = r"GPU memory: 4\.25 KiB in arenas; besides 1\.00 MiB before the run \(the driver's context, other processes\), "
        err, _ = self.train("cuda.plan", "ample", steps=3)
        self.assertRegex(err, summary + r"[\d.]+ KiB kernels, 0 B libraries, [\d.]+ KiB graphs and others\n")
        self.assertNotIn("warning", err)
        rest = 128 << 20  # default reserve of plans, without the context
        err, _ = self.train("cuda.plan", "exact", steps=3, memory=context + arenas + rest)
        self.assertNotIn("warning", err)
        free = arenas + rest - 1
        err, _ = self.train("cuda.plan", "scarce", steps=3, memory=context + free)
        self.assertRegex(err, rf"warning: cuda\.plan: expected {arenas} bytes \(4\.26 KiB\) free on the GPU for arenas and 128 MiB more for libraries and "
                              rf"graphs, found {free} \(128 MiB\) of {context + free}; the GPU's memory may run out: .*--memory-limit=640MiB,")
        self.fails(self.command("cuda.plan", "--steps=3"), 1, f"error: cuda.plan: expected {arenas} bytes", "found 4000 (3.91 KiB)",
                   env=emulated_gpus.environment(memory=context + 4000))

    def test_a_step_waits_for_the_gpu_once(self):
        def launches_before_waits(steps):
            """How many graphs the host launches before each of its waits."""
            trace = Path(f"calls-{steps}").absolute()
            self.train("cuda.plan", f"waits-{steps}", steps=steps, trace=trace)
            *parts, _ = re.split(r"^cu\w*(?:Synchronize|Query) .*\n", trace.read_text(), flags=re.MULTILINE)
            return [part.count("cuGraphLaunch ") for part in parts]

        few, many = launches_before_waits(7), launches_before_waits(12)
        self.assertEqual(len(many) - len(few), 5)
        of_steps = [launches for launches in many if launches > 0]
        self.assertGreaterEqual(of_steps[-1], 3)  # two micro-steps and the update
        self.assertEqual(of_steps[1:], [of_steps[-1]] * 11)  # in the first step entries run without graphs for once

    def test_ranges_of_nvtx(self):
        """Steps contain entries; these contain instructions that run one by one: in an entry's first run, and with a profile."""
        tool = Path(emulated_gpus.LIBRARIES, "libtraincnvtx.so")
        if not tool.exists():
            self.skipTest("CUDA's headers have no nvtx3")
        for run, *options in (("graphs",), ("profile", "--profile")):
            self.run_program(*self.command("cuda.plan", "--steps=3", *options),
                             env=dict(emulated_gpus.environment(nvtx=f"{run}.nvtx", memory=256 << 20), NVTX_INJECTION64_PATH=str(tool)))
            places, open_ranges = [], []
            for line in Path(f"{run}.nvtx").read_text().splitlines():
                what, domain, *name = line.split(" ", 2)
                self.assertEqual(domain, "trainc")
                if what == "push":
                    open_ranges.append(name[0])
                    places.append(tuple(open_ranges))
                else:
                    open_ranges.pop()
            self.assertEqual(open_ranges, [])
            self.assertIn(("init",), places)
            micro = "loss: nn.cross_entropy at test.mlir:7"
            for step in ("step 1", "step 2", "step 3"):
                self.assertEqual(places.count((step,)), 1)
                self.assertEqual(places.count((step, "micro_step")), 2)
                alone = 2 if options else int(step == "step 1")
                self.assertEqual(places.count((step, "micro_step", micro)), alone, f"{run}, {step}")

    def test_a_trace_ends_where_graphs_begin(self):
        trace = emulated_gpus.environment(trace="calls.log")
        self.run_program(*self.command("cuda.plan", "--steps=6", "--trace=t.json", "--trace-steps=2"), env=trace)
        self.assertIn("cuGraphLaunch", Path("calls.log").read_text())

    def test_plans_of_another_target(self):
        cuda, cpu = self.command("cuda.plan", "--steps=5"), self.command("cpu.plan", "--steps=5")
        self.fails(cuda + ["--device=cpu"], 2, "--device=cpu: the plan cuda.plan is for GPUs: leave the option out, or compile with --target=cpu")
        self.fails(cpu + ["--device=cuda"], 2, "--device=cuda: the plan cpu.plan is for CPUs: leave the option out, or compile with --target=cuda")

    def test_a_dry_run_needs_no_gpu(self):
        out, _ = self.run_program(TRAINRUN, "cuda.plan", "--device=null", env=dict(os.environ, LD_LIBRARY_PATH="/nowhere"))
        self.assertIn("plan toy for cuda, 1 rank", out)
        self.assertIn("machine code: compute_80", out)
        self.assertIn("\nneeds a GPU of compute capability 8.0 or higher\n", out)
        self.assertNotIn("bytes a thread", out)


if __name__ == "__main__":
    harness.main()
