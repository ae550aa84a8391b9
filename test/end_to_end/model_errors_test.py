"""Invalid models, one by one: the compiler's message and its position. Exit code 2."""

import os
import re
import subprocess
from pathlib import Path

import harness
from harness import TRAINC, TRAINC_OPT, edited, program


# An edit of the golden GPT, and the expected diagnostic, beginning with the position in the file.
BAD_MODELS = {
    "unknown op": (("nn.gelu %h", "nn.gleu %h"), "gpt.mlir:11:8: error: ", "'nn.gleu' is unknown; did you mean 'nn.gelu'?"),
    "unknown block": (("nn.repeat @layer", "nn.repeat @lyaer"), "gpt.mlir:22:8: error: ", "no nn.block named @lyaer"),
    "unknown value": (("nn.add %x, %a", "nn.add %x, %b"), "gpt.mlir:8:19: error: "),
    "shape mismatch": (("nn.add %y, %m", "nn.add %y, %h"), "gpt.mlir:13:8: error: ", "tensor<3x16x32xf32>",
                       "tensor<3x16x128xf32>", "dimension 2 is 32 in one and 128 in another", "in scope 'h.0'"),
    "heads": (("heads 4", "heads 5"), "gpt.mlir:6:18: error: nn.attention", "tensor<3x16x32xf32>", "5 heads"),
    "word left out": (("%n2 to 128", "%n2 128"), "gpt.mlir:10:33: error: ", "a word is missing or unknown here"),
    "undefined parameter": (('tied "wte.weight"', 'tied "wtf.weight"'), "gpt.mlir:24:13: error: ",
                            "no parameter 'wtf.weight'", "did you mean 'wte.weight'?"),
    "duplicate parameter": (('"ln_2"', '"ln_1"'), 'gpt.mlir:9:9: error: parameter "h.0.ln_1.weight" is declared twice',
                            "gpt.mlir:3:9: note: the first declaration is here", "another name or scope"),
    "trained class weights": (("%nll, %lse = nn.cross_entropy %logits, %labels",
                               '%w = nn.parameter "class_weight" tensor<96xf32> init ones\n'
                               "  %nll, %lse = nn.cross_entropy %logits, %labels weights %w"),
                              "gpt.mlir:27:16: error: ", "operand #2 has no gradient", "parameter \"class_weight\"",
                              "freeze the parameter"),
    "missing loss": (('  nn.loss "loss" %nll\n', ""), "gpt.mlir:17:1: error: the model has no nn.loss", 'expected e.g. `nn.loss "loss"'),
    "missing batch": (("  batch 3 x 16\n", ""), "gpt.mlir:30:1: error: ", "give --micro-batch, or write `batch B`"),
    "unknown model": (("model @gpt\n", "model @gtp\n"), "gpt.mlir:30:1: error: no nn.model named @gtp", "there is nn.model @gpt"),
    "bad number": (("clip 1.0", "clip 0.0"), "gpt.mlir:34:3: error: ", "clip must be above 0, found 0"),
    "infinite clip": (("clip 1.0", "clip inf"), "gpt.mlir:34:3: error: clip must be finite, found inf"),
    "infinite rate": (("lr 1e-2", "lr inf"), "gpt.mlir:32:13: error: optimizer: lr must be finite, found inf"),
    "rate of no f32": (("lr 1e-2", "lr 1e39"), "gpt.mlir:32:13: error: optimizer: lr must be finite, found 1e+39, which is infinite in f32"),
    "total of 0": (("schedule constant", "schedule cosine(total 0)"), "gpt.mlir:33:12: error: 'total' must be a whole number of steps from 1 to 1099511627776, found 0; leave it out for the steps of the run"),
    "no steps to decay in": (("schedule constant", "schedule linear(warmup 9, total 9)"), "gpt.mlir:33:12: error: schedule: after a warmup of 9 steps, a total of 9 leaves none in which the rate falls"),
    "infinite minimum": (("schedule constant", "schedule cosine(minimum inf)"), "gpt.mlir:33:12: error: schedule: 'minimum' must be a finite number, 0 or more, found inf"),
    "exponent of bytes": (("clip 1.0", "memory_limit 1e9"), "gpt.mlir:34:16: error: expected a number of bytes above 0", "such as 16GiB, found 1e9; write 1000000000"),
    "quoted bytes": (("clip 1.0", 'memory_limit "16GiB"'), "gpt.mlir:34:16: error: expected a number without quotes, found \"16GiB\"; write `memory_limit 16GiB`"),
    "equals sign": (("clip 1.0", "zero_stage = 3"), "gpt.mlir:34:14: error: expected the value of 'zero_stage', found '='; write `zero_stage 3`"),
    "equals sign before a word": (("clip 1.0", "precision=bf16"), "gpt.mlir:34:12: error: expected the value of 'precision', found '='; write `precision bf16`"),
    "colon": (("clip 1.0", 'offload: "optimizer, gradients"'), 'gpt.mlir:34:10: error: expected the value of \'offload\', found \':\'; write `offload "optimizer, gradients"`'),
    "brackets": (("clip 1.0", "zero_stage(3)"), "gpt.mlir:34:13: error: expected the value of 'zero_stage', found '('; write `zero_stage 3`"),
    "equals sign in brackets": (("lr 1e-2", "lr=1e-2"), "gpt.mlir:32:21: error: expected the value of 'lr', found '='; write `lr 1e-2`"),
    "list without quotes": (("clip 1.0", "wrap model"), 'gpt.mlir:34:8: error: expected a list in quotes, such as wrap "blocks", found model; write `wrap "model"`'),
    "numbers without quotes": (("clip 1.0", "checkpoint_keep 48x15,30"), 'gpt.mlir:34:19: error: expected a list in quotes', 'found 48x15,30; write `checkpoint_keep "48x15,30"`'),
    "word with dashes without quotes": (("clip 1.0", "gpu h100-sxm"), 'gpt.mlir:34:7: error: expected a word in quotes, as it has dashes, found h100-sxm; write `gpu "h100-sxm"`'),
    "setting with dashes": (("clip 1.0", "zero-stage 3"), "gpt.mlir:34:3: error: unknown word 'zero-stage' in train.program; write `zero_stage`"),
    "unknown value": (("clip 1.0", "precision float16"), "gpt.mlir:34:13: error: precision: expected fp32, bf16 or fp16, found 'float16'; did you mean 'fp16'?"),
    "former setting": (("clip 1.0", "checkpoint_stride 2"), 'gpt.mlir:34:3: error: \'checkpoint_stride\' is not a setting; write `checkpoint_keep "0,100,0,100"` to recompute every second use'),
    "property that there is not": (("train.program @golden", '"train.program"() <{sym_name = "p", memroy = #train.settings<{memory_limit = 5}>}> : () -> ()\ntrain.program @golden'),
                                   "gpt.mlir:30:37: error: ", "'train.program' has no property 'memroy'", "did you mean 'memory'?"),
    "attribute of another kind": (("train.program @golden {", "train.program @golden attributes {memory = 5 : i64} {"), "gpt.mlir:30:1: error: ", "attribute 'memory' failed to satisfy constraint: settings of one theme, by name"),
    "given twice": (("clip 1.0", "clip 1.0\n  clip 2.0"), "gpt.mlir:35:3: error: ", "'clip' is given twice"),
    "key given twice": (("clip 1.0", 'export "a.json" {a = 1, b = {c = 1, c = 2}}\n  clip 1.0'), "gpt.mlir:34:39: error: ", "'c' is given twice"),
    "number without a digit before its point": (("lr 1e-2", "lr .01"), "gpt.mlir:32:23: error: expected a number that begins with a digit, found '.01'; write 0.01"),
    "float32": (("tensor<?x?x32xf32>", "tensor<?x?x32xfloat32>"), "gpt.mlir:2:35: error: expected the type of an element, found 'float32'; did you mean 'f32'?"),
    "misspelt value": (("%logits, %labels", "%logits, %label"), "gpt.mlir:26:42: error: no value '%label' is defined before this; did you mean '%labels'?"),
    "no % before a value": (("nn.gelu %h", "nn.gelu h"), "gpt.mlir:11:16: error: expected a value, which begins with %, found 'h'; did you mean '%h'?"),
    "no % before a result": (("%g = nn.gelu", "g = nn.gelu"), "gpt.mlir:11:3: error: expected a line such as `%y = nn.gelu %x`, found 'g'; values begin with %: did you mean '%g'?"),
    "no nn.": (("nn.gelu", "gelu"), "gpt.mlir:11:8: error: 'gelu' is not an op; did you mean 'nn.gelu'?"),
    "comma in a batch": (("batch 3 x 16", "batch 3, 16"), "gpt.mlir:35:10: error: expected `x` with blanks around it between the sizes, found ','; write `batch 3 x 16`"),
    "star in a batch": (("batch 3 x 16", "batch 3 * 16"), "gpt.mlir:35:11: error: expected `x` with blanks around it", "found '*'; write `batch 3 x 16`"),
    "exponent of a count": (("steps 10", "steps 1e3"), "gpt.mlir:36:9: error: expected a whole number, found '1e3'; write 1000"),
    "units of 1000": (("steps 10", "memory_limit 16GB"), "gpt.mlir:36:18: error: expected KiB, MiB, GiB or TiB (powers of 1024), found GB; write 16GiB"),
    "open block": (("nn.return %z\n}", "nn.return %z\n"), "gpt.mlir:17:1: error: expected '}', found the next block, model or program; nothing closes the '{' of line 2, `nn.block @layer("),
    "semicolon": (("nn.gelu %h approximate tanh", "nn.gelu %h approximate tanh;"), "gpt.mlir:11:35: error: ';' has no meaning here; lines end without it"),
    "byte-order mark": (("// The tiny", "\ufeff// The tiny"), "gpt.mlir:1:1: error: '\\ufeff' (U+FEFF) has no meaning here; it is a byte-order mark; save the file as UTF-8 without one"),
    "typographic minus": (("lr 1e-2", "lr 1e\u22122"), "gpt.mlir:32:23: error: '\u2212' (U+2212) has no meaning here; a minus is the character '-'"),
    "brackets of precision": (("clip 1.0", "precision bf16 (params = f32)"), "gpt.mlir:34:18: error: expected the next setting, found '('; write each setting of precision alone, such as `reduce_type bf16`"),
    "brackets of sharding": (("clip 1.0", "sharding(prefetch = 2)"), "gpt.mlir:34:3: error: 'sharding' is not a setting; write each setting of sharding alone, such as `prefetch 2`"),
    "foreign setting": (("schedule constant", "schedule constant(minimum 1e-3)"), "gpt.mlir:33:21: error: 'constant' has no setting 'minimum'; write `schedule cosine(minimum 1e-5)`"),
    "option of another program": (("clip 1.0", "max_grad_norm 1.0"), "gpt.mlir:34:3: error: 'max_grad_norm' is not a setting; write `clip 1.0`"),
    "value of another program": (("clip 1.0", 'offload "nvme"'), "gpt.mlir:34:11: error: offload: expected none, optimizer", "found 'nvme'; write `offload \"optimizer\"` and `offload_to disk`"),
    "disk elsewhere": (("clip 1.0", "offload_to nvme"), "gpt.mlir:34:14: error: offload_to: expected disk or host, found 'nvme'; did you mean 'disk'?"),
    "batch norm": (("nn.gelu %h", "nn.batch_norm %h"), "gpt.mlir:11:8: error: 'nn.batch_norm' is unknown; this norm is absent; there are `nn.layer_norm` and `nn.rms_norm`"),
    "power": (("nn.gelu %h", "nn.pow %h"), "gpt.mlir:11:8: error: 'nn.pow' is unknown; it is `nn.square` here, or composed of `nn.log`, `nn.mul` and `nn.exp`"),
    "chunk": (("nn.gelu %h", "nn.chunk %h"), "gpt.mlir:11:8: error: 'nn.chunk' is unknown; write `nn.split`"),
    "leaky ReLU": (("nn.gelu %h", "F.leaky_relu %h"), "gpt.mlir:11:8: error: 'F.leaky_relu' is not an op; it is composed here, of `nn.max` and `nn.mul`"),
    "Python": (("nn.block @layer", "import torch\nnn.block @layer"), "gpt.mlir:2:8: error: expected the name of a file in double quotes, as in `import \"blocks.mlir\"`, found 'torch'; Python models are not read; docs/reference/from-pytorch.md translates their parts"),
    "misspelt word of an op": (('tied "wte.weight"', 'tie "wte.weight"'), "gpt.mlir:24:36: error: 'tie' is not a word of nn.linear; did you mean 'tied'?"),
}


