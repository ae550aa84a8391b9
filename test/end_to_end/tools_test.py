"""Contents of compiled plans: `trainc dump`, dry runs and profiles; plans with damaged bytes."""

import json
import random
import re
import subprocess
from pathlib import Path

import chunked_test
import harness
from harness import DAMAGE_PLAN, GOLDEN, MUTATE_PLAN, TRAINC, TRAINRUN

class Plans(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.compile(harness.program("gpt"), cpu="all")
        self.good = Path("model.plan").read_bytes()

    def test_compiling_again_gives_the_same_bytes(self):
        self.trainc("compile", "model.mlir", "-o", "again.plan", "--cpu=all")  # and not from the tests' cache
        self.assertTrue(Path("again.plan").read_bytes() == self.good)

    def test_nothing_in_a_plan_depends_on_the_machine_that_compiles(self):
        self.assertIn(b'"flops_per_step"', self.good)
        self.assertNotIn(b"_seconds", self.good)

    def test_a_plan_that_trainrun_would_refuse_is_not_written(self):
        Path("large.mlir").write_text("""nn.model @m(%x: tensor<?x16777216xf32>) {
            %w = nn.parameter "w" tensor<16777216xf32>
            %y = nn.mul %x, %w
            %z = nn.exp %y
            nn.loss "loss" %z
        }
        train.program @p { model @m optimizer sgd batch 1048576 }""")
        self.fails([TRAINC, "compile", "large.mlir", "-o", "other.plan"], 2,
                   re.compile(r"large.mlir:7:\d+: error: the plan's arena 'persistent' has 7036881\d+ bytes; expected at most 70368744177664 \(64.0 TiB\) in all arenas together"))
        self.assertFalse(Path("other.plan").exists())

    def test_dump(self):
        self.compile(harness.program("gpt"), "--accumulate=2", cpu="all")
        out, _ = self.trainc("dump", "model.plan")
        entries = re.findall(r"^entry (\w+) flops=\d+ {$", out, re.MULTILINE)
        self.assertEqual(entries, ["init", "begin_step", "micro_step", "update", "eval", "prefill", "decode"])
        self.assertEqual(re.findall(r"^object (\S+) bytes=\d+ needs .*avx2", out, re.MULTILINE), ["x86-64-v3", "x86-64-v4"])
        lines = out.split("\n")
        self.assertIn("state wte.weight f32 [96, 32] parameter in wte.weight", lines)
        self.assertIn("scalar lr f32 to_device in lr", lines)
        self.assertRegex(out, r"\ntraining micro_batch=\d+ accumulate=2 .* schedule\(kind=Constant peak=[\d.]+\) ")
        self.assertIn("generation context=16 vocabulary=96 logits in logits", lines)
        self.assertRegex(out, r"\n  input labels i32 \[6, 16\] step below 96 or -100 in input.labels")
        self.assertRegex(out, r"\nkernel gemm_\w+ gemm grid=\d+ flops=\d+( moves=\d+)?( shared=\d+)? \((read|write) f32 bytes=\d+, ")
        self.assertIn('\nreport {\n  "collectives": {}', out)
        products = [line for line in lines if re.match(r"  \d+: launch gemm_", line) and "h.1.mlp.c_proj.weight" in line]
        self.assertEqual(len(products), 6, "forward, gradients of input and weight, eval, prefill, decode")
        self.assertTrue(all("h.1.mlp.c_proj" in line and "(model.mlir:12:8)" in line for line in products))

        self.assertRegex(out, r"\nkernel rows_\w+ rows .*write f32 bytes=\d+ may_alias=\[0")

        kinds = set(re.findall(r"^kernel ([a-z]+)\w* (\w+) grid=", out, re.MULTILINE))
        self.assertLessEqual({("gemm", "gemm"), ("attention", "attention"), ("rows", "rows"), ("scatter", "scatter")}, kinds)

    def test_ranks_are_described(self):
        self.compile(harness.program("gpt"), "--ranks=4", "--zero-stage=3", "--accumulate=2", "--prefetch=2", "--report=report.json")
        out, _ = self.trainrun("model.plan", "--device=null")
        self.assertRegex(out, r"\ntraining: 4 ranks with each 2 micro-batches of 3 samples a step of 16 tokens, 24 samples in all; schedule constant of lr 0.01\n")
        sharding = json.loads(Path("report.json").read_text())["sharding"]
        self.assertEqual((sharding["zero_stage"], sharding["prefetch"], sharding["sync_gradients"]), (3, 2, "micro_step"))
        self.assertEqual(sharding["param_persistence_threshold"], 10 * 32)

    def test_tokens_train(self):
        """From text to generated text, by nothing but the programs."""
        Path("a.txt").write_bytes(bytes(1 + i % 90 for i in range(2000)))
        out, err = self.trainc("tokenize", "--tokenizer=bytes", "a.txt", "-o", "tokens.bin")
        self.assertEqual(out, "")
        self.assertEqual(err, "wrote tokens.bin: 2000 tokens (uint16) of 1 file, 1.000 tokens per byte\n"
                              "tokenizer: bytes, 256 tokens, recorded in tokens.bin.json\n")
        self.assertEqual(self.trainc("tokenize", "-q", "a.txt", "-o", "tokens.bin"), ("", ""))
        out, _ = self.trainrun("model.plan", "--data", "tokens.bin", "--steps", "60", "--generate=ABC", "--temperature", "0",
                               "--max-tokens", "4")
        self.assertEqual(out, "ABCDEFG\n")

    def test_profile_sums_kernels_by_what_they_compute(self):
        Path("tokens.bin").write_bytes(bytes(2 * 16 * 6))
        _, err = self.trainrun("model.plan", "--data", "tokens.bin", "--steps", "2", "--profile")
        self.assertRegex(err, r" micro_step: gemm_\w+ \(.*: nn.matmul at model.mlir:\d+")
        for level in ("--quiet", "--log-level=error"):  # it is what was asked for
            _, quiet = self.trainrun("model.plan", "--data", "tokens.bin", "--steps", "2", "--profile", level)
            self.assertRegex(quiet, r"^ +seconds +share +predicted .*what\n")
            self.assertIn("matrix products", quiet)
        _, quiet = self.trainrun("model.plan", "--data", "tokens.bin", "--steps", "2", "--profile=profile.json", "--quiet")
        self.assertEqual(quiet, "")
        self.assertTrue(json.loads(Path("profile.json").read_text())["rows"])
        for name, computes in [("matrix products", True), ("attention", True), ("other kernels", False)]:
            share, flops, bandwidth = re.search(rf"([\d.]+)%(?: +[\d.]+e[-+]\d+)? +([\d.]+) +([\d.]+) +(?:\d+%)?  all {name} but init's$", err, re.MULTILINE).groups()
            self.assertGreater(float(share), 0, name)
            self.assertGreater(float(bandwidth), 0, name)
            self.assertEqual(float(flops) > 0, computes, name)

    def test_no_output_shows_a_terminal_what_it_would_obey(self):
        """Names of files, of clusters and of ops: in no table, dump, JSON or message stands U+009B, U+202E or U+200B as it is."""
        name = "a\u009b2J\u202eb\u200b"
        Path(name + ".plan").write_bytes(self.good)
        Path(name + ".json").write_text(json.dumps({"trainc_cluster": 1, "name": name}))
        cluster = json.loads((harness.ROOT / "examples/clusters/cpu.json").read_text())
        Path("cluster.json").write_text(json.dumps({**cluster, "name": name}))
        Path("bad.mlir").write_text(f"nn.model @m(%x: tensor<?x4xf32>) {{\n  %y = nn.linear \"{name[-2:]}\" %x to 4 frob\n}}")
        plan = name + ".plan"
        for code, *command in [(0, TRAINC, "report", plan), (0, TRAINC, "report", plan, "--json"), (0, TRAINC, "report", plan, plan, "--json"), (0, TRAINC, "dump", plan),
                               (0, TRAINC, "simulate", plan, "--cluster=cluster.json"), (0, TRAINC, "simulate", plan, "--cluster=cluster.json", "--json"),
                               (2, TRAINC, "simulate", plan, f"--cluster={name}.json"), (2, TRAINC, "report", name + ".none"), (2, TRAINC, "compile", "bad.mlir"),
                               (2, TRAINRUN, plan, "--data", name, "--steps=1"), (0, TRAINRUN, plan, "--device=null"), (2, TRAINC, "help", name)]:
            with self.subTest(command=command[1:]):
                out, err = self.run_program(*command, code=code)
                self.assertNotRegex(out + err, "[\u0080-\u009f\u200b\u202e]")
                if command[1] == "report" and "--json" in command:
                    self.assertIn(name, json.dumps(json.loads(out), ensure_ascii=False))

    def test_damaged_bytes_are_refused(self):
        numbers = random.Random(7)
        for _ in range(150):
            damaged = bytearray(self.good)
            for _ in range(numbers.choice([1, 1, 3, 100])):
                damaged[numbers.randrange(len(damaged))] ^= numbers.randrange(1, 256)
            if numbers.random() < 0.2:
                del damaged[numbers.randrange(len(damaged)):]
            Path("bad.plan").write_bytes(damaged)
            done = subprocess.run([TRAINRUN, "bad.plan", "--device=null"], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr.decode(), re.compile("^error: bad.plan: .*", re.DOTALL))

    def test_any_byte_changed_is_refused_or_runs_safely(self):
        """With checksums recomputed; `test/run.sh sanitizers` runs this under AddressSanitizer too."""
        chunked = chunked_test.MODEL, "--micro-batch=4", "--seq-len=250"
        for changes, text, *options in [(500, harness.program("gpt"), "--accumulate=2"), (50, *chunked)]:
            self.compile(text, *options)
            out, _ = self.run_program(DAMAGE_PLAN, "model.plan", changes, timeout=300)
            refused, run = map(int, re.search(r"(\d+) refused, (\d+) run", out).groups())
            self.assertEqual(refused + run, changes)
            self.assertGreater(refused, run, "the verifier refuses little")
            self.assertGreater(run, changes / 20)

    def test_every_seeded_fault_is_refused(self):
        """mutate_plan exits 1 when the verifier accepts one."""
        gpt = harness.program("gpt")
        plans = [(gpt, "--accumulate=2"), (chunked_test.MODEL, "--micro-batch=4", "--seq-len=250"),
                 (gpt, "--ranks=4", "--zero-stage=3", "--hybrid-shard=2", "--prefetch=2"),
                 (gpt, "--ranks=4", "--zero-stage=2", "--micro-batch=1", "--precision=bf16", "--reduce-type=bf16"),
                 (gpt, "--ranks=4", "--zero-stage=3", "--micro-batch=1", "--hybrid-shard=2", "--reduce-type=bf16"),
                 (gpt, "--ranks=2", "--zero-stage=1", "--accumulate=2", "--sync-gradients=micro_step"),
                 (gpt, "--offload=optimizer,gradients,parameters", "--offload-group=16KiB"),
                 (harness.program("mlp"), "--ranks=2", "--zero-stage=1", "--accumulate=2", "--sync-gradients=step")]  # last_micro_step
        for text, *options in plans:
            with self.subTest(options):
                self.compile(text, *options)
                out, _ = self.run_program(MUTATE_PLAN, "model.plan", 100, timeout=300)
                copies = ["copy", "state", "buffer", "says", "reorder"] if "--offload" in options[0] else []
                for kind in ["swap", "overlap", *copies, *(["drop", "lengthen"] if "--ranks" in options[0] else [])]:
                    self.assertRegex(out, rf"{kind}: ([1-9]\d*) of \1 refused")
                addresses = {"argument"}
                addresses |= {"place"} if "--ranks" in options[0] else set()
                addresses |= {"body", "stride"} if text == chunked_test.MODEL else set()
                for kind in addresses:  # some are harmless
                    self.assertRegex(out, rf"{kind}: [1-9]\d* of \d+ refused")


if __name__ == "__main__":
    harness.main()
