"""Cases of kernels travel without LLVM: they pass on the (emulated) GPU, and a wrong number is found."""

import os
from pathlib import Path

import emulated_gpus
import harness

BUILD = Path(os.environ.get("BUILD_FOLDER", harness.ROOT / "build"))
RUN_CASES = BUILD / "bin" / "run-cases"
FUNCTIONS = """func.func @scaled(%x: tensor<3x33xf32>, %y: tensor<33xf32>) -> tensor<3x33xf32> {
  %c = nn.broadcast %y to [3, 33] : tensor<33xf32>
  %r = nn.mul %x, %c : tensor<3x33xf32>, tensor<3x33xf32>
  return %r : tensor<3x33xf32>
}
func.func @product(%x: tensor<3x33xf32>, %y: tensor<33x7xf32>) -> tensor<3x7xf32> {
  %r = nn.matmul %x, %y : tensor<3x33xf32>, tensor<33x7xf32>
  return %r : tensor<3x7xf32>
}
"""


class CasesTest(harness.EndToEndTest):
    def write_cases(self, *options):
        Path("few.mlir").write_text(FUNCTIONS)
        self.run_program(harness.TRAINC_CHECK, "few.mlir", "--kernels", "--target=cuda", "--bound=1e-5", "--write-cases=cases", *options)

    def run_cases(self, *args, code=0):
        return self.run_program(RUN_CASES, *args, env=emulated_gpus.environment(), code=code)

    def test_passes(self):
        self.write_cases()
        self.write_cases("--precision=bf16")
        out, _ = self.run_cases("cases")
        for name in ("few-fp32/scaled", "few-fp32/product", "few-bf16/scaled", "few-bf16/product"):
            self.assertRegex(out, rf"PASS {name} max_err=\S+ bound=1.0e-05")

    def test_finds_a_wrong_number(self):
        self.write_cases()
        path = Path("cases/few-fp32.safetensors")
        content = bytearray(path.read_bytes())
        header = int.from_bytes(content[:8], "little")
        start = content.index(b'"case.scaled.argument.0"')
        first = int(content[content.index(b"[", content.index(b"data_offsets", start)) + 1:].split(b",")[0])
        content[8 + header + first + 2] ^= 0x40  # a quarter of a number or more
        path.write_bytes(content)
        out, _ = self.run_cases("cases", code=1)
        self.assertIn("FAIL few-fp32/scaled", out)
        self.assertIn("PASS few-fp32/product", out)

    def test_bad_input(self):
        self.assertIn("usage: run-cases FOLDER", self.run_cases(code=2)[1])
        self.assertIn("cannot list the folder nowhere", self.run_cases("nowhere", code=2)[1])
        Path("empty").mkdir()
        self.assertIn("found no .plan in it", self.run_cases("empty", code=2)[1])
        self.write_cases()
        Path("cases/few-fp32.safetensors").unlink()
        self.assertIn("few-fp32.safetensors", self.run_cases("cases", code=2)[1])


if __name__ == "__main__":
    harness.main()
