"""Text from a checkpoint: decoding step by step agrees with reading the whole text at once, and with training's forward."""

import math

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


class GenerateTest(harness.EndToEndTest):
    def train(self, name, steps):
        write_cycle("tokens.bin")
        self.plan = self.compile(edited(harness.program(name), ("batch 3 x 16", "batch 24 x 16")))
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

    def check_agrees_with_evaluation(self, name):
        self.train(name, 150)
        text = self.generate(PROMPT[:2], 6, "--temperature", "0")
        for known in range(6):
            loss = self.loss_of(PROMPT[:2] + text[:known], text[known])
            self.assertLess(loss, math.log(2), f"token {known} of {text!r} is not surely the most likely one")

    def test_gpt_agrees_with_evaluation(self):
        self.check_agrees_with_evaluation("gpt")

    def test_llama_agrees_with_evaluation(self):
        self.check_agrees_with_evaluation("llama")

    def test_seed_and_threads(self):
        self.train("gpt", 3)
        # Longer than the context.
        first = self.generate(PROMPT, 30, "--seed", "5")
        self.assertEqual(self.generate(PROMPT, 30, "--seed", "5", "--threads", "1"), first)
        self.assertEqual(self.generate(PROMPT, 30, "--seed", "5", "--threads", "3"), first)
        self.assertNotEqual(self.generate(PROMPT, 30, "--seed", "6"), first)


if __name__ == "__main__":
    harness.main()
