"""Scripts of test/benchmark, with stand-ins for PyTorch's side or without it: compiled plans and printed output."""

import itertools
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import harness
from harness import ROOT, TRAINC

sys.path.insert(0, str(ROOT / "test" / "benchmark"))
import checkpointing_times  # noqa: E402
import compare  # noqa: E402
import compare_ranks  # noqa: E402
import gpt_family  # noqa: E402

PEER = f"""#!{sys.executable}
print('{{"start_seconds": 3, "first_step_seconds": 9, "step_seconds": 0.05, "tokens_per_second": 20480, '
      '"gflop_per_second": 100, "peak_rss_bytes": 700000000, "losses": [5.5, 5.0]}}')
"""
# Takes 6 MiB per layer in addition to Python's own memory.
OFFLOAD_PEER = f"""#!{sys.executable}
import json, resource, sys, time
layers, held = int(sys.argv[sys.argv.index("--layers") + 1]), []
for _ in range(layers):
    held.append(b"x" * (6 << 20))
    time.sleep(0.01)
print(json.dumps({{"parameters": layers * 1000, "step_seconds": 2.0, "disk_bytes": 0, "losses": [6.0, 5.0],
                  "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}}))
"""
NUMBER = r"([\d.]+)"


class BenchmarkTest(harness.EndToEndTest):
    def test_steps_are_those_of_the_peer(self):
        for (name, case), precision in itertools.product(compare.CASES.items(), ["fp32", "bf16"]):
            with self.subTest(name, precision=precision):
                arguments = SimpleNamespace(bin=Path(TRAINC).parent, fp32_products="fma", precision=precision)
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

    def test_products_stand_beside_their_instructions(self):
        peak = json.loads(self.run_program(Path(TRAINC).parent / "machine_peak", "1")[0])
        self.assertEqual(peak["bf16_instructions"], "AVX512-BF16" if "avx512_bf16" in Path("/proc/cpuinfo").read_text() else peak["instructions"])
        self.assertGreater(peak["bf16_flop_per_second"], 0)
        peak |= {"flop_per_second": 100e9, "bf16_flop_per_second": 200e9}
        part = {"seconds": 1, "flop": 50e9, "bytes": 1e9}
        for precision, share in ("fp32", 0.5), ("bf16", 0.25):
            found = compare.roofline({"matrix products": dict(part), "attention": dict(part), "kernels": dict(part)}, peak, precision)
            self.assertEqual((found["products"]["of_machine"], found["attention"]["of_machine"]), (share, 0.5))

    @harness.in_matrix
    def test_a_build_beside_itself(self):
        out, _ = self.run_program(sys.executable, ROOT / "test" / "benchmark" / "compare_builds.py", Path(TRAINC).parent, Path(TRAINC).parent,
                                  "--only", "small-2", "--rounds", "1", "--json", "figures.json", timeout=300)
        self.assertRegex(out, rf"\| small-2 \|( [^|]+\|){{6}} 1.0000 \| same bits \|")
        found = json.loads(Path("figures.json").read_text())["cases"]["small-2"]
        for build in "old", "new":
            self.assertTrue(0 < found[build]["fastest_step_seconds"] <= found[build]["step_seconds"], found[build])

    def test_the_largest_model(self):
        Path("peer").write_text(OFFLOAD_PEER)
        Path("peer").chmod(0o755)
        limit = 64 << 20
        out, err = self.run_program(sys.executable, ROOT / "test" / "benchmark" / "largest_model.py", "--python", Path("peer").resolve(), "--bin",
                                    Path(TRAINC).parent, "--dir", Path.cwd(), "--limit", limit, "--disk", 8 << 20, "--width", 64, "--vocabulary", 512,
                                    "--seq-len", 32, "--learning-rate", 1e-3, "--rounds", 1, "--steps", 1, "--largest-steps", 4, "--json", "figures.json", timeout=300)
        found = json.loads(Path("figures.json").read_text())["result"]
        theirs, same, largest = found["PyTorch"], found["trainc"], found["largest"]
        self.assertTrue(3 < theirs["layers"] < 10, theirs)
        self.assertEqual(same["layers"], theirs["layers"])
        for each in same, largest:
            self.assertEqual(each["parameters"], gpt_family.parameter_count(each["layers"], 64, 512))
            self.assertLessEqual(each["peak_rss_bytes"], limit)
        self.assertLessEqual(largest["disk_bytes"], 8 << 20)
        self.assertGreater(largest["disk_bytes"], 6 << 20)
        self.assertLess(largest["losses"][-1], largest["losses"][0])
        self.assertIn(f"\n{largest['layers'] + 1} layers: does not fit", err)
        self.assertRegex(out, rf"\| trainc's largest \| {largest['layers']} \| ")

    def test_the_disk_in_a_trace(self):
        """Bytes are those of the optimizer's states, which a step reads and writes once."""
        case = compare.CASES["small"]
        arguments = SimpleNamespace(bin=Path(TRAINC).parent, fp32_products="fma", case=case, dir=Path.cwd(), threads=2)
        memory = checkpointing_times.compile_plan(arguments, "offload", Path.cwd(), "--offload=optimizer")["memory"]
        compare.write_tokens(Path("tokens.bin"), case.vocabulary)
        disk = checkpointing_times.trace_disk(arguments, Path.cwd(), "tokens.bin")
        self.assertEqual((disk["read_bytes"], disk["written_bytes"]), (memory["disk"], memory["disk"]))
        self.assertGreater(disk["disk_seconds"], memory["disk"] / 100e9)  # faster than any disk
        self.assertTrue(0 < disk["update_disk_seconds"] <= disk["disk_seconds"], disk)
        self.assertGreater(disk["update_compute_seconds"], 0)
        self.assertTrue(0 < disk["processor_seconds"] < disk["disk_seconds"], disk)
        self.assertTrue(0 < disk["waited_seconds"] < disk["disk_seconds"], disk)

    def test_verdicts_on_checkpointing(self):
        reports = {name: {"flops_per_step": 100} for name in ("none", "budget", "offload")} | {"full": {"flops_per_step": 100, "recomputed_flops_per_step": 20}}
        result = {"reports": reports, "disk": {"disk_seconds": 0.8, "update_disk_seconds": 0.5, "update_compute_seconds": 0.4, "processor_seconds": 0.02}}
        result |= {"none": {"step_seconds": 2}, "costs": {"full": [0.1, 0.2, 0.5], "budget": [0.1], "offload": [0.1, 0.2]}}
        found = checkpointing_times.verdicts(result)
        for name, (cost, most) in {"full": (0.2, 0.23), "budget": (0.1, 0.08), "offload": (0.15, 0.05)}.items():
            self.assertAlmostEqual(found[name][0], cost)
            self.assertAlmostEqual(found[name][1], most)

    @harness.in_matrix
    def test_ranks_beside_one(self):
        Path("python").write_text("#!/bin/sh\nexit 1\n")  # one without torch
        Path("python").chmod(0o755)
        out, err = self.run_program(sys.executable, ROOT / "test" / "benchmark" / "compare_ranks.py", "--python", Path("python").resolve(), "--bin",
                                    Path(TRAINC).parent, "--quick", "--profile", "--json", "figures.json", timeout=300)
        self.assertIn("PyTorch is left out", err)
        self.assertRegex(out, rf"tokens/s, trainc x 2 of x 1 +{NUMBER} +>= 0.90")
        self.assertRegex(out, r"tokens/s, trainc of FSDP2 +no torch +>= 1.90\n")
        self.assertRegex(out, r"matrix products +[\d.]+ +[\d.]+\n")
        figures = json.loads(Path("figures.json").read_text())
        ranks, one = figures["ranks"], figures["one"]
        self.assertLess(ranks["losses"][-1], ranks["losses"][0] - 0.3)  # so that equal losses say something
        self.assertEqual(len(one["losses"]), compare_ranks.QUICK.warmup + compare_ranks.QUICK.steps)
        self.assertTrue(0 <= ranks["exposed_share"] <= 1, ranks)
        self.assertEqual(ranks["sent_bytes"], sum(kind["bytes"] for kind in figures["report"]["collectives"].values()))
        self.assertTrue(ranks["planned_bytes"] < one["planned_bytes"])
        self.assertGreater(ranks["pss_bytes"], ranks["planned_bytes"] / 2)
        self.assertEqual(list(figures["compile"]), ["2", "64", "4096"])

    def test_verdicts_on_ranks(self):
        result = {"ranks": {"tokens_per_second": 90, "pss_bytes": 5, "exposed_share": 0.5}, "one": {"tokens_per_second": 100},
                  "fsdp": {"tokens_per_second": 50, "pss_bytes": 10}, "report": {"predicted_exposed_share": 0.55},
                  "compile": {2: {"cpu_seconds": 2}, 64: {"seconds": 9}, 4096: {"cpu_seconds": 2}}}
        found = compare_ranks.ratios(result)
        self.assertEqual(found["of_one_rank"], 0.9)
        self.assertAlmostEqual(found["exposed_difference"], 0.1)
        self.assertEqual(compare_ranks.missed_targets(found), ["of_fsdp", "compile_seconds_64"])
        for share in (0.4, 0.6):
            found = compare_ranks.ratios(result | {"report": {"predicted_exposed_share": share}})
            self.assertEqual(compare_ranks.missed_targets(found), ["of_fsdp", "exposed_difference", "compile_seconds_64"])
        del result["fsdp"]
        self.assertEqual(compare_ranks.missed_targets(compare_ranks.ratios(result)), ["of_fsdp", "pss_of_fsdp", "compile_seconds_64"])
        self.assertEqual(compare_ranks.relative([1.0, 2.2], [1.0, 2.0]), 0.20000000000000018 / 2)
        self.assertFalse(compare_ranks.disagreements({"one": {"losses": 0.0, "grad_norms": 1e-9}}))
        for wrong in (0.1, float("nan")):
            self.assertEqual([name for name, *_ in compare_ranks.disagreements({"fsdp": {"losses": wrong, "grad_norms": 0.0}})], ["fsdp"])


if __name__ == "__main__":
    harness.main()
