"""GGUF files: `trainc dump`, weights for `trainrun --init` and `trainc consolidate`, and the tokenizer."""

import array
import json
import shutil
import unittest
from pathlib import Path

import harness
from harness import TRAINC, TRAINRUN, metrics, read_safetensors

GOLDENS = Path(__file__).resolve().parents[1] / "golden" / "gguf"

# The model of llama.gguf (test/golden/gguf/make_models.py).
MODEL = """
nn.block @layer(%x: tensor<?x?x32xf32>, %positions: tensor<?xi32>) {
  %n1 = nn.rms_norm "input_layernorm" %x
  %q = nn.linear "self_attn.q_proj" %n1 to 32 no_bias
  %k = nn.linear "self_attn.k_proj" %n1 to 16 no_bias
  %v = nn.linear "self_attn.v_proj" %n1 to 16 no_bias
  %qr = nn.rope %q positions %positions heads 4 theta 10000
  %kr = nn.rope %k positions %positions heads 2 theta 10000
  %heads, %lse = nn.attention %qr, %kr, %v heads 4 kv_heads 2 causal
  %a = nn.linear "self_attn.o_proj" %heads to 32 no_bias
  %y = nn.add %x, %a
  %n2 = nn.rms_norm "post_attention_layernorm" %y
  %gate = nn.linear "mlp.gate_proj" %n2 to 32 no_bias
  %up = nn.linear "mlp.up_proj" %n2 to 32 no_bias
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %m = nn.linear "mlp.down_proj" %h to 32 no_bias
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @tiny(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" {
      architectures = ["LlamaForCausalLM"], model_type = "llama", hidden_act = "silu",
      vocab_size = 8, max_position_embeddings = 16, hidden_size = 32, intermediate_size = 32,
      num_hidden_layers = 1, num_attention_heads = 4, num_key_value_heads = 2, rms_norm_eps = 1.0e-5,
      rope_theta = 10000.0, attention_bias = false, mlp_bias = false, tie_word_embeddings = false,
      torch_dtype = "float32"
    } {
  %positions = nn.positions %tokens
  %x = nn.embedding "model.embed_tokens" %tokens of 8 by 32
  %h = nn.repeat @layer "model.layers" times 1 (%x, %positions)
  %n = nn.rms_norm "model.norm" %h
  %logits = nn.linear "lm_head" %n to 8 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @tiny
  optimizer adamw(lr 1e-3)
  batch 1 x 16
  steps 2
}
"""


