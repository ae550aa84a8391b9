"""Constants, blocks with constants, imports and numbers as operands: the same numbers as the text without them, and errors at the author's lines."""

import json
from pathlib import Path

import harness
import small_gpt
from harness import TRAINC, TRAINRUN

BLOCKS = """// Layers that look back a number of tokens.
let width = 32
let heads = 4

nn.block @layer<window = length>(%x: tensor<?x?x$(width)xf32>, %positions: tensor<?xi32>) {
  %n = nn.rms_norm "norm" %x eps $eps
  %q = nn.linear "q" %n to $width
  %k = nn.linear "k" %n to $(width / heads)
  %qr = nn.rope %q positions %positions heads $heads theta $theta
  %kr = nn.rope %k positions %positions heads 1 theta $theta
  %y, %lse = nn.attention %qr, %kr, %kr heads $heads kv_heads 1 causal window $window
  %half = nn.mul %y, 0.5
  %kept = nn.max %half, -1
  %r = nn.add %x, %kept
  nn.return %r
}
"""

MODEL = """let length = 16
let eps = 1e-4
let theta = 10000.0
let vocabulary = 96
import "parts/blocks.mlir"

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" { vocab_size = $vocabulary, norm_eps = $eps, rope_theta = $theta } {
  %positions = nn.positions %tokens
  %first = nn.add %tokens, 1
  %ids = nn.min %first, $(vocabulary - 1)
  %x = nn.embedding "wte" %ids of $vocabulary by $width
  %h = nn.repeat @layer<window = 4>, @layer "h" times 4 (%x, %positions)
  %logits = nn.linear "head" %h to $vocabulary
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @p {
  model @m
  optimizer adamw(lr 1e-2)
  batch 3 x $length
  steps 4
  checkpoint_blocks "layer"
  activation_checkpointing full
}
"""


def written_out():
    """The model without constants, block constants, imports and numbers as operands."""
    block = BLOCKS.split("heads = 4\n\n")[1]
    for name, number in [("$(width / heads)", "8"), ("$(width)", "32"), ("$width", "32"), ("$heads", "4"), ("$eps", "1.0e-4"), ("$theta", "10000.0")]:
        block = block.replace(name, number)
    block = harness.edited(block, ("%half = nn.mul %y, 0.5", "%c = nn.constant 0.5\n  %half = nn.mul %y, %c"),
                           ("%kept = nn.max %half, -1", "%l = nn.constant -1\n  %kept = nn.max %half, %l"))
    local = harness.edited(block, ("@layer<window = length>", "@local"), ("$window", "4"))
    world = harness.edited(block, ("@layer<window = length>", "@layer"), (" window $window", ""))
    model = "nn.model" + MODEL.split("nn.model", 1)[1]
    for name, number in [("$(vocabulary - 1)", "95"), ("$vocabulary", "96"), ("$width", "32"), ("$eps", "1.0e-4"), ("$theta", "10000.0"), ("$length", "16")]:
        model = model.replace(name, number)
    model = harness.edited(model, ("@layer<window = 4>, @layer", "@local, @layer"), ('"layer"', '"layer, local"'),
                           ("%first = nn.add %tokens, 1", "%one = nn.constant 1 : tensor<i32>\n  %first = nn.add %tokens, %one"),
                           ("nn.min %first, 95", "nn.min %first, %last"), ("  %ids", "  %last = nn.constant 95 : tensor<i32>\n  %ids"))
    return local + world + model


