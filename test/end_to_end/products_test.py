"""Products on the matrix unit, of fp32 and of bf16 numbers, train like multiply-adds, or are rejected naming the missing feature."""

import pathlib

import harness
import small_gpt

HAS_AMX = " amx_bf16" in pathlib.Path("/proc/cpuinfo").read_text()


class ProductsTest(harness.EndToEndTest):
    def losses(self, plan, data):
        self.trainrun(plan, "--data", data, "--steps", "5", "--metrics", "m.jsonl")
        found = [line["loss"] for line in harness.metrics("m.jsonl") if "loss" in line]
        pathlib.Path("m.jsonl").unlink()
        return found

    def test_trains_alike_or_is_refused(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        split = self.compile(small_gpt.text(), "--fp32-products=bf16x3", to="split.plan", cpu="all")
        if not HAS_AMX:
            _, error = self.trainrun(split, "--data", data, code=2)
            self.assertIn("x86-64-v4 (missing:", error)
            self.assertIn("amx_bf16", error)
            return
        expected = self.losses(self.compile(small_gpt.text(), to="fma.plan"), data)
        actual = self.losses(split, data)
        self.assertLess(harness.relative_error(actual, expected), 1e-6)

    def test_products_of_bf16_numbers(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        unit = self.compile(small_gpt.text(), "--precision=bf16", to="unit.plan", cpu="x86-64-v4-amx")
        if not HAS_AMX:
            _, error = self.trainrun(unit, "--data", data, code=2)
            self.assertIn("x86-64-v4-amx (missing:", error)
            self.assertIn("amx_bf16", error)
            self.assertIn("compile the model with --cpu=", error)
            return
        expected = self.losses(self.compile(small_gpt.text(), "--precision=bf16", to="widened.plan", cpu="x86-64-v4"), data)
        # Other sums round some activations to the other of two neighbours, which are 2^-8 apart.
        self.assertLess(harness.relative_error(self.losses(unit, data), expected), 2**-8)


if __name__ == "__main__":
    harness.main()
