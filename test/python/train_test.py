"""Training on packed chats is training on padded ones, and the model then speaks: trainc-data, trainc import --packed, trainrun."""

import json
import re
import sys
import unittest
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from support import ROOT, TOKENIZER, DataTest, chat, columns

sys.path.append(str(ROOT / "test" / "end_to_end"))
import harness

LENGTH, STEPS = 96, 4
BOUND = 1e-5  # of losses, relative

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 600, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128, "rope_theta": 500.0, "tie_word_embeddings": True}  # fmt: skip
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 600, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0}  # fmt: skip


def weights_of(text):
    """Numbers for the parameters of the llama of this test."""
    draw = np.random.default_rng(1)
    width, mlp, keys = 32, 48, 16
    shapes = {"model.embed_tokens.weight": (600, width), "model.norm.weight": (width,)}
    for layer in range(2):
        name = f"model.layers.{layer}."
        shapes |= {name + "input_layernorm.weight": (width,), name + "post_attention_layernorm.weight": (width,),
                   name + "self_attn.q_proj.weight": (width, width), name + "self_attn.k_proj.weight": (keys, width),
                   name + "self_attn.v_proj.weight": (keys, width), name + "self_attn.o_proj.weight": (width, width),
                   name + "mlp.gate_proj.weight": (mlp, width), name + "mlp.up_proj.weight": (mlp, width),
                   name + "mlp.down_proj.weight": (width, mlp)}  # fmt: skip
    return {name: draw.normal(1.0 if len(shape) == 1 else 0.0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


class TrainTest(DataTest, harness.EndToEndTest):
    def setUp(self):
        DataTest.setUp(self)

    def make_data(self):
        draw = np.random.default_rng(7)
        words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
        text = lambda: " ".join(draw.choice(words, draw.integers(1, 3)))  # noqa: E731
        rows = [{"messages": chat(*(text() for _ in range(2 * draw.integers(1, 3))))} for _ in range(18)]
        self.write_rows(rows)
        self.chat("rows.jsonl", length=[f"--pack={LENGTH}"], output="packed.safetensors")
        self.chat("rows.jsonl", length=[f"--pad={LENGTH}"], output="padded.safetensors")
        self.rows = {name: len(columns(f"{name}.safetensors")[0]["tokens"]) for name in ("packed", "padded")}
        self.assertLess(self.rows["packed"], self.rows["padded"])

    def compiled(self, config, name, *options):
        """A plan whose step is all of the data."""
        Path("model").mkdir(exist_ok=True)
        Path("model/config.json").write_text(json.dumps(config))
        self.trainc("import", "model", "-o", f"{name}.mlir", *(["--packed"] if name == "packed" else []))
        text = re.sub(r"batch 1 x \d+", f"batch {self.rows[name]} x {LENGTH}", Path(f"{name}.mlir").read_text())
        text = text.replace("lr 2e-5", "lr 1e-2").replace("steps 100", f"steps {STEPS}")
        return self.compile(text, *options, to=f"{name}.plan")

    def losses(self, plan, name, *arguments):
        self.trainrun(plan, "--data", f"{name}.safetensors", "--eval-data", f"{name}.safetensors", "--no-shuffle", "--metrics=run.jsonl", *arguments)
        lines = harness.metrics("run.jsonl")
        return [line["loss"] for line in lines if "loss" in line], [line["eval_loss"] for line in lines if "eval_loss" in line]

    def test_llama(self):
        self.make_data()
        save_file(weights_of("llama"), "weights.safetensors")
        packed = self.losses(self.compiled(LLAMA, "packed", "--generate-batch=2"), "packed", "--init=weights.safetensors", "--checkpoint-dir=run")
        padded = self.losses(self.compiled(LLAMA, "padded"), "padded", "--init=weights.safetensors", "--checkpoint-dir=other")
        self.assertEqual(len(packed[0]), STEPS)
        for a, b in zip(packed, padded, strict=True):
            self.assert_close(a, b, BOUND, "loss")
        self.assertGreater(padded[0][0] - padded[0][-1], 0.5)
        # Both plans speak, and alike; one of them continues two texts at once.
        prompt = ["--tokenizer", TOKENIZER, "--max-tokens=12", "--temperature=0",
                  *(f"--generate=<|im_start|>user\n{words}<|im_end|>\n<|im_start|>assistant\n" for words in ("one two", "three"))]  # fmt: skip
        texts = [self.trainrun(f"{name}.plan", "--resume=run", *prompt)[0] for name in ("packed", "padded")]
        self.assertEqual(*texts)
        self.assertGreater(len(texts[0].strip()), 20)

    def test_a_wrong_mask_is_seen(self):
        """Without segments, tokens see other chats, and the loss is another one."""
        self.make_data()
        save_file(weights_of("llama"), "weights.safetensors")
        whole, _ = columns("packed.safetensors")
        right = self.losses(self.compiled(LLAMA, "packed"), "packed", "--init=weights.safetensors")[0][0]
        for name, value in (("segments", 1), ("positions", 5)):
            save_file({**whole, name: np.full_like(whole[name], value)}, "packed.safetensors")
            wrong = self.losses("packed.plan", "packed", "--init=weights.safetensors")[0][0]
            self.assertGreater(abs(wrong - right), 1e-3, name)

    def test_learned_positions(self):
        """GPT-2's positions count from 0 in each chat."""
        self.make_data()
        packed = self.compiled(GPT2, "packed")
        self.losses(packed, "packed", "--steps=1", "--checkpoint-dir=run")
        resumed = [self.losses(plan, name, "--init=run/step-00000001/model.safetensors")
                   for plan, name in ((packed, "packed"), (self.compiled(GPT2, "padded"), "padded"))]  # fmt: skip
        for a, b in zip(*resumed, strict=True):
            self.assert_close(a, b, BOUND, "loss")

    def test_two_ranks(self):
        self.make_data()
        save_file(weights_of("llama"), "weights.safetensors")
        one = self.losses(self.compiled(LLAMA, "padded"), "padded", "--init=weights.safetensors")[0]
        self.assertEqual(self.rows["packed"] % 2, 0, "rows of two ranks")
        plan = self.compiled(LLAMA, "packed", "--ranks=2", "--zero-stage=3", f"--micro-batch={self.rows['packed'] // 2}")
        two = self.losses(plan, "packed", "--init=weights.safetensors", "--nproc-per-node=2")[0]
        self.assert_close(two, one, BOUND, "losses")

    def test_texts_of_one_row_cannot_be_packed(self):
        Path("model").mkdir()
        Path("model/config.json").write_text(json.dumps({**LLAMA, "pad_token_id": 0}))
        self.fails_trainc("--packed: a classifier reads one text in each row", "--packed", "--task=classification", "--labels=2")
        Path("model/config.json").write_text(json.dumps({"model_type": "bert", "architectures": ["BertForMaskedLM"], "vocab_size": 600, "hidden_size": 32,
                                                         "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}))  # fmt: skip
        self.fails_trainc("--packed: a row of an encoder holds one text", "--packed")

    def fails_trainc(self, expected, *options):
        _, err = self.trainc("import", "model", *options, "-o", "no.mlir", code=2)
        self.assertIn(expected, err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
