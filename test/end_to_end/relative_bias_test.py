"""nn.relative_bias against transformers' T5 in float64 (test/golden/t5.json, make_t5_goldens.py)."""

import json
from pathlib import Path

import harness
import import_test
from harness import GOLDEN, Tensor, read_safetensors, write_safetensors
from import_test import CURVE_BOUND, PROGRAM, import_weights, write_data, write_folder

NUMBERS = json.loads((GOLDEN / "t5.json").read_text())

ENCODER = """
nn.block @layer(%x: tensor<?x?x32xf32>, %bias: tensor<4x?xf32>, %segments: tensor<?x?xi32>) {
  %n = nn.rms_norm "layer.0.layer_norm" %x eps 1e-6
  %q = nn.linear "layer.0.SelfAttention.q" %n to 32 no_bias
  %k = nn.linear "layer.0.SelfAttention.k" %n to 32 no_bias
  %v = nn.linear "layer.0.SelfAttention.v" %n to 32 no_bias
  %y, %lse = nn.attention %q, %k, %v heads 4 scale 1 bias %bias segments %segments
  %o = nn.linear "layer.0.SelfAttention.o" %y to 32 no_bias
  %h = nn.add %x, %o
  %m = nn.rms_norm "layer.1.layer_norm" %h eps 1e-6
  %wi = nn.linear "layer.1.DenseReluDense.wi" %m to 48 no_bias
  %relu = nn.relu %wi
  %wo = nn.linear "layer.1.DenseReluDense.wo" %relu to 32 no_bias
  %z = nn.add %h, %wo
  nn.return %z
}

nn.model @t5(%tokens: tensor<?x?xi32>, %segments: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "transformer.shared" %tokens of 256 by 32
  %bias = nn.relative_bias "transformer.encoder.block.0.layer.0.SelfAttention.relative_attention_bias" heads 4 buckets 12 max_distance 20
  %h = nn.repeat @layer "transformer.encoder.block" times 2 (%x, %bias, %segments)
  %n = nn.rms_norm "transformer.encoder.final_layer_norm" %h eps 1e-6
  %logits = nn.linear "classifier" %n to 3
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
""" + PROGRAM % ("t5", " x 48")

# The gradient of the weights is a 95th of the biases.
BIASES = """
nn.model @m(%tokens: tensor<?x?xi32>) {
  %bias = nn.relative_bias "bias" heads 1 buckets 12 max_distance 20 SIDES
  %weights = nn.parameter "weights" tensor<1x95xf32>
  %products = nn.mul %bias, %weights
  nn.loss "mean" %products
  %rows = nn.embedding "wte" %tokens of 256 by 1  // a plan takes data
  nn.loss "rows" %rows
}
"""


class RelativeBiasTest(import_test.ImportTestCase):
    def test_buckets(self):
        rows = import_weights.tokens()
        write_safetensors("data.safetensors", {"tokens": import_test.column([row[:-1] for row in rows])})
        Path("model").mkdir()
        write_safetensors("model/model.safetensors", {"bias.weight": Tensor("F32", [12, 1], list(range(12))),
                                                      "weights": Tensor("F32", [1, 95], [0.0] * 95),
                                                      "wte.weight": Tensor("F32", [256, 1], [0.0] * 256)})  # fmt: skip
        for kind, clause in [("causal", "causal"), ("both sides", "")]:
            plan = self.compile(BIASES.replace("SIDES", clause) + PROGRAM % ("m", " x 48"))
            self.run_steps(plan, "--steps", "1", "--checkpoint-dir", clause + "run")
            average = read_safetensors(f"{clause}run/step-00000001/optimizer.safetensors")["exp_avg.weights"]
            self.assertEqual([round(value * 2 * 95, 3) for value in average.values], NUMBERS["buckets"][kind])

    def losses(self, *options):
        plan = self.compile(ENCODER, *options)
        return self.run_steps(plan, *(["--nproc-per-node=2"] if "--ranks=2" in options else []))

    def test_encoder_of_padded_texts(self):
        numbers = NUMBERS["encoder"]
        write_folder(Path("model"), numbers)
        write_data("data.safetensors", numbers)
        self.check_training(self.compile(ENCODER), numbers)
        for options in [["--ranks=2", "--zero-stage=3", "--micro-batch=1"], ["--activation-checkpointing=full"]]:
            self.assert_close(self.losses(*options), numbers["losses"], CURVE_BOUND, options)
        self.assert_close(self.losses("--precision=bf16"), numbers["losses"], 2e-2, "bf16")
        kept = self.losses("--precision=bf16", "--keep-f32=*relative_attention_bias*")
        self.assert_close(kept, numbers["losses"], 2e-2, "bf16 with biases in f32")


if __name__ == "__main__":
    harness.main()
