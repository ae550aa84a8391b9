"""Text from a checkpoint: decoding step by step agrees with reading the whole text at once, and with training's forward."""

import json
import math
from pathlib import Path

import harness
import small_gpt
from harness import Tensor, edited, write_safetensors

LENGTH = 16  # the golden models' context
VOCABULARY = 96
PROMPT = "!X+"


def write_cycle(path):
    """Every token is followed by 5 times itself plus 7: a rule that a model learns quickly and surely."""
    tokens, token = bytearray(), 1
    for _ in range(60 * LENGTH + 1):
        tokens.append(token)
        token = (5 * token + 7) % VOCABULARY
    with open(path, "wb") as file:
        file.write(tokens)


FEATURE_POSITIONS = """nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %p = nn.embedding "p" %positions of 16 by 32
  %e = nn.embedding "e" %tokens of 96 by 32 init normal(1)
  %features = nn.positions %e
  %numbers = nn.convert %features to f32
  %waves = nn.cos %numbers
  %scaled = nn.mul %e, %waves
  %x = nn.add %scaled, %p
  %y, %lse = nn.attention %x, %x, %x heads 4 causal
  %logits = nn.linear "head" %y to 96
  nn.output "logits" %logits
  %nll, %l = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @train { model @m optimizer adamw(lr 1e-2) batch 24 x 16 }
"""


# Heads are scaled by the log-sum-exp of their scores.
LOG_SUM_EXP = """nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %p = nn.embedding "p" %positions of 16 by 32
  %e = nn.embedding "e" %tokens of 96 by 32 init normal(1)
  %x = nn.add %e, %p
  %o, %lse = nn.attention %x, %x, %x heads 4 causal
  %by_position = nn.transpose %lse by [0, 2, 1]
  %scales = nn.reshape %by_position to [0, 0, 4, 1]
  %heads = nn.reshape %o to [0, 0, 4, 8]
  %scaled = nn.mul %heads, %scales
  %y = nn.reshape %scaled to [0, 0, 32]
  %logits = nn.linear "head" %y to 96
  nn.output "logits" %logits
  %nll, %l = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @train { model @m optimizer adamw(lr 1e-2) batch 24 x 16 }
"""


# The golden Llama with clauses of other families: a window, capped scores, partly rotated heads and norms of heads.
FAMILIES = [
    ("%qr = nn.rope %q positions %positions heads 4 theta 10000",
     '%qn = nn.rms_norm "q_norm" %q heads 4 zero_centered\n  %qr = nn.rope %qn positions %positions heads 4 theta 10000 rotary 4 scaling yarn(factor 4, original 64)'),
    ("%kr = nn.rope %k positions %positions heads 2 theta 10000",
     "%kr = nn.rope %k positions %positions heads 2 theta 10000 rotary 4 scaling yarn(factor 4, original 64)"),
    ("kv_heads 2 causal", "kv_heads 2 causal window 5 softcap 2"),
]

# Biases of positions and distances, and sinks in the same model, and dropout in training.
BIASED = [
    ("%heads, %lse = nn.attention %qr, %kr, %v heads 4 kv_heads 2 causal",
     '%sinks = nn.parameter "sinks" tensor<4xf32> init normal(0.02)\n  %key = nn.dropout_key "weights"\n  '
     '%bias = nn.relative_bias "relative" heads 4 buckets 8 max_distance 12 causal init normal(0.5)\n  '
     "%heads, %lse = nn.attention %qr, %kr, %v heads 4 kv_heads 2 causal alibi 0.25 sinks %sinks bias %bias dropout 0.05 dropout_key %key"),
]


def seen_texts(text):
    """The index of each token that was generated after the context was full for the first time, and the tokens that the model then saw."""
    begin = 0
    for known in range(LENGTH + 1, len(text)):
        if known - begin > LENGTH:
            begin = known - LENGTH // 2
        yield known, text[begin:known]