class Gguf(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        for name in ("llama.gguf", "gpt2.gguf", "sentencepiece.gguf"):
            shutil.copy(GOLDENS / name, name)

    def test_dump(self):
        out, _ = self.trainc("dump", "llama.gguf")
        self.assertRegex(out, r"GGUF 3: \d+ metadata entries, 12 tensors of 6752 elements in ")
        self.assertRegex(out, r'(?m)^general\.architecture +"llama"$')
        self.assertRegex(out, r"(?m)^llama\.attention\.head_count_kv +2$")
        self.assertRegex(out, r"(?m)^blk\.0\.attn_k\.weight +\w+ +\[16, 32\] +model\.layers\.0\.self_attn\.k_proj\.weight$")
        out, _ = self.trainc("dump", "sentencepiece.gguf")
        self.assertRegex(out, r'(?m)^tokenizer\.ggml\.tokens +700 of string: "<unk>", "<s>", "</s>", "<turn>", \.\.\.$')
        self.trainc("consolidate", "llama.gguf", "-o", "m.safetensors")
        out, _ = self.trainc("dump", "m.safetensors")
        self.assertRegex(out, r"(?m)^model\.embed_tokens\.weight +F32 +\[8, 32\]$")
        self.fails([TRAINC, "dump", "llama.gguf", "--settings"], 2, "llama.gguf: expected a plan for --settings, found a file of weights")

    def test_consolidated_weights_are_those_of_transformers(self):
        for name in ("llama", "gpt2"):
            self.trainc("consolidate", f"{name}.gguf", "-o", f"{name}.safetensors")
            written, expected = read_safetensors(f"{name}.safetensors"), read_safetensors(GOLDENS / f"{name}.safetensors")
            self.assertEqual(written.keys(), expected.keys())
            for tensor in expected:
                self.assertEqual(written[tensor].values, expected[tensor].values, tensor)

    def test_tokenizer(self):
        golden = json.loads((GOLDENS / "sentencepiece.json").read_text())
        text, ids = next((text, ids) for text, ids in zip(golden["texts"], golden["ids"]) if text.startswith("In the"))
        Path("text.txt").write_text(text)
        self.trainc("tokenize", "--tokenizer=sentencepiece.gguf", "text.txt", "-o", "tokens.bin")
        self.assertEqual(list(array.array("H", Path("tokens.bin").read_bytes())), [1, *ids])

    def test_damaged_files(self):
        whole = Path("llama.gguf").read_bytes()
        Path("short.gguf").write_bytes(whole[:-40])
        for command in ([TRAINC, "dump", "short.gguf"], [TRAINC, "consolidate", "short.gguf", "-o", "o"]):
            self.fails(command, 2, "short.gguf: tensor '", "reach beyond the", "the file is truncated or damaged")
        Path("mamba.gguf").write_bytes(whole.replace(b"\5\0\0\0\0\0\0\0llama", b"\5\0\0\0\0\0\0\0mamba", 1))
        self.fails([TRAINC, "consolidate", "mamba.gguf", "-o", "o"], 2, "mamba.gguf: expected a model of llama, granite", "found one of 'mamba'")
        self.fails([TRAINC, "tokenize", "--tokenizer=llama.gguf", "llama.gguf", "-o", "o"], 2,
                   "expected a tokenizer in the metadata ('tokenizer.ggml.model'), found none; name the model's tokenizer.json instead")

    @unittest.skipIf(harness.os.environ.get("TRAINC_RUNTIME_ONLY") == "1", "needs the compiler")
    def test_initial_weights(self):
        self.compile(MODEL)
        Path("tokens.bin").write_bytes(array.array("H", [i * i % 7 for i in range(65)]).tobytes())
        losses = []
        shutil.copy(GOLDENS / "llama.safetensors", "llama.safetensors")
        for weights in ("llama.gguf", "llama.safetensors"):
            self.trainrun("model.plan", f"--init={weights}", "--data", "tokens.bin", f"--metrics={weights}.jsonl")
            losses.append([step["loss"] for step in metrics(f"{weights}.jsonl")])
        self.assertEqual(*losses)
        self.assertEqual(len(losses[0]), 2)
        self.compile(MODEL.replace("theta 10000", "theta 500000").replace("rope_theta = 10000.0", "rope_theta = 500000.0"))
        self.fails([TRAINRUN, "model.plan", "--init=llama.gguf", "--data", "tokens.bin"], 2,
                   "rope_theta: 10000.0 in this file, 500000.0 in the plan")

    @unittest.skipIf(harness.os.environ.get("TRAINC_RUNTIME_ONLY") == "1", "needs the compiler")
    def test_import(self):
        """A folder from a GGUF file: its text takes the file's weights, and those of the folder."""
        Path("tokens.bin").write_bytes(array.array("H", [i * i % 7 for i in range(65)]).tobytes())
        for name in ("llama", "gemma2", "gemma3", "phi3", "qwen2", "qwen3"):
            shutil.copy(GOLDENS / f"{name}.gguf", f"{name}.gguf")
            _, err = self.trainc("import", f"{name}.gguf", "--no-dropout")
            self.assertIn("warning: no tokenizer.json: ", err)
            self.assertEqual(sorted(path.name for path in Path(name).iterdir()),
                             ["config.json", "generation_config.json", "model.mlir", "model.safetensors"])
            self.trainc("compile", f"{name}/model.mlir", "--seq-len=16", "--cpu=native", "-o", "model.plan")
            evaluated = [self.trainrun("model.plan", f"--init={weights}", "--eval-data", "tokens.bin", "--metrics=eval.jsonl") and
                         [line["eval_loss"] for line in metrics("eval.jsonl") if "eval_loss" in line] for weights in (name, f"{name}.gguf")]
            self.assertEqual(*evaluated)
            self.assertEqual(len(evaluated[0]), 1)
        self.fails([TRAINC, "import", "llama.gguf"], 2, "-o llama: exists already")
        self.fails([TRAINC, "import", "sentencepiece.gguf", "-o", "s"], 2, "sentencepiece.gguf: its metadata describe LlamaForCausalLM with ", "but its tensors have 0 numbers")
        self.assertFalse(Path("s").exists())


if __name__ == "__main__":
    harness.main()
