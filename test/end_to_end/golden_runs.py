"""Runs of the golden models, which tests spoil."""

import array
import shutil
import subprocess
import tempfile
from pathlib import Path

import harness
from harness import GOLDEN, TRAINC, TRAINRUN


def overflowing_weights():
    """Finite weights of the golden GPT with which the second block's last product exceeds every f32."""
    weights = harness.read_safetensors(GOLDEN / "gpt" / "inputs.safetensors")
    for name, value in [("h.1.mlp.c_fc.bias", 10.0), ("h.1.mlp.c_proj.weight", 3e38)]:
        tensor = weights[name]
        weights[name] = harness.Tensor(tensor.dtype, tensor.shape, [value] * len(tensor.values))
    return weights


class GoldenRunTest(harness.EndToEndTest):
    """With the golden GPT, which takes 3 x 16 tokens a step below 96, unless a test asks for the MLP."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.plans = Path(folder.name)
        for name in ["gpt", "mlp"]:
            subprocess.run([TRAINC, "compile", GOLDEN / name / f"{name}.mlir", "-o", cls.plans / f"{name}.plan", "--cpu=native"], check=True)

    def setUp(self):
        super().setUp()
        for name in ["gpt", "mlp"]:
            shutil.copy(self.plans / f"{name}.plan", ".")
        self.tokens("tokens.bin", [i % 96 for i in range(1000)])

    def tokens(self, path, values, code="H"):
        Path(path).write_bytes(array.array(code, values).tobytes())

    def train(self, *arguments, plan="gpt.plan", data="tokens.bin"):
        return [TRAINRUN, plan, "--data", data, *arguments]