class GenerateTest(harness.EndToEndTest):
    def train(self, name, steps, *edits):
        self.train_program(edited(harness.program(name), ("batch 3 x 16", "batch 24 x 16"), *edits), steps)

    def train_program(self, text, steps):
        write_cycle("tokens.bin")
        self.plan = self.compile(text)
        self.trainrun(self.plan, "--data", "tokens.bin", "--data-dtype=uint8", "--steps", steps, "--checkpoint-dir", "run")

    def generate(self, prompt, tokens, *options):
        out, _ = self.trainrun(self.plan, "--resume=run", "--tokenizer=bytes", f"--generate={prompt}", "--max-tokens", tokens,
                               *options)
        self.assertTrue(out.startswith(prompt) and out.endswith("\n"), repr(out))
        text = out[len(prompt):-1]
        self.assertEqual(len(text), tokens)
        return text

    def loss_of(self, text, target):
        """-log of the probability of the token `target` after `text`, from the eval entry."""
        row = [ord(letter) for letter in text] + [0] * (LENGTH - len(text))
        labels = [-100] * LENGTH
        labels[len(text) - 1] = ord(target)
        write_safetensors("one.safetensors", {"tokens": Tensor("I32", [1, LENGTH], row), "labels": Tensor("I32", [1, LENGTH], labels)})
        self.trainrun(self.plan, "--resume=run", "--eval-data", "one.safetensors", "--metrics", "eval.jsonl")
        return harness.metrics("eval.jsonl")[-1]["eval_loss"]

    def check_decode_agrees_with_prefill(self):
        """With hardly any training, so that the most likely token depends on the whole text in no simple way."""
        greedy = ["--temperature", "0"]
        whole = self.generate(PROMPT, 10, *greedy)
        for known in range(1, 10):
            self.assertEqual(self.generate(PROMPT + whole[:known], 10 - known, *greedy), whole[known:])
        self.assertEqual(self.generate(PROMPT, 10, "--top-k", "1", "--temperature", "7"), whole)

    def test_gpt_decode(self):
        self.train("gpt", 3)
        self.check_decode_agrees_with_prefill()

    def test_llama_decode(self):
        self.train("llama", 3)
        self.check_decode_agrees_with_prefill()

    def test_families_decode(self):
        self.train("llama", 3, *FAMILIES)
        self.check_decode_agrees_with_prefill()
        self.check_decode_beyond_the_context()

    def check_decode_beyond_the_context(self):
        """When the context is full, only the second half of the text counts: caches of a window, whose rows are used again, hold nothing else."""
        greedy = ["--temperature", "0"]
        text = PROMPT + self.generate(PROMPT, LENGTH + 10, *greedy)
        for known, seen in seen_texts(text):
            self.assertEqual(self.generate(seen, 1, *greedy), text[known], known)

    def test_positions_of_features(self):
        """Features that are equal at every position of a text."""
        self.train_program(FEATURE_POSITIONS, 3)
        self.check_decode_agrees_with_prefill()

    def test_log_sum_exp(self):
        self.train_program(LOG_SUM_EXP, 3)
        self.check_decode_agrees_with_prefill()

    def check_agrees_with_evaluation(self, name, *edits):
        self.train(name, 150, *edits)
        text = self.generate(PROMPT[:2], 6, "--temperature", "0")
        for known in range(6):
            loss = self.loss_of(PROMPT[:2] + text[:known], text[known])
            self.assertLess(loss, math.log(2), f"token {known} of {text!r} is not surely the most likely one")

    def test_gpt_agrees_with_evaluation(self):
        self.check_agrees_with_evaluation("gpt")

    def test_llama_agrees_with_evaluation(self):
        self.check_agrees_with_evaluation("llama")

    def test_families_agree_with_evaluation(self):
        self.check_agrees_with_evaluation("llama", *FAMILIES)
        text = PROMPT[:2] + self.generate(PROMPT[:2], LENGTH + 10, "--temperature", "0")
        for known, seen in seen_texts(text):
            self.assertLess(self.loss_of(seen, text[known]), math.log(2), f"token {known} of {text!r} is not surely the most likely one")

    def test_biases_and_sinks_agree_with_evaluation(self):
        self.check_agrees_with_evaluation("llama", *BIASED)

    def test_decode_with_biases_and_sinks(self):
        self.train("llama", 3, *BIASED)
        self.check_decode_agrees_with_prefill()

    def test_seed_and_threads(self):
        self.train("gpt", 3)
        # Longer than the context.
        first = self.generate(PROMPT, 30, "--seed", "5")
        self.assertEqual(self.generate(PROMPT, 30, "--seed", "5", "--threads", "1"), first)
        self.assertEqual(self.generate(PROMPT, 30, "--seed", "5", "--threads", "3"), first)
        self.assertNotEqual(self.generate(PROMPT, 30, "--seed", "6"), first)


# A table of what comes after each token.
TABLE = """nn.model @table(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" { eos_token_id = EOS } {
  %logits = nn.embedding "wte" %tokens of 96 by 96
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @table optimizer sgd(lr 0.1) batch 1 x 16 }
"""


