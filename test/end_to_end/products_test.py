"""Products of fp32 numbers on the matrix unit train as multiply-adds do, or are refused by the name of what is missing."""

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


if __name__ == "__main__":
    harness.main()