class LanguageTest(harness.EndToEndTest):
    def write(self, model=MODEL, blocks=BLOCKS):
        Path("parts").mkdir(exist_ok=True)
        Path("m.mlir").write_text(model)
        Path("parts/blocks.mlir").write_text(blocks)

    def compiled(self, plan, source="m.mlir"):
        self.trainc("compile", source, "-o", plan, "--cpu=native", "-q")
        return plan

    def train(self, plan, folder, *more):
        return self.run_program(TRAINRUN, plan, "--data", "tokens.bin", "--checkpoint-dir", folder, "-q", *more)[1]

    def weights(self, folder):
        return {name: list(tensor.values) for name, tensor in harness.read_safetensors(f"{folder}/step-00000004/model.safetensors").items()}

    def fails(self, *expected):
        _, err = self.run_program(TRAINC, "compile", "m.mlir", "-o", "x.plan", code=2)
        for words in expected:
            self.assertIn(words, err)
        self.assertFalse(Path("x.plan").exists())

    def test_the_same_bits_as_the_text_with_all_numbers(self):
        small_gpt.write_tokens("tokens.bin", 40)
        self.write()
        Path("plain.mlir").write_text(written_out())
        self.train(self.compiled("m.plan"), "run")
        self.train(self.compiled("plain.plan", "plain.mlir"), "plain")
        self.assertEqual(self.weights("run"), self.weights("plain"))
        self.assertEqual(Path("run/step-00000004/config.json").read_text(), Path("plain/step-00000004/config.json").read_text())
        out, _ = self.trainc("compile", "m.mlir", "--compile-to=model")
        self.assertIn('@"layer<window = 4>", @"layer<window = 16>"', out)
        Path("expanded.mlir").write_text(out)
        again, _ = self.run_program(harness.TRAINC_OPT, "expanded.mlir")
        self.assertEqual(again, out)

    def test_checkpoints_know_what_was_imported(self):
        small_gpt.write_tokens("tokens.bin", 40)
        self.write()
        self.train(self.compiled("m.plan"), "run", "--steps=2")
        other = "its weights are of a model with another text"
        self.write(MODEL.replace("vocabulary", "words").replace("$width", "$size"), BLOCKS.replace("width", "size"))
        self.assertNotIn(other, self.train(self.compiled("renamed.plan"), "renamed", "--resume=run", "--steps=3"))
        self.write(blocks=BLOCKS.replace("nn.mul %y, 0.5", "nn.mul %y, 0.25"))
        self.assertIn(other, self.train(self.compiled("other.plan"), "other", "--resume=run", "--steps=3"))

    def test_errors_are_at_the_lines_of_the_author(self):
        self.write(MODEL.replace("nn.cross_entropy %logits", "nn.cross_entropy %logit"))
        self.fails("m.mlir:16:33: error: no value '%logit' is defined before this; did you mean '%logits'?\n  %nll, %lse = nn.cross_entropy %logit, %labels\n")
        self.write(blocks=BLOCKS.replace("to $(width / heads)", "$(width / heads)"))
        self.fails("parts/blocks.mlir:8:25: error: expected the end of the line, found '$(width / heads)'; a word is missing",
                   '  %k = nn.linear "k" %n $(width / heads)\n')
        self.write(blocks=BLOCKS.replace("heads $heads kv_heads 1", "heads 5 kv_heads 1"))
        self.fails("parts/blocks.mlir:11:14: error: nn.attention", "in scope 'h.0', applied here", "m.mlir:13:8: note:")
        self.write(blocks=BLOCKS.replace("let heads = 4", "let heads = 5"))
        self.fails("parts/blocks.mlir:8:36: error: 32 / 5 is not a whole number", "  %k = nn.linear \"k\" %n to $(width / heads)\n",
                   "m.mlir:13:18: note: in block @layer<window = 4>, which is used here")
        self.write(MODEL + 'nn.block @layer() { nn.return }\n')
        self.fails("m.mlir:28:1: error: block @layer is defined twice", "parts/blocks.mlir:5:1: note: the first definition is here")
        self.write(MODEL + 'nn.model @m(%x: tensor<?x4xf32>) { nn.loss "l" %x }\n')
        self.fails("m.mlir:28:1: error: redefinition of symbol named 'm'", "m.mlir:7:1: note: see existing symbol definition here")
        self.write(MODEL.replace("parts/", ""))
        self.fails('m.mlir:5:8: error: cannot import: ', 'blocks.mlir', 'import "blocks.mlir"\n')

    def test_imported_models_have_constants(self):
        """A size is changed at one place: wider layers and one layer more are what a config with these sizes would give."""
        config = json.loads((harness.GOLDEN / "import/llama.json").read_text())["config"]
        Path("config.json").write_text(json.dumps(config))
        self.trainc("import", "config.json", "-o", "small.mlir")
        text = Path("small.mlir").read_text()
        for line in ["let width = 32", "let kv_heads = 2", "let head_width = width / heads", "let layers = 2", '%k = nn.linear "self_attn.k_proj" %n1 to $(kv_heads * head_width) no_bias']:
            self.assertIn(line + "\n", text)
        Path("config.json").write_text(json.dumps({**config, "hidden_size": 64, "num_hidden_layers": 3}))
        self.trainc("import", "config.json", "-o", "large.mlir")
        Path("edited.mlir").write_text(harness.edited(text, ("width = 32", "width = 64"), ("layers = 2", "layers = 3")))
        self.assertEqual(*(self.trainc("compile", name, "--compile-to=model")[0] for name in ("edited.mlir", "large.mlir")))

    def test_names_of_blocks(self):
        """Settings name all copies of a block by its plain name."""
        self.write(MODEL.replace('checkpoint_blocks "layer"', 'checkpoint_blocks "lyer"'))
        self.fails("there is no block @lyer", "did you mean 'layer'?")
        self.write(MODEL.replace("batch 3 x $length", 'batch 1 x $length  zero_stage 3  ranks 2  wrap "layer"'))
        self.compiled("two.plan")
        out, _ = self.trainc("dump", "two.plan")
        self.assertIn("h.3", out)

    def test_tools_that_expand_nothing(self):
        self.write()
        _, err = self.run_program(harness.TRAINC_OPT, "m.mlir", code=1)
        self.assertIn("m.mlir:1:1: constants, imports and blocks with constants are expanded by `trainc compile FILE --compile-to=model`", err)

    def test_standard_input(self):
        """Imports are relative to the folder in which trainc runs."""
        self.write()
        out, _ = self.trainc("compile", "-", "--compile-to=model", input=MODEL.encode())
        self.assertIn('nn.block @"layer<window = 4>"', out)


if __name__ == "__main__":
    harness.main()
