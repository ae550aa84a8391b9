"""Plans of library calls train as plans of generated kernels do, on one rank and on two, on the CPU and the emulated device."""

from pathlib import Path

import harness
import small_gpt
from harness import metrics, program, relative_error

STEPS = 4
# Rounding alone, as both sides sum in f32 in other orders: of the first step, and of all, as Adam's first steps are as large for gradients
# of biases that are little more than rounding.
FIRST_BOUND, BOUND = 1e-6, 2e-5

WAYS = {"one rank": [], "two ranks": ["--ranks=2", "--zero-stage=3", "--micro-batch=2"],
        "accumulated": ["--accumulate=2", "--activation-checkpointing=selective"]}


class LibraryCallsTest(harness.EndToEndTest):
    def curve(self, plan, way, *args):
        ranks = [each.replace("--ranks", "--nproc-per-node") for each in WAYS[way] if each.startswith("--ranks")]
        self.trainrun(plan, *ranks, "--data", "tokens.bin", "--steps", STEPS, "--metrics", "m.jsonl", *args)
        found = [(line["loss"], line["grad_norm"]) for line in metrics("m.jsonl") if "loss" in line]
        Path("m.jsonl").unlink()
        self.assertEqual(len(found), STEPS)
        return [loss for loss, _ in found], [norm for _, norm in found]

    def compare(self, text):
        small_gpt.write_tokens("tokens.bin", 100)
        for way, options in WAYS.items():
            generated = self.curve(self.compile(text, *options), way)
            for calls in ("products", "attention", "all"):
                with self.subTest(way=way, calls=calls):
                    plan = self.compile(text, f"--library-calls={calls}", *options, to="calls.plan")
                    found = self.curve(plan, way)
                    for ours, theirs in zip(found, generated):
                        self.assertLess(relative_error(ours[:1], theirs[:1]), FIRST_BOUND)
                        self.assertLess(relative_error(ours, theirs), BOUND)
                    if calls == "all":
                        self.assertEqual(self.curve(plan, way, "--device=emulated", "--device-seed=3"), found)
                        self.assertEqual(self.curve(plan, way, "--threads=3"), found)

    def test_gpt_with_dropout_trains_alike(self):
        self.compare(small_gpt.text())

    def test_llama_trains_alike(self):
        self.compare(program("llama"))

    def test_dump_shows_calls(self):
        plan = self.compile(small_gpt.text(), "--library-calls=all", "--accumulate=2")
        text, _ = self.trainc("dump", plan)
        for expected in ("matrix product 512 x 128 x 32, gelu_tanh (a ", ", out auxiliary ", "b transposed", ", adds (a ",
                         "matrix product 512 x 128 x 32, b transposed, gelu_tanh_gradient, sums of result (a ",
                         "matrix product 32 x 96 x 512, a transposed, adds, sums of b (a ",
                         "attention batch 8, 64 queries, 64 keys, ", "gradient of attention batch 8, 64 queries", ", causal, scale 0.",
                         ", out workspace "):
            self.assertIn(expected, text)
        self.assertNotIn("kernel gemm", text)
        self.assertNotIn("kernel attention", text)
        settings, _ = self.trainc("dump", plan, "--settings")
        self.assertRegex(settings, r"library_calls +all +--library-calls")
        self.run_program(harness.MUTATE_PLAN, plan, 40)

    def test_plain_products_have_no_epilogues(self):
        text, _ = self.trainc("dump", self.compile(small_gpt.text(), "--library-calls=plain"))
        self.assertIn(": matrix product 512 x 128 x 32 (a ", text)
        self.assertIn(": attention batch 8, ", text)
        self.assertNotRegex(text, r"matrix product .*(gelu|sums of|, bias )|gradient of attention")

    def test_generates_alike(self):
        small_gpt.write_tokens("tokens.bin", 40)
        texts = []
        for calls in ("none", "all"):
            plan = self.compile(small_gpt.text(), f"--library-calls={calls}", to=f"{calls}.plan")
            self.trainrun(plan, "--data", "tokens.bin", "--steps", "2", "--checkpoint-dir", calls)
            out, _ = self.trainrun(plan, "--init", f"{calls}/step-00000002/model.safetensors", "--tokenizer=bytes",
                                   "--generate=ABC", "--max-tokens=8", "--temperature=0")
            texts.append(out)
        self.assertEqual(*texts)


class AttentionFormsTest(harness.EndToEndTest):
    """Libraries have neither windows nor capped scores, biases, sinks and dropout, so that kernels compute attention with these. The gradient
    of attention with sinks needs the log-sum-exp alone, so that a library computes it."""

    # Scores of this small model are tiny, so that only a large scale shows the cap.
    FORMS = {"window": (" causal scale 20", " causal scale 20 window 7"), "softcap": (" causal scale 20", " causal scale 20 softcap 0.5"),
             "alibi": (" causal scale 20", " causal scale 20 alibi 0.5"),
             "sinks": ("%heads, %lse = nn.attention %q, %k, %v heads 4 causal scale 20",
                       '%sinks = nn.parameter "sinks" tensor<4xf32> init uniform(-1, 1)\n  '
                       "%heads, %lse = nn.attention %q, %k, %v heads 4 causal scale 20 sinks %sinks"),
             "dropout": ("%heads, %lse = nn.attention %q, %k, %v heads 4 causal scale 20",
                         '%key = nn.dropout_key "weights"\n  %heads, %lse = nn.attention %q, %k, %v heads 4 causal scale 20 dropout 0.2 dropout_key %key')}
    PLAIN = (" causal", " causal scale 20")

    def losses(self, text, *options):
        self.trainrun(self.compile(text, *options), "--data", "tokens.bin", "--steps", 3, "--metrics", "m.jsonl")
        found = [line["loss"] for line in metrics("m.jsonl") if "loss" in line]
        Path("m.jsonl").unlink()
        return found

    def test_no_library_drops_them(self):
        small_gpt.write_tokens("tokens.bin", 60)
        plain = self.losses(small_gpt.text(self.PLAIN))
        for name, form in self.FORMS.items():
            generated = self.losses(small_gpt.text(self.PLAIN, form), "--library-calls=none")
            self.assertGreater(relative_error(plain[-1:], generated[-1:]), 1e-5)
            for calls in ("attention", "all", "plain"):
                with self.subTest(form=name, calls=calls):
                    found = self.losses(small_gpt.text(self.PLAIN, form), f"--library-calls={calls}")
                    self.assertLess(relative_error(found[:1], generated[:1]), FIRST_BOUND)
                    self.assertLess(relative_error(found, generated), BOUND)

    def test_cudnn_is_not_called(self):
        for name, form in self.FORMS.items():
            Path("gpt.mlir").write_text(small_gpt.text(self.PLAIN, form))
            for calls in ("attention", "all"):
                with self.subTest(form=name, calls=calls):
                    self.trainc("compile", "gpt.mlir", "-o", "gpt.plan", "--target=cuda", "--gpu-levels=none", "--precision=bf16", f"--library-calls={calls}")
                    text, _ = self.trainc("dump", "gpt.plan")
                    self.assertIn("kernel attention", text)
                    # Evaluation drops nothing, so that it has a form that cuDNN knows.
                    training = text.split("entry eval")[0] if name == "dropout" else text
                    self.assertNotRegex(training, "(?<!gradient of )attention batch")
                    self.assertEqual("gradient of attention batch" in training, name == "sinks")


if __name__ == "__main__":
    harness.main()
