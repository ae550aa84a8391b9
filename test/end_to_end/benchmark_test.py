"""test/benchmark/compare.py, with a stand-in for PyTorch's side: what it compiles, and what it prints."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import harness
from harness import ROOT, TRAINC

sys.path.insert(0, str(ROOT / "test" / "benchmark"))
import compare  # noqa: E402

PEER = f"""#!{sys.executable}
print('{{"start_seconds": 3, "first_step_seconds": 9, "step_seconds": 0.05, "tokens_per_second": 20480, '
      '"gflop_per_second": 100, "peak_rss_bytes": 700000000, "losses": [5.5, 5.0]}}')
"""
NUMBER = r"([\d.]+)"


class BenchmarkTest(harness.EndToEndTest):
    def test_steps_are_those_of_the_peer(self):
        arguments = SimpleNamespace(bin=Path(TRAINC).parent, fp32_products="fma")
        for name, case in compare.CASES.items():
            with self.subTest(name):
                compare.compile_plan(arguments, case, Path("model.plan"), Path("report.json"))
                out, _ = self.trainrun("model.plan", "--device=null")
                self.assertIn(f"training: 1 micro-batch of {case.batch} samples a step of {case.seq_len} tokens", out)

    def test_tables(self):
        Path("peer").write_text(PEER)
        Path("peer").chmod(0o755)
        out, _ = self.run_program(sys.executable, ROOT / "test" / "benchmark" / "compare.py", "--python", Path("peer").resolve(), "--bin",
                                  Path(TRAINC).parent, "--only", "small", "--rounds", "1", "--json", "figures.json", timeout=300)
        self.assertRegex(out, rf"step, ms +50 +50 +{NUMBER} +{NUMBER} +<= 0.65")
        rows = re.findall(rf"^(matrix products|attention|the rest) +{NUMBER} +{NUMBER} (GFLOP/s|GB/s) +{NUMBER} %", out, re.MULTILINE)
        self.assertEqual([(row[0], row[3]) for row in rows],
                         [("matrix products", "GFLOP/s"), ("attention", "GFLOP/s"), ("the rest", "GB/s")])
        self.assertAlmostEqual(sum(float(row[1]) for row in rows), 100, delta=0.5)
        figures = json.loads(Path("figures.json").read_text())
        products = figures["small"]["roofline"]["products"]
        self.assertTrue(0 < products["share"] < 1, products)
        self.assertGreater(products["of_machine"], 0)  # no more: machine and products are timed at different moments
        self.assertAlmostEqual(products["rate"] / products["of_machine"], figures["machine"]["flop_per_second"], delta=1e6)


if __name__ == "__main__":
    harness.main()
