"""Stochastic rounding in updates: optimizer states and parameters in bf16, with the same bits anywhere."""

import json
from pathlib import Path

import harness
import sharded_gpt
import small_gpt
from harness import read_safetensors

MOMENTS, PARAMETERS = "--optimizer-states=bf16", "--param-type=bf16"
BF16 = ["--precision=bf16", PARAMETERS, MOMENTS]


class RoundingTest(harness.EndToEndTest):
    def compile_plan(self, name, *options, text=None):
        self.compile(text or sharded_gpt.text(False), "--report=report.json", *options, to=f"{name}.plan")
        return json.loads(Path("report.json").read_text())["memory"]

    def train(self, plan, run, *args, steps=4, ranks=1, data="tokens.bin"):
        processes = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        self.trainrun(f"{plan}.plan", *processes, "--data", data, "--steps", steps, "--checkpoint-dir", run, "--metrics", f"{run}.jsonl", *args)
        return harness.metrics(f"{run}.jsonl")

    def dtypes(self, checkpoint):
        """Parameters, moments, and the optimizer's other states."""
        states = read_safetensors(f"{checkpoint}/optimizer.safetensors")
        moments = {name for name in states if name.startswith(("exp_avg", "momentum."))}
        return ({tensor.dtype for tensor in read_safetensors(f"{checkpoint}/model.safetensors").values()},
                {states[name].dtype for name in moments}, {states[name].dtype for name in states if name not in moments})

    def check_same_bits(self, plans, *options, steps=4):
        """Losses, norms and checkpoints of plans with (options, ranks, arguments of trainrun) each."""
        small_gpt.write_tokens("tokens.bin", 60)
        expected = None
        for number, (own, ranks, arguments) in enumerate(plans):
            name = f"run{number}"
            planned = self.compile_plan(name, *options, *own)
            lines = self.train(name, name, *arguments, steps=steps, ranks=ranks)
            self.assertEqual({line["peak_bytes"] for line in lines}, {planned["peak"]})
            found = [(line["loss"], line["grad_norm"]) for line in lines]
            expected = expected or found
            self.assertEqual(found, expected, (options, own, arguments))
            self.assert_same_folder(f"run0/step-{steps:08}", f"{name}/step-{steps:08}")

    def check_two_ranks(self, plans, *options):
        on = ["--ranks=2", "--micro-batch=4"]
        self.check_same_bits([([*on, *own], 2, arguments) for own, arguments in plans], *options)

    def test_stages_with_moments_in_bf16(self):
        self.check_two_ranks([(["--zero-stage=0"], []), (["--zero-stage=1"], []), (["--zero-stage=3"], [])], MOMENTS)

    def test_stages_in_bf16(self):
        self.check_two_ranks([(["--zero-stage=0"], ["--threads=2"]), (["--zero-stage=1"], ["--threads=1"]), (["--zero-stage=2"], []),
                              (["--zero-stage=3"], []), (["--zero-stage=3", "--wrap=model", "--param-persistence-threshold=0"], []),
                              (["--zero-stage=3", "--wrap=mlp"], [])], *BF16)

    def test_threads(self):
        self.compile_plan("model", *BF16)
        small_gpt.write_tokens("tokens.bin", 60)
        for threads in [1, 2]:
            self.train("model", f"threads{threads}", f"--threads={threads}")
        self.assert_same_folder("threads1/step-00000004", "threads2/step-00000004")

    def test_groups(self):
        on = ["--ranks=4", "--micro-batch=2"]
        self.check_same_bits([([*on, "--zero-stage=0"], 4, []), ([*on, "--zero-stage=3", "--hybrid-shard=2"], 4, [])], *BF16)

    def check_numbers_of_ranks(self, *options):
        def plan(ranks, stage):
            return [f"--ranks={ranks}", f"--zero-stage={stage}", f"--accumulate={4 // ranks}"], ranks, []

        self.check_same_bits([plan(1, 0), plan(2, 1), plan(2, 3), plan(4, 2), plan(4, 3)], "--reproducible=ranks", "--micro-batch=2", *options)

    def test_numbers_of_ranks_in_bf16(self):
        self.check_numbers_of_ranks(*BF16)

    def test_numbers_of_ranks_with_moments_in_bf16(self):
        self.check_numbers_of_ranks(MOMENTS, "--precision=fp16")

    def test_a_resumed_run_has_the_bits_of_one(self):
        small_gpt.write_tokens("tokens.bin", 60)
        for number, options in enumerate([[MOMENTS], BF16, [*BF16, "--ranks=2", "--zero-stage=1", "--accumulate=2"]]):
            ranks = 1 + ("--ranks=2" in options)
            self.compile_plan("model", "--micro-batch=4", *options)
            self.train("model", f"whole{number}", steps=6, ranks=ranks)
            self.train("model", f"parts{number}", steps=3, ranks=ranks)
            self.train("model", f"parts{number}", "--resume", steps=6, ranks=ranks)
            self.assert_same_folder(f"whole{number}/step-00000006", f"parts{number}/step-00000006")

    def test_another_number_of_ranks_goes_on(self):
        small_gpt.write_tokens("tokens.bin", 60)
        same = ["--reproducible=ranks", "--micro-batch=2", *BF16]
        self.compile_plan("four", "--ranks=4", "--zero-stage=3", *same)
        self.compile_plan("one", "--accumulate=4", *same)
        self.train("four", "four", steps=6, ranks=4)
        self.train("four", "mixed", steps=3, ranks=4)
        self.train("one", "mixed", "--resume", steps=6)
        self.assert_same_folder("four/step-00000006", "mixed/step-00000006")

    def test_skipped_steps_leave_the_state_as_it_was(self):
        small_gpt.write_tokens("tokens.bin", 60)
        self.compile_plan("model", MOMENTS, "--precision=fp16", "--loss-scale-init=1099511627776")
        lines = self.train("model", "run", steps=2)
        self.assertEqual(lines[-1]["skipped_steps"], 2)
        for name, moment in read_safetensors("run/step-00000002/optimizer.safetensors").items():
            if name.startswith("exp_avg"):
                self.assertFalse(any(moment.values.tobytes()), name)

    def test_checkpoints_hold_what_the_run_holds(self):
        data = small_gpt.write_tokens("tokens.bin", 60)
        for name, options, expected in [("moments", [MOMENTS], ({"F32"}, {"BF16"}, {"F32"})),
                                        ("parameters", ["--precision=bf16", PARAMETERS], ({"BF16"}, {"F32"}, {"F32"})),
                                        ("both", BF16, ({"BF16"}, {"BF16"}, {"F32"})),
                                        ("kept", [*BF16, "--keep-f32=*"], ({"F32"}, {"BF16"}, {"F32"}))]:
            self.compile_plan(name, *options, text=small_gpt.text())
            self.train(name, name, steps=2)
            self.assertEqual(self.dtypes(f"{name}/step-00000002"), expected, name)
        self.trainc("consolidate", "both/step-00000002", "--dtype=fp32", "-o", "both.safetensors")
        weights = read_safetensors("both.safetensors")
        self.assertEqual({tensor.dtype for tensor in weights.values()}, {"F32"})
        self.trainrun("both.plan", "--resume=both", "--eval-data", data, "--metrics", "eval.jsonl")
        evaluated = harness.metrics("eval.jsonl")[-1]["eval_loss"]
        self.trainrun("both.plan", "--init=both.safetensors", "--eval-data", data, "--metrics", "again.jsonl")
        self.assertEqual(harness.metrics("again.jsonl")[-1]["eval_loss"], evaluated)  # numbers of bf16 stay
        out, _ = self.trainrun("both.plan", "--resume=both", "--generate=AB", "--max-tokens=4", "--tokenizer=bytes", "--temperature=0")
        self.assertTrue(out)

    def test_a_checkpoint_of_other_types(self):
        data = small_gpt.write_tokens("tokens.bin", 60)
        self.compile_plan("fp32")
        self.compile_plan("moments", MOMENTS)
        self.train("fp32", "fp32", steps=2)
        self.train("moments", "moments", steps=2)
        self.fails([harness.TRAINRUN, "moments.plan", *harness.DEVICE, "--data", data, "--resume=fp32", "--steps=3"], 2,
                   "does not fit this plan", "--optimizer-states", "exp_avg.", "F32", "in the file, BF16")
        self.train("fp32", "wider", "--resume=moments", steps=3)  # bf16 numbers are f32 numbers

    def test_parameters_in_bf16_need_their_precision(self):
        Path("model.mlir").write_text(small_gpt.text())
        self.fails([harness.TRAINC, "compile", "model.mlir", "-o", "model.plan", PARAMETERS], 2,
                   "holds parameters in bf16, which a program with precision fp32 cannot", "--precision=bf16")

    def test_memory_is_that_of_the_formula(self):
        """docs/explanation/precision.md: bytes of parameters and moments halve, and 8 bytes number a chunk of 256 elements."""
        for ranks, stage in [(1, 0), (2, 1), (2, 3)]:
            on = [f"--ranks={ranks}", f"--zero-stage={stage}", "--micro-batch=4", "--wrap=model", "--param-persistence-threshold=0",
                  "--reproducible=ranks"]
            full, low = self.compile_plan("fp32", *on), self.compile_plan("bf16", *on, *BF16)
            self.assertEqual(low["parameters"], full["parameters"] // 2)
            corrections = 8
            moments = full["optimizer"] - corrections
            self.assertEqual(low["optimizer"], moments // 2 + moments // 256 + corrections)

    def test_parameters_are_sent_as_working_copies_are(self):
        def sent(*options):
            self.compile_plan("model", "--ranks=2", "--micro-batch=4", "--precision=bf16", *options)
            return {kind: each["bytes"] for kind, each in json.loads(Path("report.json").read_text())["collectives"].items()}

        for stage in [1, 3]:
            self.assertEqual(sent(f"--zero-stage={stage}", PARAMETERS), sent(f"--zero-stage={stage}"))

    def check_trains_as_fp32(self, rate, bound):
        """The mean loss of the last 20 of 200 steps is within `bound` of fp32's."""
        data = small_gpt.write_tokens("tokens.bin", 400)
        text = harness.edited(small_gpt.text(), ("lr 1e-2", f"lr {rate}"))
        losses = {}
        for name, options in [("fp32", []), ("moments", [MOMENTS]), ("both", BF16)]:
            self.compile_plan(name, *options, text=text)
            run = [line["loss"] for line in self.train(name, name, steps=200, data=data)]
            losses[name] = sum(run[-20:]) / 20
            self.assertLess(losses[name], 0.95 * run[0])
        for name in ["moments", "both"]:
            self.assertLess(abs(losses[name] / losses["fp32"] - 1), bound, name)

    def test_training_is_as_good(self):
        self.check_trains_as_fp32("1e-2", 0.01)

    def test_small_steps_add_up(self):
        """Steps below half an ULP of most weights: rounded to nearest, the loss would be 1.5 % above fp32's."""
        self.check_trains_as_fp32("1e-4", 0.003)


if __name__ == "__main__":
    harness.main()
