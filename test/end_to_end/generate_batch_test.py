"""Several texts at once: each is the one that its prompt gives alone."""

import json
import re
from pathlib import Path

import harness
from generate_test import BIASED, FAMILIES, FEATURE_POSITIONS, LENGTH, LOG_SUM_EXP, TABLE, write_cycle
from harness import Tensor, edited, write_safetensors

# Prompts of several lengths; some are read by prefill and others token by token.
PROMPTS = ["!X+", "A", "0123456789ABCDEF", "HELLO, YOU", "ZZ"]

GREEDY = ["--temperature=0"]
SAMPLED = ["--temperature=0.9", "--top-k=20", "--repetition-penalty=1.1", "--seed=5"]


def texts_in(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


class TextsAtOnce(harness.EndToEndTest):
    def generate(self, plan, *options):
        """Standard output, standard error, and the texts."""
        Path("prompts.txt").write_text("\n".join(PROMPTS) + "\n")
        out, err = self.trainrun(plan, "--init", "run/step-00000003/model.safetensors", "--tokenizer=bytes", "--prompts=prompts.txt",
                                 "--generated=texts.jsonl", *options)
        return out, err, texts_in("texts.jsonl")

    def check_texts(self, text, *options, ranks=1, batches=(3,), ways=(GREEDY, SAMPLED)):
        """Texts of 40 tokens: longer than the context."""
        write_cycle("tokens.bin")
        several = [f"--nproc-per-node={ranks}"] if ranks > 1 else []
        alone = self.compile(text, *options)
        self.trainrun(alone, "--data", "tokens.bin", "--data-dtype=uint8", "--steps=3", "--checkpoint-dir", "run", *several)
        for batch in batches:
            together = self.compile(text, *options, f"--generate-batch={batch}", to="together.plan")
            for way in ways:
                out, _, expected = self.generate(alone, "--max-tokens=40", *way, *several)
                found_out, err, found = self.generate(together, "--max-tokens=40", *way, *several)
                self.assertEqual([each["tokens"] for each in found], [each["tokens"] for each in expected], way)
                self.assertEqual(found_out, out)
                self.assertEqual([each["prompt"] for each in found], PROMPTS)
                self.assertEqual({len(each["tokens"]) for each in found}, {40})
                self.assertRegex(err, r"generated 200 tokens, \S+ tok/s; 32 tokens of prompts took")

    def golden(self, name, *edits):
        return edited(harness.program(name), ("batch 3 x 16", "batch 24 x 16"), *edits)

    def test_learned_positions(self):
        self.check_texts(self.golden("gpt"), batches=(2, 3, 8))

    def test_rotary_positions(self):
        self.check_texts(self.golden("llama"))

    def test_windows(self):
        self.check_texts(self.golden("llama", *FAMILIES))

    def test_biases_and_sinks(self):
        self.check_texts(self.golden("llama", *BIASED))

    def test_positions_of_features(self):
        self.check_texts(FEATURE_POSITIONS)

    def test_log_sum_exp(self):
        self.check_texts(LOG_SUM_EXP)

    def test_more_texts_than_positions(self):
        self.check_texts(LOG_SUM_EXP, batches=(LENGTH + 1,), ways=(GREEDY,))

    def test_bf16(self):
        self.check_texts(self.golden("llama"), "--precision=bf16", ways=(GREEDY,))

    def test_two_ranks(self):
        self.check_texts(self.golden("gpt"), "--ranks=2", "--zero-stage=3", "--micro-batch=12", ranks=2)

    def test_prompts_are_read_in_both_ways(self):
        """By one call of prefill, or by decode beside other texts, whatever takes less of all texts' time."""
        plan = self.compile(self.golden("gpt"), "--generate-batch=3")
        dump, _ = self.trainc("dump", plan)
        seconds = {}
        for entry in ("prefill", "decode"):
            instructions = re.search(rf"(?ms)^entry {entry} .*?^}}", dump)[0]
            seconds[entry] = sum(map(float, re.findall(r", predicted ([\d.e+]+) us$", instructions, re.M)))
        self.assertEqual({len(prompt) * seconds["decode"] >= 3 * seconds["prefill"] for prompt in PROMPTS}, {True, False}, seconds)

    def test_planned_memory(self):
        """Each text has a cache."""
        caches = {}
        for batch in (1, 5):
            plan = self.compile(self.golden("llama", *FAMILIES), f"--generate-batch={batch}", "--report=report.json", to=f"{batch}.plan")
            self.assertEqual(json.loads(Path("report.json").read_text())["generation"]["batch"], batch)
            dump, _ = self.trainc("dump", plan)
            caches[batch] = [int(size) for size in re.findall(r"^buffer cache\.\d+ .*?bytes=(\d+)", dump, re.M)]
            self.assertRegex(dump, r"generation context=16 vocabulary=96 logits" if batch == 1 else r"generation context=16 vocabulary=96 batch=5 logits")
            self.assertIn(f", {batch} texts at once" if batch > 1 else "vocabulary 96\n", self.trainrun(plan, "--device=null")[0])
        self.assertTrue(caches[1])
        self.assertEqual(caches[5], [5 * size for size in caches[1]])


class EndsOfTexts(harness.EndToEndTest):
    """A table of what comes after each token, 5 t + 7."""

    def setUp(self):
        super().setUp()
        table = [9.0 if column == (5 * row + 7) % 96 else 0.0 for row in range(96) for column in range(96)]
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [96, 96], table)})

    def generate(self, plan, prompts, *options):
        out, _ = self.trainrun(plan, "--init", "w.safetensors", "--tokenizer=bytes", *(f"--generate={prompt}" for prompt in prompts),
                               "--temperature=0", "--generated=texts.jsonl", *options)
        return out, texts_in("texts.jsonl")

    def test_each_text_ends_by_itself(self):
        prompts = ["A", "V", ",", "#", "5", "A,", "0"]
        alone = self.compile(TABLE.replace("EOS", "86"))
        together = self.compile(TABLE.replace("EOS", "86"), "--generate-batch=3", to="together.plan")
        for tokens in (0, 1, 4, 30):
            out, expected = self.generate(alone, prompts, f"--max-tokens={tokens}")
            found_out, found = self.generate(together, prompts, f"--max-tokens={tokens}")
            self.assertEqual(found_out, out)
            keys = ("prompt", "prompt_tokens", "text", "tokens", "ended")
            self.assertEqual([{key: each[key] for key in keys} for each in found], [{key: each[key] for key in keys} for each in expected])
        lengths = [len(each["tokens"]) for each in found if each["ended"]]
        self.assertGreater(len(set(lengths)), 2, "texts end at different times")

    def test_fewer_prompts_than_slots(self):
        plan = self.compile(TABLE.replace("EOS", "86"), "--generate-batch=8")
        self.assertEqual(self.generate(plan, ["A"], "--max-tokens=4")[0], "A,#\n")

    def test_bad_values(self):
        Path("model.mlir").write_text(TABLE.replace("EOS", "86"))
        for value in ("0", "-1", "1048577", "many"):
            self.fails([harness.TRAINC, "compile", "model.mlir", f"--generate-batch={value}"], 2, "--generate-batch")
        numbers = TABLE.replace("EOS", "1").replace('nn.output "logits"', 'nn.output "scores"')
        Path("model.mlir").write_text(numbers)
        _, err = self.trainc("compile", "model.mlir", "--generate-batch=2", "--cpu=native")
        self.assertIn("generate_batch (--generate-batch) does nothing, because this plan cannot generate text", err)


if __name__ == "__main__":
    harness.main()