class EndOfText(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        table = [9.0 if column == (5 * row + 7) % 96 else 0.0 for row in range(96) for column in range(96)]
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [96, 96], table)})

    def test_the_models_config_names_the_end(self):
        for eos, text in [("86", "A,#"), ("[86, 44]", "A"), ("95", "A,#V5")]:
            plan = self.compile(TABLE.replace("EOS", eos))
            out, _ = self.trainrun(plan, "--init", "w.safetensors", "--tokenizer=bytes", "--generate=A", "--temperature=0", "--max-tokens=4")
            self.assertEqual(out, text + "\n", eos)

    def test_files_of_prompts_and_texts(self):
        plan = self.compile(TABLE.replace("EOS", "95"))
        run = [harness.TRAINRUN, plan, "--init", "w.safetensors", "--tokenizer=bytes", "--max-tokens=2"]
        Path("notes").write_text('{"ended": "my own"}')
        self.fails([*run, "--generate=A", "--generated=notes"], 2, "--generated=notes: the file exists, and holds something else than generated texts")
        self.fails([*run, "--generate=A", "--generated=."], 2, "--generated=.: expected a file, found a folder, a pipe or a device")
        for prompt in "AB":  # the second run replaces the first one's texts
            self.run_program(*run, f"--generate={prompt}", "--generated=texts.jsonl")
        self.assertEqual(json.loads(Path("texts.jsonl").read_text())["prompt"], "B")
        self.fails([*run, "--prompts=texts.jsonl", "--generated=./texts.jsonl"], 2, "--prompts and --generated both name './texts.jsonl'")

    def test_the_reason_against_generation_is_the_real_one(self):
        numbers = TABLE.replace("EOS", "1").replace("%labels:", "%scale: tensor<?x96xf32>, %labels:").replace(
            '  nn.output "logits" %logits', '  %row = nn.reshape %scale to [-1, 1, 96]\n  %scaled = nn.mul %logits, %row\n  nn.output "logits" %scaled')
        last = TABLE.replace("EOS", "1").replace('  nn.output "logits" %logits', '  %mean = nn.reduce mean %logits over [1]\n  nn.output "logits" %mean')
        for text, reason in [(numbers, "the logits depend on column 'scale' of 'f32', and only tokens are known while text is generated"),
                             (last, "text needs integers [batch, length] and logits [batch, length, vocabulary]")]:
            plan = self.compile(text)
            self.fails([harness.TRAINRUN, plan, "--init", "w.safetensors", "--tokenizer=bytes", "--generate=a"], 2, "--generate: plan 'table' cannot generate text: ", reason)


# Causal attention of one head, by a table of masks.
BY_HAND = """nn.model @by_hand(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %row = nn.reshape %positions to [-1, 1]
  %future = nn.compare gt %positions, %row
  %never = nn.constant -1e9
  %x = nn.embedding "wte" %tokens of 96 by 32
  %scores = nn.matmul %x, %x transposed
  %masked = nn.select %future, %never, %scores
  %p = nn.softmax %masked
  %y = nn.matmul %p, %x
  %logits = nn.linear "head" %y to 96
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @train { model @by_hand optimizer adamw(lr 1e-2) batch 8 x 16 }
"""


class AttentionByHand(harness.EndToEndTest):
    """Decode sees one position at a time, so it could not repeat this model's attention."""

    REASON = "model.mlir:4: positions of a sequence are combined here"

    def test_trains_but_does_not_generate(self):
        Path("model.mlir").write_text(BY_HAND)
        _, err = self.trainc("compile", "model.mlir", "-o", "model.plan", "--report", "report.json")
        self.assertIn("model.mlir:4:13: remark: this plan cannot generate text", err)
        self.assertIn(self.REASON, json.loads(Path("report.json").read_text())["no_generation"])
        self.assertIn("no generation: " + self.REASON, self.trainc("dump", "model.plan")[0])
        self.assertIn("no generation: " + self.REASON, self.trainrun("model.plan", "--device=null")[0])
        write_cycle("tokens.bin")
        train = ["model.plan", "--data", "tokens.bin", "--data-dtype=uint8", "--steps", 40]
        self.trainrun(*train, "--metrics", "run.jsonl")
        losses = [line["loss"] for line in harness.metrics("run.jsonl")]
        self.assertLess(losses[-1], losses[0] / 2)
        self.fails([harness.TRAINRUN, *train, "--tokenizer=bytes", "--generate=a"], 2,
                   "--generate: plan 'by_hand' cannot generate text: " + self.REASON)


if __name__ == "__main__":
    harness.main()
