"""Settings that make parts of a run compute in another precision than the rest: `keep_f32` and `eval_precision`."""

import json
from pathlib import Path

import harness
import sharded_gpt
import small_gpt
from harness import program

LOW = "--precision=bf16"
KEEP = "--keep-f32=*.ln_*,wte.weight,h.1.attn.*"


class KeptPrecisionTest(harness.EndToEndTest):
    def train(self, plan, name, *args, data, steps=4, ranks=1):
        """Losses and norms of a run whose checkpoints are in the folder `name`; it takes the memory that the plan says."""
        processes = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        self.trainrun(plan, *processes, "--data", data, "--steps", steps, "--checkpoint-dir", name, "--metrics", f"{name}.jsonl", *args)
        lines = harness.metrics(f"{name}.jsonl")
        self.assertEqual({line["peak_bytes"] for line in lines}, {self.report["memory"]["peak"]})
        return [(line["loss"], line["grad_norm"]) for line in lines]

    def compile(self, text, *args, **kwargs):
        plan = super().compile(text, "--report=report.json", *args, **kwargs)
        self.report = json.loads(Path("report.json").read_text())
        return plan

    def evaluation(self, plan, checkpoint, data, ranks=1):
        """The metrics of an evaluation."""
        processes = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        self.trainrun(plan, *processes, f"--resume={checkpoint}", "--eval-data", data, "--metrics=eval.jsonl")
        return harness.metrics("eval.jsonl")[-1]

    def evaluated(self, *args, **kwargs):
        return self.evaluation(*args, **kwargs)["eval_loss"]

    # --- keep ---

    def test_all_kept_is_fp32(self):
        """If every op depends on parameters, or values derived from one, and the data only, all compute in f32, bit for bit."""
        data = harness.GOLDEN / "mlp" / "data.safetensors"
        runs = {}
        for name, options in {"fp32": [], "kept": [LOW, "--keep-f32=*"], "bf16": [LOW], "kept16": ["--precision=fp16", "--keep-f32=*"]}.items():
            self.compile(program("mlp"), *options)
            runs[name] = self.train("model.plan", name, data=data, steps=8)
        self.assertEqual(runs["kept"], runs["fp32"])
        self.assertEqual(runs["kept16"], runs["fp32"], "a power of two scales the loss")
        self.assertNotEqual(runs["bf16"], runs["fp32"])
        for file in ["model.safetensors", "optimizer.safetensors"]:  # the rest says in which precision the run trained
            self.assertEqual(*[Path(f"{name}/step-00000008", file).read_bytes() for name in ["kept", "fp32"]])

    def test_kept_parameters_are_divided_and_sent_as_in_fp32(self):
        for options in [["--zero-stage=0"], ["--zero-stage=1"], ["--zero-stage=2"], ["--zero-stage=3"], ["--zero-stage=3", "--hybrid-shard=2"]]:
            reports = []
            for precision in [[], [LOW, "--keep-f32=*"]]:
                self.compile(sharded_gpt.text(False), "--ranks=4", "--micro-batch=2", *precision, *options)
                reports.append({"collectives": self.report["collectives"], "parameters": self.report["memory"]["parameters"],
                                "optimizer": self.report["memory"]["optimizer"]})
            self.assertEqual(*reports, options)

    def check_stages(self, ranks, micro_batch):
        data = small_gpt.write_tokens("tokens.bin", 60)
        expected = None
        for options in (["--zero-stage=0"], ["--zero-stage=1"], ["--zero-stage=2"], ["--zero-stage=3"],
                        ["--zero-stage=3", "--param-persistence-threshold=0", "--wrap=mlp", "--prefetch=2"]):
            self.compile(sharded_gpt.text(False), LOW, KEEP, "--eval-precision=fp32", f"--ranks={ranks}", f"--micro-batch={micro_batch}", *options)
            found = self.train("model.plan", f"run{ranks}" + "".join(options), data=data, ranks=ranks)
            found.append(self.evaluated("model.plan", f"run{ranks}" + "".join(options), data, ranks=ranks))
            expected = expected or found
            self.assertEqual(found, expected, options)

    def test_stages_have_the_same_bits_on_2_ranks(self):
        self.check_stages(2, 4)

    def test_stages_have_the_same_bits_on_4_ranks(self):
        self.check_stages(4, 2)

    def test_a_resumed_run_has_the_bits_of_one(self):
        data = small_gpt.write_tokens("tokens.bin", 60)
        self.compile(sharded_gpt.text(False), LOW, KEEP, "--eval-precision=fp32", "--ranks=2", "--zero-stage=3", "--micro-batch=2", "--accumulate=2")
        self.train("model.plan", "whole", data=data, steps=6, ranks=2)
        self.train("model.plan", "parts", data=data, steps=3, ranks=2)
        self.train("model.plan", "parts", "--resume", data=data, steps=6, ranks=2)
        self.assert_same_folder("whole/step-00000006", "parts/step-00000006")

    def test_any_number_of_ranks_has_the_same_bits(self):
        """With --reproducible=ranks."""
        data = small_gpt.write_tokens("tokens.bin", 60)
        expected = None
        for ranks, accumulate in [(1, 4), (2, 2)]:
            self.compile(sharded_gpt.text(False), LOW, KEEP, "--reproducible=ranks", "--micro-batch=2", f"--ranks={ranks}", f"--accumulate={accumulate}")
            found = self.train("model.plan", f"run{ranks}", data=data, ranks=ranks)
            expected = expected or found
            self.assertEqual(found, expected)

    def test_recomputation_changes_no_bit(self):
        data = small_gpt.write_tokens("tokens.bin", 40)
        runs = []
        for way in ("none", "selective"):
            self.compile(small_gpt.text(), LOW, KEEP, f"--activation-checkpointing={way}")
            runs.append(self.train("model.plan", way, data=data))
        self.assertEqual(*runs)

    def test_text_is_generated(self):
        data = small_gpt.write_tokens("tokens.bin", 20)
        self.compile(small_gpt.text(), LOW, KEEP)
        self.train("model.plan", "run", data=data, steps=1)
        out, _ = self.trainrun("model.plan", "--resume=run", "--generate=AB", "--max-tokens=4", "--tokenizer=bytes", "--temperature=0")
        self.assertTrue(out)

    # --- eval_precision ---

    def check_evaluation(self, training, evaluation):
        """It has the bits of the evaluation of a plan that trains in that precision, from the same checkpoint, and changes no step."""
        data = small_gpt.write_tokens("tokens.bin", 41)
        self.compile(sharded_gpt.text(False), f"--precision={evaluation}", to="other.plan")
        self.compile(sharded_gpt.text(False), f"--precision={training}", to="same.plan")
        expected_steps = self.train("same.plan", "same", data=data)
        expected = self.evaluated("other.plan", "same", data)
        self.assertNotEqual(self.evaluated("same.plan", "same", data), expected)
        self.compile(sharded_gpt.text(False), f"--precision={training}", f"--eval-precision={evaluation}")
        self.assertEqual(self.train("model.plan", "model", data=data), expected_steps)
        self.assertEqual(self.evaluated("model.plan", "same", data), expected)
        for stage in (0, 3):
            self.compile(sharded_gpt.text(False), f"--precision={training}", f"--eval-precision={evaluation}", "--ranks=2", "--micro-batch=4",
                         "--eval-batch=8", f"--zero-stage={stage}")
            self.assertEqual(self.evaluated("model.plan", "same", data, ranks=2), expected, stage)

    def test_fp32_evaluation_of_bf16(self):
        self.check_evaluation("bf16", "fp32")

    def test_bf16_evaluation_of_fp32(self):
        self.check_evaluation("fp32", "bf16")

    def test_fp16_evaluation_of_fp32(self):
        self.check_evaluation("fp32", "fp16")

    def test_bf16_evaluation_of_fp16(self):
        self.check_evaluation("fp16", "bf16")

    def test_fp16_evaluation_of_bf16_parameters(self):
        """It reads them straight, with the numbers that it would read by way of f32."""
        data = small_gpt.write_tokens("tokens.bin", 41)
        self.compile(sharded_gpt.text(False), LOW, "--param-type=bf16", "--eval-precision=fp16")
        self.train("model.plan", "low", data=data)
        self.compile(sharded_gpt.text(False), "--precision=fp16", to="other.plan")
        self.assertEqual(self.evaluated("model.plan", "low", data), self.evaluated("other.plan", "low", data))

    def test_parameters_are_cast_before_they_are_gathered(self):
        """An evaluation in bf16 sends half the bytes of one in fp32, however parameters are gathered; parameters kept in f32 send all of theirs."""
        data = small_gpt.write_tokens("tokens.bin", 16)  # a batch for each rank
        self.compile(sharded_gpt.text(False), to="one.plan")
        self.train("one.plan", "run", data=data)
        for layout in ([], ["--param-persistence-threshold=0", "--wrap=mlp", "--prefetch=2"]):
            lines = {}
            for name, options in {"fp32": [], "bf16": ["--eval-precision=bf16"], "kept": ["--eval-precision=bf16", KEEP]}.items():
                for stage in (0, 3):
                    self.compile(sharded_gpt.text(False), "--ranks=2", "--micro-batch=4", "--eval-batch=8", f"--zero-stage={stage}", *options,
                                 *(layout if stage else []))  # stage 0 gathers nothing
                    lines[name, stage] = self.evaluation("model.plan", "run", data, ranks=2)
                self.assertEqual(lines[name, 3]["eval_loss"], lines[name, 0]["eval_loss"], (name, layout))
                self.assertEqual(lines[name, 0]["sent_bytes"], 0)
            sent = {name: lines[name, 3]["sent_bytes"] for name in ("fp32", "bf16", "kept")}
            self.assertEqual(2 * sent["bf16"], sent["fp32"], layout)
            if not layout:  # rank 0 sends half of the tied embedding, which is gathered twice, and of h.1's matrices of attention
                self.assertEqual(sent["kept"] - sent["bf16"], (2 * 96 * 32 + 32 * 96 + 32 * 32) * (4 - 2) // 2)

    def test_gathered_parameters_take_half_the_memory(self):
        """In stage 1 a step in fp16 reads copies that ranks hold whole, and only an evaluation gathers."""
        gathered = {}
        for evaluation in ("fp32", "bf16"):
            self.compile(sharded_gpt.text(False), "--precision=fp16", f"--eval-precision={evaluation}", "--ranks=2", "--micro-batch=4", "--zero-stage=1")
            gathered[evaluation] = self.report["memory"]["gathered"]
        self.assertGreaterEqual(gathered["bf16"], 2 * 12 * 32 * 32, "a layer's matrices")
        self.assertEqual(2 * gathered["bf16"], gathered["fp32"])

    def test_evaluation_alone_asks_for_the_level_of_bf16(self):
        self.compile(small_gpt.text(), "--eval-precision=bf16", cpu="x86-64-v4-bf16")
        self.assertIn("\nobject x86-64-v4-bf16 ", self.trainc("dump", "model.plan")[0])


if __name__ == "__main__":
    harness.main()
