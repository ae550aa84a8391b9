"""Compiled plans against PyTorch's float64 numbers (test/golden/README.md): gradients of the first step, ten AdamW steps."""

import array
import json
from pathlib import Path

import golden_numbers
import harness
from golden_numbers import without_keys
from harness import GOLDEN, edited, read_safetensors, write_safetensors


class GoldenTest(harness.EndToEndTest):
    def train(self, name, plan, *args):
        self.trainrun(plan, "--data", GOLDEN / name / "data.safetensors", "--init", GOLDEN / name / "inputs.safetensors",
                      "--no-shuffle", "--checkpoint-dir", "run", "--metrics", "run.jsonl", *args)
        return harness.metrics("run.jsonl")

    def check_ten_steps(self, name):
        golden = read_safetensors(GOLDEN / name / "golden.safetensors")
        lines = [line for line in self.train(name, self.compile(harness.program(name), cpu="all")) if "loss" in line]
        self.assertEqual([line["step"] for line in lines], list(range(1, 11)))
        self.assert_close([lines[0]["loss"]], golden["loss"].values, golden_numbers.LOSS_BOUND, "loss")
        self.assert_close([line["loss"] for line in lines], golden["losses"].values, golden_numbers.CURVE_BOUND, "losses")
        self.assert_close([line["grad_norm"] for line in lines], golden["grad_norms"].values, golden_numbers.CURVE_BOUND, "grad_norms")
        final = read_safetensors("run/step-00000010/model.safetensors")
        expected = golden_numbers.part(golden, "final")
        self.assertEqual(set(final), set(expected))
        for key, tensor in expected.items():
            self.assertEqual(final[key].shape, tensor.shape)
            self.assert_close(without_keys(key, final[key].values)[0], without_keys(key, tensor.values)[0], golden_numbers.WEIGHTS_BOUND, key)

    def check_gradients(self, name):
        """With beta1 1/2 and no clipping, exp_avg after one step is half of the gradient, without any rounding."""
        golden = read_safetensors(GOLDEN / name / "golden.safetensors")
        text = edited(harness.program(name), ("beta1 0.9", "beta1 0.5"), ("  clip 1.0\n", ""))
        self.train(name, self.compile(text), "--steps", "1")
        optimizer = read_safetensors("run/step-00000001/optimizer.safetensors")
        expected = golden_numbers.part(golden, "grad")
        self.assertEqual({key.removeprefix("exp_avg.") for key in optimizer if key.startswith("exp_avg.")}, set(expected))
        for key, tensor in expected.items():
            average = optimizer["exp_avg." + key]
            self.assertEqual(average.shape, tensor.shape)
            gradient = array.array("d", [2 * value for value in average.values])
            actual, actual_keys = without_keys(key, gradient)
            reference, _ = without_keys(key, tensor.values)
            self.assert_close(actual, reference, golden_numbers.GRADIENT_BOUND, key)
            self.assertLess(max(map(abs, actual_keys), default=0), golden_numbers.KEYS_BOUND, f"key bias of {key}")

    def test_initial_weights_in_two_files(self):
        """As Hugging Face stores large models: the same run from both forms, in every byte."""
        weights = list(read_safetensors(GOLDEN / "gpt" / "inputs.safetensors").items())
        Path("shards").mkdir()
        parts = {f"model-0000{i + 1}-of-00002.safetensors": dict(weights[i::2]) for i in range(2)}
        for name, part in parts.items():
            write_safetensors(f"shards/{name}", {f"transformer.{tensor}": value for tensor, value in part.items()})
        index = Path("shards/model.safetensors.index.json")
        weight_map = {f"transformer.{tensor}": name for name, part in parts.items() for tensor in part}
        index.write_text(json.dumps({"metadata": {"total_size": 118528}, "weight_map": weight_map}))
        plan = self.compile(harness.program("gpt"))
        for run, init in [("one", GOLDEN / "gpt" / "inputs.safetensors"), ("index", index), ("folder", "shards")]:
            self.trainrun(plan, "--data", GOLDEN / "gpt" / "data.safetensors", "--init", init, "--steps", 2, "--checkpoint-dir", run)
        self.assert_same_folder("one/step-00000002", "index/step-00000002")
        self.assert_same_folder("one/step-00000002", "folder/step-00000002")
        # A checkpoint is such a folder, too.
        self.trainrun(plan, "--eval-data", GOLDEN / "gpt" / "data.safetensors", "--init", "one/step-00000002")
        Path("shards/model-00002-of-00002.safetensors").unlink()
        self.fails([harness.TRAINRUN, plan, "--data", GOLDEN / "gpt" / "data.safetensors", "--init", "shards", "--steps", 1], 2,
                   "shards/model-00002-of-00002.safetensors: cannot open")


def add_tests():
    for name in ["gpt", "llama", "mlp"]:
        setattr(GoldenTest, f"test_{name}_ten_steps", lambda self, name=name: self.check_ten_steps(name))
        setattr(GoldenTest, f"test_{name}_gradients", lambda self, name=name: self.check_gradients(name))


add_tests()

if __name__ == "__main__":
    harness.main()
