"""`trainc simulate` on compiled plans, `trainc calibrate`, and predicted tracks of `trainrun --trace`."""

import json
import os
import re
from pathlib import Path

import harness
import trace_file
from harness import ROOT, TRAINC, TRAINRUN

SMALL = ROOT / "examples/gpt/small.mlir"


class SimulateTest(harness.EndToEndTest):
    def compiled(self, *options):
        """The compile report of the small GPT's plan."""
        self.trainc("compile", SMALL, "-o", "model.plan", "--report=report.json", *options)
        return json.loads(Path("report.json").read_text())

    def simulated(self, cluster, *options):
        return json.loads(self.trainc("simulate", "model.plan", f"--cluster={cluster}", "--json", *options)[0])

    def assert_same_costs(self, report, step):
        """The file predicts the same as the compiler for each instruction; collectives are predicted by the simulator only."""
        def costs(rows):
            return sorted((row["count"], float(f"{row['seconds']:.9g}"), row["flops"], row["bytes"], row["bound_by"]) for row in rows)
        self.assertEqual(costs(row for row in step["costs"] if row["bound_by"] != "link"), costs(report["costs"]))

    def test_says_what_the_compiler_says(self):
        kinds = (["--gpu=h200", "--precision=bf16", "--product-type=fp8"], ["--gpu=a100-40gb", "--fp32-products=tf32"],
                 ["--gpu=h100-sxm", "--precision=bf16", "--ranks=16", "--zero-stage=3"])
        others = (["--gpu=h100-sxm", "--precision=bf16"], ["--gpu=a100", "--precision=fp16", "--accumulate=3"],
                  ["--gpu=h100-sxm", "--ranks=16", "--zero-stage=2", "--hybrid-shard=4"])
        for options in (*kinds, *others) if harness.ALL_COMBINATIONS else kinds:
            with self.subTest(options=options):
                report = self.compiled("--target=cuda", "--gpu-levels=none", *options)
                cluster = {"h100-sxm": "8xh100", "a100": "8xa100", "h200": "8xh200", "a100-40gb": "8xa100-40gb"}[options[0].split("=")[1]]
                step = self.simulated(cluster)
                self.assertAlmostEqual(step["step_seconds"] / report["predicted_step_seconds"], 1, places=9)
                self.assert_same_costs(report, step)
                self.assertEqual(step["flops"], report["flops_per_step"])
                self.assertAlmostEqual(step["communication_seconds"], report.get("predicted_communication_seconds", 0), places=12)

    def test_a_slower_network_exposes_more(self):
        self.compiled("--target=cuda", "--gpu-levels=none", "--precision=bf16", "--ranks=16", "--zero-stage=3")
        file = json.loads((ROOT / "examples/clusters/8xh100.json").read_text())
        fast = self.simulated("8xh100")
        file["network"]["bytes_per_second"]["value"] /= 1000
        Path("slow.json").write_text(json.dumps(file))
        slow = self.simulated("slow.json")
        self.assertGreater(slow["exposed_communication_seconds"], fast["exposed_communication_seconds"])
        self.assertAlmostEqual(slow["streams"]["compute"]["busy_seconds"], fast["streams"]["compute"]["busy_seconds"])

    def test_models_without_a_length_are_counted_in_samples(self):
        self.trainc("compile", harness.GOLDEN / "mlp/mlp.mlir", "-o", "model.plan", "--cpu=native")
        out, _ = self.trainc("simulate", "model.plan", "--cluster=cpu")
        self.assertRegex(out, r"\nstep +[\d.]+ [mu]s, [\d.]+[kM]? samples/s\n")
        step = self.simulated("cpu")
        self.assertEqual((step["tokens"], step["unit"]), (8, "samples"))

    def test_prints_a_step(self):
        self.compiled("--cpu=native", "--ranks=2", "--zero-stage=3")
        out, _ = self.trainc("simulate", "model.plan", "--cluster=cpu", "--rows=3")
        self.assertRegex(out, r"^gpt_small on 2 ranks, a host of 2 cores")
        self.assertRegex(out, r"\nstep +[\d.]+ ms, [\d.]+k tokens/s\nMFU +[\d.]+ %: [\d.]+ of 0.205 TFLOP/s a rank\n")
        self.assertRegex(out, r"\ncommunication +[\d.]+ ms, [\d.]+ % of it exposed\nmemory +\S")
        self.assertEqual(out[out.index("instruction\n"):].count("\n"), 4)

    def test_memory_is_what_the_report_says(self):
        """In the same words and bytes, on disk and in a host's memory, too."""
        for cluster, holds, place, *options in (("cpu", None, None, "--ranks=2", "--zero-stage=3"), ("cpu", None, "disk", "--offload=optimizer"),
                                                ("8xa100-40gb", 40 * 10**9, "host", "--target=cuda", "--gpu-levels=none", "--reserve-memory=1GiB", "--offload=optimizer")):
            with self.subTest(options):
                memory = self.compiled(*options)["memory"]
                sentence = self.trainc("report", "model.plan")[0].splitlines()[1]
                out = self.trainc("simulate", "model.plan", f"--cluster={cluster}")[0].split("\n\n")[0]
                need = re.search(r"^memory +(.*?\))( of 37\.3 GiB)?$", out, re.MULTILINE)
                self.assertTrue(sentence.startswith(f"Needs {need[1]}, no limit was given"), (sentence, out))
                self.assertEqual(need[2] is not None, holds is not None)
                self.assertEqual(re.findall(r"^(host|disk) +\S", out, re.MULTILINE), [place] if place else [])
                step = self.simulated(cluster)
                self.assertEqual({key: step[f"{key}_bytes"] for key in ("unplanned", "host", "disk")}, {key: memory[key] for key in ("unplanned", "host", "disk")})
                self.assertEqual(step["peak_bytes"], memory["peak"] - memory["host"])
                self.assertEqual(step["device_bytes"], step["peak_bytes"] + step["unplanned_bytes"])
                self.assertEqual(step["device_memory_bytes"], holds)

    def test_bad_input(self):
        self.compiled("--cpu=native")
        self.fails([TRAINC, "simulate", "model.plan"], 2, "--cluster is required")
        self.fails([TRAINC, "simulate", "model.plan", "--cluster=cpu", "--rows=99999999999"], 2, "without leading zeros, found '99999999999'\n")
        self.fails([TRAINC, "simulate", "model.plan", "--cluster=8xh1000"], 2,
                   "error: 8xh1000: no such file; expected a cluster file, or one of 8xa100-40gb, 8xa100, 8xh100-pcie, 8xh100, 8xh200, cpu")
        for name in ("8xh100", "8xh100.json"):
            self.fails([TRAINC, "simulate", "model.plan", f"--cluster={name}"], 2,
                       "error: model.plan: the plan is for target cpu, and the devices of 'nodes of 8 x H100 SXM 80GB, 3200 Gb/s a node' are GPUs")
        self.fails([TRAINC, "simulate", "model.plan", "--cluster=./8xh100.json"], 2, "error: ./8xh100.json: no such file")
        self.fails([TRAINC, "simulate", "report.json", "--cluster=cpu"], 2, "report.json")
        self.fails([TRAINC, "simulate", "model.plan", "--cluster=report.json"], 2, "error: report.json: expected a cluster file, an object with")

    def test_a_rate_that_is_missing(self):
        """A plan of moments on disk needs a disk's rates, and names the one that is not there; others do without."""
        self.compiled("--cpu=native")
        file = json.loads((ROOT / "examples/clusters/cpu.json").read_text())
        del file["disk"]
        Path("diskless.json").write_text(json.dumps(file))
        self.assertGreater(self.simulated("diskless.json")["step_seconds"], 0)
        self.compiled("--cpu=native", "--offload=optimizer")
        self.fails([TRAINC, "simulate", "model.plan", "--cluster=diskless.json"], 2,
                   "error: model.plan: the plan reads from disk, and cluster 'a host of 2 cores with AVX-512 and instructions for bf16' has no disk.read_bytes_per_second; "
                   "add it to the cluster file, or name another cluster")

    def test_calibrates(self):
        _, err = self.trainc("calibrate", "-o", "this.json")
        self.assertRegex(err, r" s  products [\d.]+ and [\d.]+ GFLOP/s, attention [\d.]+ and [\d.]+; [\d.]+ GB/s; [\d.]+ billion instructions a second; "
                         r"[\d.]+ us a launch\n")
        self.assertRegex(err, r"\nwrote this.json: the rates of .+\n$")
        text = Path("this.json").read_text()
        file = json.loads(text)
        self.assertGreater(file["device"]["f32_flops_per_second"]["value"], 1e9)
        self.compiled("--cpu=native")
        self.assertGreater(self.simulated("this.json")["step_seconds"], 0)
        no_room = {**os.environ, "TMPDIR": "/proc"}
        self.fails([TRAINC, "calibrate", "-o", "this.json"], 2,
                   "error: cannot make arena 'calibration' of 268435456 bytes in /proc: Operation not supported; set TMPDIR to another folder", env=no_room)
        self.assertEqual(Path("this.json").read_text(), text)

    def test_what_is_no_cluster_file_stays(self):
        self.compiled("--cpu=native")
        plan = Path("model.plan").read_bytes()
        self.fails([TRAINC, "calibrate", "-o", "model.plan"], 2,
                   "error: -o model.plan: the file holds something else than a cluster file, which would be lost; give another name, or delete it")
        self.assertEqual(Path("model.plan").read_bytes(), plan)

    def test_traces_have_what_was_predicted(self):
        self.compiled("--cpu=native", "--accumulate=2")
        step = self.simulated("cpu")
        Path("tokens.bin").write_bytes(b"".join(bytes([value % 256, 0]) for value in range(8192)))
        self.run_program(TRAINRUN, "model.plan", "--data", "tokens.bin", "--data-dtype=uint16", "--steps=2", "--trace=t.json", "--trace-steps=2")
        predicted = trace_file.read(self, "t.json", r"\S+")["predicted: compute"]
        instructions = sum(entry["runs"] * entry["instructions"] for entry in step["entries"])
        self.assertGreaterEqual(len(predicted), 2 * instructions)


if __name__ == "__main__":
    harness.main()
