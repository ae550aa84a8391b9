"""--precision=bf16: trains as fp32 does, in less memory, with everything else that a run can do."""

import json
import math
from pathlib import Path

import autocast_run
import harness
import sharded_gpt
import small_gpt
from golden_runs import overflowing_weights
from harness import program

LOW = "--precision=bf16"


class PrecisionTest(harness.EndToEndTest):
    def train(self, plan, name, *args, data, steps=20, ranks=1):
        """Losses and norms of a run whose checkpoints are in the folder `name`."""
        processes = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        self.trainrun(plan, *processes, "--data", data, "--steps", steps, "--checkpoint-dir", name, "--metrics", f"{name}.jsonl", *args)
        return [(line["loss"], line["grad_norm"]) for line in harness.metrics(f"{name}.jsonl")]

    def memory(self, text, *options, to="model.plan"):
        self.compile(text, "--report=report.json", *options, to=to)
        return json.loads(Path("report.json").read_text())["memory"]

    def check_as_fp32(self, text, data, *options):
        """The mean loss of the last steps, and the memory of activations."""
        full, low = self.memory(text, *options, to="fp32.plan"), self.memory(text, LOW, *options, to="bf16.plan")
        self.assertLess(low["activations"], 0.7 * full["activations"])
        losses = {}
        for name in ["fp32", "bf16"]:
            run = self.train(f"{name}.plan", name, data=data, steps=60)
            losses[name] = sum(loss for loss, _ in run[-20:]) / 20
            self.assertLess(losses[name], run[0][0])
        self.assertLess(abs(losses["bf16"] / losses["fp32"] - 1), 0.01)
        peaks = {line["peak_bytes"] for line in harness.metrics("bf16.jsonl")}
        self.assertEqual(peaks, {low["peak"]})

    def test_gpt_trains_as_in_fp32(self):
        self.check_as_fp32(small_gpt.text(), small_gpt.write_tokens("tokens.bin", 200))

    def test_llama_trains_as_in_fp32(self):
        self.check_as_fp32(program("llama"), small_gpt.write_tokens("tokens.bin", 200), "--micro-batch=4", "--accumulate=2")

    def check_as_pytorch(self, name):
        """test/golden/autocast.json: losses of Hugging Face's model in torch.autocast, from the same weights."""
        expected = json.loads((harness.GOLDEN / "autocast.json").read_text())[name]
        data = autocast_run.write_tokens("tokens.bin")
        losses = [line["loss"] for line in autocast_run.train(autocast_run.text(name), "bf16", data)]
        self.assertLess(abs(losses[0] / expected["fp32"][0] - 1), 1e-3, "weights are not those of autocast.json: make it again")
        for difference in autocast_run.window_differences(losses, expected["bf16"]):
            self.assertLess(abs(difference), 1e-3)
        step, worst = autocast_run.worst_step(losses, expected["bf16"])
        self.assertLess(abs(worst), 5e-3, f"step {step}")

    def test_gpt_trains_as_in_pytorch(self):
        self.check_as_pytorch("gpt")

    def test_llama_trains_as_in_pytorch(self):
        self.check_as_pytorch("llama")

    def test_checkpoints_hold_parameters_in_f32(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        self.compile(small_gpt.text(), LOW)
        self.train("model.plan", "run", data=data, steps=2)
        weights = harness.read_safetensors("run/step-00000002/model.safetensors")
        self.assertEqual({tensor.dtype for tensor in weights.values()}, {"F32"})
        rounded = [number & 0xFFFF for number in weights["wte.weight"].values.tobytes()[:400:4]]
        self.assertTrue(any(rounded), "parameters have more digits than bf16")

    def test_a_resumed_run_has_the_bits_of_one(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        self.compile(small_gpt.text(), LOW, "--accumulate=2")
        self.train("model.plan", "whole", data=data, steps=6)
        self.train("model.plan", "parts", data=data, steps=3)
        self.train("model.plan", "parts", "--resume", data=data, steps=6)
        self.assert_same_folder("whole/step-00000006", "parts/step-00000006")

    def test_threads_and_recomputation_change_no_bit(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        self.compile(small_gpt.text(), LOW)
        expected = self.train("model.plan", "two", "--threads=2", data=data, steps=3)
        self.assertEqual(self.train("model.plan", "three", "--threads=3", data=data, steps=3), expected)
        self.compile(small_gpt.text(), LOW, "--activation-checkpointing=selective")
        self.assertEqual(self.train("model.plan", "selective", data=data, steps=3), expected)

    def test_evaluation_and_text(self):
        data = small_gpt.write_tokens("tokens.bin", 60)
        losses = {}
        for precision in ["fp32", "bf16"]:
            self.compile(small_gpt.text(), f"--precision={precision}")
            self.trainrun("model.plan", "--data", data, "--steps=1", "--checkpoint-dir=run." + precision)
            self.trainrun("model.plan", "--resume=run." + precision, "--eval-data", data, "--metrics", f"{precision}.jsonl")
            losses[precision] = harness.metrics(f"{precision}.jsonl")[-1]["eval_loss"]
        self.assertLess(abs(losses["bf16"] / losses["fp32"] - 1), 2e-3)
        out, _ = self.trainrun("model.plan", "--resume=run.bf16", "--generate=AB", "--max-tokens=4", "--tokenizer=bytes", "--temperature=0")
        self.assertTrue(out)

    def test_a_number_that_is_not_finite_is_traced_to_its_op(self):
        harness.write_safetensors("huge.safetensors", overflowing_weights())
        self.compile(program("gpt"), LOW)
        data = small_gpt.write_tokens("tokens.bin", 20)
        self.fails([harness.TRAINRUN, "model.plan", *harness.DEVICE, "--data", data, "--init=huge.safetensors", "--steps=1"], 1,
                   "step 1: the loss is nan", "h.1.mlp.c_proj", "model.mlir:12", "wrote inf to element")

    def test_stages_have_the_same_bits(self):
        data = small_gpt.write_tokens("tokens.bin", 60)
        expected = None
        for options in (["--zero-stage=0"], ["--zero-stage=1"], ["--zero-stage=2"], ["--zero-stage=3"],
                        ["--zero-stage=3", "--wrap=mlp", "--prefetch=2"]):
            self.compile(sharded_gpt.text(False), LOW, "--ranks=2", "--micro-batch=4", *options)
            found = self.train("model.plan", "run" + "".join(options), data=data, steps=4, ranks=2)
            expected = expected or found
            self.assertEqual(found, expected, options)
            self.assertTrue(all(math.isfinite(number) for step in found for number in step))


if __name__ == "__main__":
    harness.main()
