"""--precision=fp16: trains as fp32 does; steps that overflow are skipped, and the loss scale follows."""

import json
from pathlib import Path

import harness
import small_gpt
from harness import program

LOW = "--precision=fp16"
WARMUP = ("schedule constant", "schedule constant(warmup 10)")
POWER = 30  # of a first scale at which gradients overflow
HUGE = f"--loss-scale-init={2**POWER}"

REGRESSION = """
nn.model @m(%features: tensor<?x4xf32>) {
  %h = nn.linear "fc" %features to 8 init normal(4.0)
  %y = nn.relu %h
  %s = nn.reduce mean %y over [1]
  nn.loss "loss" %s
}
train.program @p { model @m  optimizer sgd(lr 1e-9)  batch 8 }
"""


class LossScaleTest(harness.EndToEndTest):
    def train(self, plan, name, *args, data, steps=20, ranks=1):
        """The metrics of a run whose checkpoints are in the folder `name`."""
        processes = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        _, self.err = self.trainrun(plan, *processes, "--data", data, "--steps", steps, "--checkpoint-dir", name, "--metrics", f"{name}.jsonl", *args)
        return harness.metrics(f"{name}.jsonl")

    @staticmethod
    def results(run):
        return [(line["loss"], line["grad_norm"], line["loss_scale"]) for line in run]

    def test_gpt_trains_as_in_fp32(self):
        data = small_gpt.write_tokens("tokens.bin", 200)
        losses, norms = {}, {}
        for precision in ["fp32", "fp16"]:
            self.compile(small_gpt.text(), f"--precision={precision}")
            run = self.train("model.plan", precision, data=data, steps=60)
            losses[precision] = sum(line["loss"] for line in run[-20:]) / 20
            norms[precision] = run[-1]["grad_norm"]
            self.assertLess(losses[precision], run[0]["loss"])
        self.assertLess(abs(losses["fp16"] / losses["fp32"] - 1), 0.01)
        self.assertLess(abs(norms["fp16"] / norms["fp32"] - 1), 0.1, "norms are those of the loss itself")
        self.assertEqual({line["loss_scale"] for line in run}, {65536.0})
        self.assertEqual({line["skipped_steps"] for line in run}, {0})

    def test_llama_trains_as_in_fp32(self):
        data = small_gpt.write_tokens("tokens.bin", 200)
        losses = {}
        for precision in ["fp32", "fp16"]:
            self.compile(program("llama"), f"--precision={precision}", "--micro-batch=4", "--accumulate=2")
            run = self.train("model.plan", precision, data=data, steps=60)
            losses[precision] = sum(line["loss"] for line in run[-20:]) / 20
        self.assertLess(abs(losses["fp16"] / losses["fp32"] - 1), 0.01)

    def test_levels_and_recomputation_change_no_bit(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        expected = None
        for cpu, *options in [("native",), ("x86-64-v3",), ("native", "--activation-checkpointing=selective")]:
            self.compile(small_gpt.text(), LOW, HUGE, *options, cpu=cpu)
            found = self.results(self.train("model.plan", "run" + cpu + "".join(options), data=data, steps=12))
            expected = expected or found
            self.assertEqual(found, expected, (cpu, options))

    def test_an_overflow_is_skipped(self):
        """The scale halves until gradients fit. Such steps count, but do not move the schedule."""
        data = small_gpt.write_tokens("tokens.bin", 200)
        self.compile(small_gpt.text(WARMUP), LOW, HUGE)
        run = self.train("model.plan", "run", data=data, steps=40)
        self.assertIn("step 1: gradients overflow at the loss scale 1073741824; such steps are skipped", self.err)
        self.assertEqual(self.err.count("overflow"), 1)
        skipped = next(i for i, line in enumerate(run) if line["grad_norm"] is not None)
        self.assertGreater(skipped, 1)
        self.assertEqual([line["loss_scale"] for line in run[:skipped + 1]], [2.0**(POWER - i) for i in range(skipped + 1)])
        self.assertEqual([line["skipped_steps"] for line in run[:skipped + 1]], [*range(1, skipped + 1), skipped])
        scale, done = 2.0**POWER, 0
        for line in run:
            self.assertEqual(line["loss_scale"], scale)
            self.assertAlmostEqual(line["lr"], 1e-2 * min(1, (done + 1) / 10), delta=1e-8)
            if line["grad_norm"] is None:
                scale /= 2
            else:
                done += 1
        self.assertEqual(run[-1]["skipped_steps"], 40 - done)
        self.assertLess(run[-1]["loss"], run[0]["loss"])
        state = json.loads(Path("run/step-00000040/trainer_state.json").read_text())
        self.assertEqual(state["skipped_steps"], 40 - done)

    def test_a_loss_that_is_infinite_itself_is_an_error(self):
        """No scale makes a forward fit that exceeds 65504. bf16 has the range."""
        values = [float(10000 * (i % 7 + 1)) for i in range(16 * 4)]
        harness.write_safetensors("data.safetensors", {"features": harness.Tensor("F32", [16, 4], values)})
        self.compile(REGRESSION, LOW)
        _, err = self.trainrun("model.plan", "--data", "data.safetensors", "--steps=2", code=1)
        self.assertIn("step 1: the loss is inf", err)
        self.assertIn("Replayed: ", err)
        self.compile(REGRESSION, "--precision=bf16")
        self.trainrun("model.plan", "--data", "data.safetensors", "--steps=2")

    def test_skipped_steps_advance_the_schedule(self):
        """On request, as in PyTorch's usual loop. Nothing else changes."""
        data = small_gpt.write_tokens("tokens.bin", 100)
        for word in ("hold", "advance"):
            self.compile(small_gpt.text(WARMUP), LOW, HUGE, f"--skipped-steps={word}", to=f"{word}.plan")
        hold = self.train("hold.plan", "hold", data=data, steps=24)
        run = self.train("advance.plan", "whole", data=data, steps=24)
        self.assertGreater(run[-1]["skipped_steps"], 1)
        for line in run:
            self.assertAlmostEqual(line["lr"], 1e-2 * min(1, line["step"] / 10), delta=1e-8)
        skipped = next(i for i, line in enumerate(run) if line["grad_norm"] is not None)
        self.assertEqual(self.results(run[:skipped + 1]), self.results(hold[:skipped + 1]))
        self.assertNotEqual(self.results(run), self.results(hold))
        for steps, *resume in [(3,), (16, "--resume"), (24, "--resume")]:
            self.train("advance.plan", "parts", *resume, data=data, steps=steps)
        self.assert_same_folder("whole/step-00000024", "parts/step-00000024")

    def test_a_fixed_scale(self):
        data = small_gpt.write_tokens("tokens.bin", 60)
        self.compile(small_gpt.text(), LOW, "--loss-scale=4096")
        run = self.train("model.plan", "run", data=data, steps=5)
        self.assertNotIn("loss_scale", run[0])
        self.assertNotIn("loss_scale", harness.read_safetensors("run/step-00000005/optimizer.safetensors"))
        self.compile(small_gpt.text(), LOW, f"--loss-scale={2**POWER}")
        self.fails([harness.TRAINRUN, "model.plan", "--data", data, "--steps=5", *harness.DEVICE], 1, "step 1: ",
                   "f16 overflows above 65504, so a lower --loss-scale or --precision=bf16 may help; --on-nonfinite=skip")

    def test_a_resumed_run_has_the_bits_of_one(self):
        data = small_gpt.write_tokens("tokens.bin", 100)
        self.compile(small_gpt.text(WARMUP), LOW, HUGE, "--accumulate=2")
        whole = self.train("model.plan", "whole", data=data, steps=24)
        self.assertEqual(whole[2]["skipped_steps"], 3)
        for steps, *resume in [(3,), (16, "--resume"), (24, "--resume")]:
            parts = self.train("model.plan", "parts", *resume, data=data, steps=steps)
        self.assertEqual(self.results(parts), self.results(whole))
        self.assert_same_folder("whole/step-00000024", "parts/step-00000024")
        states = harness.read_safetensors("parts/step-00000024/optimizer.safetensors")
        self.assertIn("loss_scale", states)
        self.assertIn("loss_scale_good_steps", states)

    def test_stages_have_the_same_bits(self):
        data = small_gpt.write_tokens("tokens.bin", 100)
        for accumulate in (1, 2):
            expected = None
            for stage in range(4):
                self.compile(small_gpt.text(), LOW, HUGE, "--ranks=2", "--micro-batch=2", f"--accumulate={accumulate}", f"--zero-stage={stage}",
                             "--sync-gradients=micro_step")
                found = self.results(self.train("model.plan", f"run{stage}{accumulate}", data=data, steps=18, ranks=2))
                expected = expected or found
                self.assertEqual(found, expected, stage)
            self.assertIsNone(expected[0][1])
            self.assertIsNotNone(expected[-1][1])

    def test_any_number_of_ranks_has_the_same_bits(self):
        """With --reproducible=ranks."""
        data = small_gpt.write_tokens("tokens.bin", 100)
        expected = None
        for ranks, accumulate in [(1, 4), (2, 2)]:
            self.compile(small_gpt.text(), LOW, HUGE, "--reproducible=ranks", "--micro-batch=2", f"--ranks={ranks}", f"--accumulate={accumulate}")
            found = self.results(self.train("model.plan", f"run{ranks}", data=data, steps=12, ranks=ranks))
            expected = expected or found
            self.assertEqual(found, expected)

    def test_settings_that_do_nothing(self):
        Path("model.mlir").write_text(small_gpt.text())
        _, err = self.trainc("compile", "model.mlir", "--compile-to=step", "--precision=bf16", "--loss-scale-init=5")
        self.assertIn("loss_scale_init (--loss-scale-init) does nothing with a precision other than fp16", err)
        _, err = self.trainc("compile", "model.mlir", "--compile-to=step", LOW, "--loss-scale=64", "--loss-scale-init=5")
        self.assertIn("loss_scale_init (--loss-scale-init) does nothing with a fixed loss_scale", err)


if __name__ == "__main__":
    harness.main()