class ModelErrors(harness.EndToEndTest):
    def test_models(self):
        for name, (edit, *expected) in BAD_MODELS.items():
            with self.subTest(name):
                Path("gpt.mlir").write_text(edited(program("gpt"), edit))
                err = self.fails([TRAINC, "compile", "gpt.mlir", "-o", "x.plan"], 2, *expected)
                self.assertLess(err.count("\n"), 16, "too long to be read")
                self.assertFalse(Path("x.plan").exists())

    def test_no_program(self):
        Path("none.mlir").write_text("\n// nothing\n")
        self.fails([TRAINC, "compile", "none.mlir", "-o", "x.plan"], 2, "none.mlir:1:1: error: no train.program in this file")

    def test_warmup_beyond_the_last_step(self):
        Path("gpt.mlir").write_text(edited(program("gpt"), ("schedule constant", "schedule cosine(warmup 200)")))
        _, err = self.trainc("compile", "gpt.mlir", "-o", "x.plan")
        self.assertRegex(err, r"\Agpt.mlir:33:3: warning: schedule: a run of 10 steps ends within the warmup of 200, before ")
        _, err = self.run_program(harness.TRAINRUN, "x.plan", "--data", harness.GOLDEN / "gpt" / "data.safetensors", "--steps=3", "--log-level=warning")
        self.assertEqual(err, "warning: a run of 3 steps ends within the schedule's warmup of 200 steps, before the learning rate reaches 0.01\n")

    def test_steps_beyond_the_total(self):
        Path("gpt.mlir").write_text(edited(program("gpt"), ("schedule constant", "schedule cosine(total 4)")))
        _, err = self.trainc("compile", "gpt.mlir", "-o", "x.plan")
        self.assertRegex(err, r"\Agpt.mlir:33:3: warning: schedule: a run of 10 steps goes beyond the total of 4, after which the rate is 0 ")
        train = lambda *arguments: self.run_program(harness.TRAINRUN, "x.plan", "--data", harness.GOLDEN / "gpt" / "data.safetensors", "-q",
                                                    "--checkpoint-dir=run", *arguments)[1]
        self.assertEqual(train("--steps=4"), "")
        self.assertEqual(train("--steps=4", "--resume"), "warning: nothing is left to train: step 4 is done, and the training ends with step 4; give --steps a number "
                         "above 4 to go on, with a plan whose schedule has a larger total than 4: the rate is 0 after it\n")
        self.assertEqual(train("--steps=5", "--resume"), "warning: a run of 5 steps goes beyond the schedule's total of 4 steps, after which the learning rate is 0: later steps "
                         "train nothing; compile for a larger total\n")
        Path("gpt.mlir").write_text(edited(program("gpt"), ("schedule constant", "schedule cosine(total 4, minimum 1e-5)")))
        self.assertNotIn("total", self.trainc("compile", "gpt.mlir", "-o", "x.plan")[1])
        self.assertNotIn("train nothing", train("--steps=6", "--resume", "--allow-changes"))

    def test_model_from_standard_input(self):
        done = subprocess.run([TRAINC, "compile", "-", "--compile-to=model"], input=program("gpt"), text=True, capture_output=True)
        self.assertEqual((done.returncode, "nn.model @gpt(" in done.stdout), (0, True))

    def test_what_is_no_text_of_a_model(self):
        """Special files are rejected without blocking, and nesting beyond the stack is not parsed."""
        os.mkfifo("pipe")
        os.mkdir("folder")
        for path, kind in [("/dev/zero", "a device"), ("pipe", "a pipe"), ("folder", "a folder")]:
            self.fails([TRAINC, "compile", path, "-o", "x.plan"], 2, f"{path}: expected a file, found {kind}; - reads standard input")
            self.fails([TRAINC, "dump", path], 2, f"{path}: expected a file, found {kind}")
        for content, expected in [(b"nn.model\n\0", "x.mlir:2: expected a model's text in UTF-8, found the byte 0x00"),
                                  ("nn.model \u009bm".encode(), "x.mlir:1: expected a model's text, found the control character U+009B"),
                                  ("nn.model // \u202em".encode(), "x.mlir:1: expected a model's text, found the control character U+202E"),
                                  (b"nn.model \x93m", "x.mlir:1: expected a model's text in UTF-8, found the byte 0x93")]:
            Path("x.mlir").write_bytes(content)
            self.fails([TRAINC, "compile", "x.mlir", "-o", "x.plan"], 2, expected)
        Path("mlp.mlir").write_text(program("mlp"))
        self.trainc("compile", "mlp.mlir", "-o", "mlp.plan")
        self.fails([TRAINC, "compile", "mlp.plan"], 2, "error: compile: mlp.plan is a plan, compiled already; `trainrun mlp.plan` runs it")
        err = self.fails([TRAINC, "compile", "mlp.plan", "-o", "x.plan"], 2, "mlp.plan: expected a model's text, found a plan",
                         "`trainrun mlp.plan` runs it, `trainc dump mlp.plan` prints it")
        self.assertTrue(err.isascii() and err.replace("\n", "").isprintable(), err)
        Path("red\x1b[31m.mlir").write_text(edited(program("mlp"), ("nn.relu", "nn.rleu")))
        err = self.fails([TRAINC, "compile", "red\x1b[31m.mlir", "-o", "x.plan"], 2, "red\\x1b[31m.mlir:", "did you mean 'nn.relu'?")
        self.assertNotIn("\x1b", err)
        Path("bytecode.mlir").write_bytes(b"ML\xefR" + b"{" * 1000)
        self.fails([TRAINC, "compile", "bytecode.mlir", "-o", "x.plan"], 2, "bytecode.mlir: expected a model's text, found MLIR bytecode")
        for level in ["[", "tensor<", "tuple<", "loc(fused[", "module {\n", "(", "{a = "]:
            with self.subTest(level=level):
                Path("deep.mlir").write_text("// [[[[\n" + level * 100000)
                self.fails([TRAINC, "compile", "deep.mlir", "-o", "x.plan"], 2, re.compile(r"deep.mlir:\d+:\d+: brackets are nested more than 500 deep"))
        for name, text in {
            "locations": '#l0 = loc("a")\n' + "".join(f'#l{i + 1} =\nloc("a"(#l{i}))\n' for i in range(20000)),
            "types": "!t0 = i32\n" + "".join(f"!t{i + 1} = tuple<!t{i}>\n" for i in range(20000)),
        }.items():
            with self.subTest(name):
                Path("deep.mlir").write_text(text)
                self.fails([TRAINC, "compile", "deep.mlir", "-o", "x.plan"], 2, re.compile(r"error: deep.mlir:\d+:\d+: brackets are nested more than 500 deep"))
                self.fails([TRAINC_OPT, "deep.mlir"], 1, re.compile(r"error: deep.mlir:\d+:\d+: brackets are nested more than 500 deep"))
        for expression in ["(d0) -> (" + "-" * 100000, "(d0) : (0 <= d0, 0 >= d0" + " floordiv 3" * 100000]:
            Path("deep.mlir").write_text("#m = affine_map<(d0) -> (d0)>\n#deep = affine_set<" + expression)
            self.fails([TRAINC, "compile", "deep.mlir", "-o", "x.plan"], 2, "error: deep.mlir:2:", "an affine map of more than 1000 bytes")
        text = '#l0 = loc("a")\n' + "".join(f'#l{i + 1} = loc("a"(#l{i}))\n' for i in range(200))
        Path("shallow.mlir").write_text(text + "module {} loc(#l200)\n")
        self.run_program(TRAINC_OPT, "shallow.mlir", "--mlir-print-debuginfo")
        out, _ = self.run_program("bash", "-c", f"{TRAINC_OPT} <(cat shallow.mlir) --mlir-print-debuginfo")
        self.assertIn("#loc200", out)
        text = '  export "x.json" {s = "' + "[" * 1000 + '\\"{"} // "' + "(" * 1000 + "\n"
        Path("strings.mlir").write_text(edited(program("gpt"), ("  clip 1.0\n", text)))
        self.trainc("compile", "strings.mlir", "--compile-to=model")

    def test_blocks_within_blocks(self):
        deep = "".join(f'nn.block @b{i}(%x: tensor<?x4xf32>) {{\n  %y = nn.apply @b{i + 1} "" (%x)\n  nn.return %y\n}}\n' for i in range(10000))
        Path("deep.mlir").write_text(deep + """nn.block @b10000(%x: tensor<?x4xf32>) {\n  nn.return %x\n}
            nn.model @m(%x: tensor<?x4xf32>) {\n  %y = nn.apply @b0 "" (%x)\n  nn.loss "loss" %y\n}
            train.program @p { model @m optimizer sgd batch 2 }""")
        self.fails([TRAINC, "compile", "deep.mlir", "-o", "x.plan"], 2, "deep.mlir:398:8: error: ", "lies within 100 other blocks")

    def test_numbers_that_the_parser_would_change(self):
        signed = "expected a whole number from -9223372036854775808 to 9223372036854775807, found "
        def export(value):
            return ("  clip 1.0\n", '  export "x.json" {a = %s}\n' % value)
        for edit, expected in [(export("9223372036854775808"), signed + "9223372036854775808; a larger number, where it may have a fraction, is written with a point, such as 1.0e30"),
                               (export("1000000000000000019884624838656"), signed + "1000000000000000019884624838656"),
                               (export("[1, {b = -9223372036854775809}]"), signed + "-9223372036854775809"),
                               (export("0xFFFFFFFFFFFFFFFF"), signed + "0xFFFFFFFFFFFFFFFF"),
                               (export("1.0e-60 : f32"), "expected a number of f32, found 1.0e-60, which is 0 there"),
                               (export("1.0e60 : f32"), "expected a number of f32, found 1.0e60, which is infinite there"),
                               (export("255 : i8"), "expected a whole number from -128 to 127, found 255"),
                               (export("4294967295 : si32"), "expected a whole number from -2147483648 to 2147483647, found 4294967295"),
                               (export("256 : ui8"), "expected a whole number from 0 to 255, found 256"),
                               (export("1.0e-400"), "expected a number of f64, found 1.0e-400, which is 0 there"),
                               (export("1.0e400"), "expected a number of f64, found 1.0e400, which is infinite there"),
                               (("%logits, %labels", "%logits, %labels ignore 18446744073709551615"), signed + "18446744073709551615"),
                               (("%logits, %labels", "%logits, %labels {ignore = 18446744073709551615}"), signed + "18446744073709551615"),
                               (("nn.split %qkv into 3", "nn.split %qkv into 3 dim 18446744073709551615"), signed + "18446744073709551615"),
                               (("nn.split %qkv into 3", "nn.split %qkv into 3e0"), "expected a whole number, found '3e0'; write 3"),
                               (("nn.split %qkv into 3", "nn.split %qkv into 0"), "expected a whole number from 1 to 4096, found 0"),
                               (("nn.split %qkv into 3", "nn.split %qkv into -1"), "expected a whole number from 1 to 4096, found -1"),
                               (("nn.split %qkv into 3", "nn.split %qkv into 9223372036854775807"), "expected a whole number from 1 to 4096, found 9223372036854775807"),
                               (("batch 3 x 16", "batch 18446744073709551615 x 16"), signed),
                               (("lr 1e-2", "lr 1e-400"), "expected a number of f64, found 1e-400, which is 0 there")]:
            with self.subTest(expected=expected, edit=edit[1]):
                Path("gpt.mlir").write_text(edited(program("gpt"), edit))
                self.fails([TRAINC, "compile", "gpt.mlir", "-o", "x.plan"], 2, re.compile(r"gpt.mlir:\d+:\d+: error: " + re.escape(expected)))
        Path("gpt.mlir").write_text(edited(program("gpt"), export("-9223372036854775808, b = 9223372036854775807, c = 127 : i8, d = 255 : ui8, "
                                                                  "e = 18446744073709551615 : ui64, f = 1.0e-300, g = [0x10, 5.0e-324]")))
        self.trainc("compile", "gpt.mlir", "--compile-to=model")

    def test_numbers_of_many_digits(self):
        """The parser would take minutes for them."""
        for edit in [("lr 1e-2", "lr 1" + "0" * 50000), ("batch 3", "batch 3" + "0" * 50000), ("tensor<?x?x32xf32>", "tensor<?x?x32" + "0" * 50000 + "xf32>"),
                     ("lr 1e-2", "lr 0." + "0" * 50000 + "1"), ("lr 1e-2", "lr 0x" + "7" * 50000)]:
            Path("gpt.mlir").write_text(edited(program("gpt"), edit))
            self.fails([TRAINC, "compile", "gpt.mlir", "-o", "x.plan"], 2, re.compile(r"gpt.mlir:\d+:\d+: expected a number of at most 1000 digits, found one of 50\d\d\d"), timeout=20)
            self.fails([TRAINC_OPT, "gpt.mlir"], 1, "expected a number of at most 1000 digits", timeout=20)

    def test_clauses_in_any_order(self):
        Path("m.mlir").write_text("""nn.model @m(%x: tensor<?x6xf32>, %labels: tensor<?xi32>) {
  %l = nn.linear "fc" %x no_bias init normal(0.1) to 3
  %z = nn.linear "z" %l layout out_in to 3
  %w = nn.constant 0.5 : tensor<3xf32>
  %n, %s = nn.cross_entropy %z, %labels weights %w smoothing 0.1 ignore -1
  nn.loss "loss" %n
}
train.program @p { model @m optimizer sgd(lr 0.1) batch 4 }
""")
        out, _ = self.trainc("compile", "m.mlir", "--compile-to=model")
        self.assertIn('nn.linear "fc" %x to 3 no_bias init normal(0.1)', out)
        self.assertRegex(out, r"nn.cross_entropy %\w+, %\w+ ignore -1 smoothing 0.1 weights %\w+")
        for wrong, expected in [("smoothing 0.1 smoothing 0.2", "'smoothing' is given twice"), ("weights", "expected a value, which begins with %")]:
            Path("wrong.mlir").write_text(edited(Path("m.mlir").read_text(), ("weights %w smoothing 0.1 ignore -1", wrong)))
            self.fails([TRAINC, "compile", "wrong.mlir", "-o", "x.plan"], 2, "wrong.mlir:5:", expected)

    def test_long_names_of_exports(self):
        Path("gpt.mlir").write_text(edited(program("gpt"), ("  clip 1.0", '  export "' + "x" * 256 + '" {}')))
        self.fails([TRAINC, "compile", "gpt.mlir", "-o", "x.plan"], 2, "expected a plain file name of at most 255 bytes, found 256 bytes")


if __name__ == "__main__":
    harness.main()
