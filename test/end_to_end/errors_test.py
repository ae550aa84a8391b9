"""Bad input, one by one: who is told what. Exit code 2 for bad usage and input, 1 for a run that failed."""

import array
import json
import math
import os
import re
import resource
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from harness import GOLDEN, TRAINC, TRAINC_CHECK, TRAINC_OPT, TRAINRUN, edited, program, read_safetensors, write_safetensors

# An edit of the golden GPT, and what its diagnostic must say, the position in the file first.
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
    "given twice": (("clip 1.0", "clip 1.0\n  clip 2.0"), "gpt.mlir:35:3: error: ", "'clip' is given twice"),
    "number without a digit before its point": (("lr 1e-2", "lr .01"), "gpt.mlir:32:23: error: expected a number that begins with a digit, found '.01'; write 0.01"),
    "float32": (("tensor<?x?x32xf32>", "tensor<?x?x32xfloat32>"), "gpt.mlir:2:35: error: expected the type of an element, found 'float32'; did you mean 'f32'?"),
    "misspelt value": (("%logits, %labels", "%logits, %label"), "gpt.mlir:26:42: error: no value '%label' is defined before this; did you mean '%labels'?"),
    "no % before a value": (("nn.gelu %h", "nn.gelu h"), "gpt.mlir:11:16: error: expected a value, which begins with %, found 'h'; did you mean '%h'?"),
    "no % before a result": (("%g = nn.gelu", "g = nn.gelu"), "gpt.mlir:11:3: error: expected a line such as `%y = nn.gelu %x`, found 'g'; values begin with %: did you mean '%g'?"),
    "no nn.": (("nn.gelu", "gelu"), "gpt.mlir:11:8: error: 'gelu' is no op; did you mean 'nn.gelu'?"),
    "comma in a batch": (("batch 3 x 16", "batch 3, 16"), "gpt.mlir:35:10: error: expected `x` with blanks around it between the sizes, found ','; write `batch 3 x 16`"),
    "star in a batch": (("batch 3 x 16", "batch 3 * 16"), "gpt.mlir:35:11: error: expected `x` with blanks around it", "found '*'; write `batch 3 x 16`"),
    "exponent of a count": (("steps 10", "steps 1e3"), "gpt.mlir:36:10: error: expected a whole number, found '1e3'; write 1000"),
    "units of 1000": (("steps 10", "memory_limit 16GB"), "gpt.mlir:36:18: error: expected KiB, MiB, GiB or TiB (powers of 1024), found GB; write 16GiB"),
    "open block": (("nn.return %z\n}", "nn.return %z\n"), "gpt.mlir:17:1: error: expected '}', found the next block, model or program; nothing closes the '{' of line 2, `nn.block @layer("),
    "semicolon": (("nn.gelu %h approximate tanh", "nn.gelu %h approximate tanh;"), "gpt.mlir:11:35: error: ';' has no meaning here; lines end without it"),
    "byte-order mark": (("// The tiny", "\ufeff// The tiny"), "gpt.mlir:1:1: error: '\ufeff' (U+FEFF) has no meaning here; it is a byte-order mark; save the file as UTF-8 without one"),
    "typographic minus": (("lr 1e-2", "lr 1e\u22122"), "gpt.mlir:32:23: error: '\u2212' (U+2212) has no meaning here; a minus is the character '-'"),
    "everything frozen": (("clip 1.0", 'group "*" frozen'), "gpt.mlir:30:1: error: all parameters are frozen, so that nothing is left to train; leave some out of the groups, or "
                          'add a later `group "NAME" trained`'),
    "foreign setting": (("schedule constant", "schedule constant(minimum 1e-3)"), "gpt.mlir:33:21: error: 'constant' has no setting 'minimum'; it has warmup"),
}


class CompileErrors(harness.EndToEndTest):
    def test_models(self):
        for name, (edit, *expected) in BAD_MODELS.items():
            with self.subTest(name):
                Path("gpt.mlir").write_text(edited(program("gpt"), edit))
                err = self.fails([TRAINC, "compile", "gpt.mlir", "-o", "x.plan"], 2, *expected)
                self.assertLess(err.count("\n"), 16, "too long to be read")
                self.assertFalse(Path("x.plan").exists())

    def test_options_that_do_nothing(self):
        Path("gpt.mlir").write_text(program("gpt"))
        def warnings(*options):
            _, err = self.trainc("compile", "gpt.mlir", "--compile-to=step", *options)
            return re.findall("warning: (.*)", err)

        does_nothing = "{} does nothing on one rank; give --ranks=N as well, or leave it out"
        self.assertEqual(warnings("--zero-stage=2", "--wrap=layer", "--allgather-bucket-size=5"),
                         [does_nothing.format(option) for option in ["--zero-stage", "--wrap", "--allgather-bucket-size"]])
        self.assertEqual(warnings("--reproducible=ranks", "--wrap=layer"), [])
        self.assertEqual(warnings("--ranks=2", "--allgather-bucket-size=5", "--reduce-bucket-size=5"),
                         ["sharding: gather_bucket (--allgather-bucket-size) does nothing with zero_stage 0, which gathers nothing"])
        self.assertEqual(warnings("--ranks=2", "--zero-stage=1", "--allgather-bucket-size=5"), [])

    def test_options(self):
        Path("gpt.mlir").write_text(program("gpt"))
        compile = [TRAINC, "compile", "gpt.mlir"]
        self.trainc("compile", "gpt.mlir", "-o", "x.plan", "--report=x.json", "--cpu=native")
        process = json.loads(Path("x.json").read_text())["memory"]["unplanned"] >> 10  # KiB of what no plan places
        os.unlink("x.plan")
        for arguments, *expected in [
            ([], "-o PLAN", "--compile-to=PHASE"),
            (["-o", "x.plan", "--compile-to=step"], "-o PLAN and --compile-to=PHASE contradict each other"),
            (["-o", "x.plan", "--seq-len=17"], "17 tokens", "16 positions", "gpt.mlir:20"),
            (["-o", "x.plan", "--micro-batch=0"], "--micro-batch", "from 1 to", "'0'"),
            (["-o", "x.plan", "--eval-batch=0"], "--eval-batch", "from 1 to", "'0'"),
            (["--compile-to=spmd", "--ranks=6", "--zero-stage=1", "--hybrid-shard=4"], "gpt.mlir:", "hybrid_shard: 6 ranks are no groups of 4"),
            (["--compile-to=spmd", "--ranks=2", "--wrap=layers"], "gpt.mlir:", "wrap (--wrap): there is no block @layers", "did you mean 'layer'?"),
            (["--compile-to=spmd", "--reproducible=ranks", "--accumulate=6"], "gpt.mlir:", "--accumulate must be a power of two, found 6"),
            (["--compile-to=spmd", "--reproducible=ranks", "--sync-gradients=micro_step"], "gpt.mlir:", "leave sync out"),
            (["-o", "x.plan", "--precision=int8"], "--precision: expected one of fp32, bf16, fp16, found 'int8'"),
            (["-o", "x.plan", "--hybrid-shard=1"], "--hybrid-shard", "expected a whole number from 2 to 65536"),
            (["-o", "x.plan", "--activation-checkpointing=full"], "--activation-checkpointing: expected one of none, selective, found 'full'"),
            (["-o", "x.plan", "--target=tpu"], "--target", "tpu", "cpu"),
            (["-o", "x.plan", "--micro-batch=1e3"], "--micro-batch: expected a whole number", "found '1e3'; write 1000"),
            (["-o", "x.plan", "--ranks=2", "--ranks", "4"], "--ranks is given twice; give it once"),
            (["-o", "x.plan", "-o", "y.plan"], "-o is given twice; give it once"),
            (["-o", "x.plan", "--micro-batch=010"], "--micro-batch: expected a whole number", "without leading zeros, found '010'"),
            (["-o", "x.plan", "--seq-len=99999999999999999999"], "--seq-len: expected a whole number", "found '99999999999999999999'"),
            (["-o", "x.plan", "--micro-batch=4x"], "--micro-batch: expected a whole number", "found '4x'"),
            (["-o", "x.plan", "--report=", "--micro-batch=4"], "error: --report= has no value"),
            (["-o", ""], "error: the argument behind -o is empty"),
            *((["-o", "x.plan", f"--memory-limit={size}"], f"--memory-limit: expected a number of bytes above 0, such as 16GiB, found '{size}'")
              for size in ["0", "0GiB", "010GiB", "-1", "16XiB", "99999999999999GiB", "9223372036854775808"]),
            (["-o", "x.plan", "--memory-limit=16GB"], "--memory-limit: expected KiB, MiB, GiB or TiB (powers of 1024), found '16GB'; write 16GiB\n"),
            (["--compile-to=step", "--report=r.json"], "--report and --compile-to=PHASE contradict each other: a report is of a plan, none is made\n"),
            (["--compile-to=foo"], "--compile-to: expected one of model, step, spmd, scheduled, plan, found 'foo'"),
            (["--compile-to=0"], "--compile-to: expected one of model, step, spmd, scheduled, plan, found '0'"),
            (["-o", "x.plan", "--fp32-products=1"], "--fp32-products: expected one of fma, bf16x3, tf32, found '1'"),
            (["-o", "x.plan", "--micro-batch=1048577"], "--micro-batch: expected a whole number from 1 to 1048576", "found '1048577'"),
            (["-o", "x.plan", "--accumulate=65537"], "--accumulate: expected a whole number from 1 to 65536", "found '65537'"),
            (["-o", "none/x.plan"], "-o none/x.plan: the folder 'none' does not exist; create it, or name another"),
            (["-o", "gpt.mlir/x.plan"], "-o gpt.mlir/x.plan: 'gpt.mlir' is no folder; name another"),
            (["-o", "/dev/null"], "-o /dev/null: /dev/null: expected a file, found a device"),
            (["-o", "."], "-o .: .: expected a file, found a folder"),
            (["-o", "gpt.mlir"], "-o gpt.mlir would replace the model 'gpt.mlir'; name another file"),
            (["-o", "./gpt.mlir"], "-o ./gpt.mlir would replace the model 'gpt.mlir'"),
            (["-o", "x.plan", "--report=gpt.mlir"], "--report=gpt.mlir would replace the model 'gpt.mlir'"),
            (["-o", "x.plan", "--report=./x.plan"], "--report=./x.plan would replace -o x.plan; name two files"),
            (["-o", "x.plan", f"--memory-limit={process + 500}kib"], "gpt.mlir:30:1: error: the plan needs", f"the memory limit allows {(process + 500) / 1024:.2f} MiB ({(process + 500) << 10})",
             re.compile(r"\): activations [0-9.]+ KiB \(\d+%\), optimizer states 227.*, parameters 113"),
             "--micro-batch=1 --accumulate=3"),
            (["-o", "x.plan", f"--memory-limit={process + 400}kib"], "a smaller --micro-batch keeps fewer", "with --accumulate gradients would stay"),
            (["-o", "x.plan", f"--memory-limit={process + 400}kib", "--micro-batch=1"],
             "; --activation-checkpointing=selective keeps fewer activations; the micro-batch is one sample already; a shorter --seq-len keeps fewer"),
            (["-o", "x.plan", f"--memory-limit={process + 400}kib", "--micro-batch=1", "--activation-checkpointing=selective"],
             re.compile(r"\(\d+%\); --ranks=N --zero-stage=3 divides states over processes; the micro-batch is one sample already; a shorter --seq-len keeps fewer")),
            (["-o", "x.plan", f"--memory-limit={process + 100}kib"], "alone take 340.51 KiB", "whatever the batch; --ranks=N --zero-stage=3 divides states over processes; else freeze parameters"),
            (["-o", "x.plan", "--frobnicate"], "error: --frobnicate is unknown\nRun trainc compile --help for the options\n"),
            (["-o", "x.plan", "--microbatch=4"], "error: --microbatch is unknown; did you mean --micro-batch?\n"),
            (["-o", "x.plan", "-seq-len", "4"], "error: -seq-len is unknown; did you mean --seq-len?\n"),
            (["-o", "x.plan", "\u2013-seq-len", "4"], "error: \u2013-seq-len is unknown; did you mean --seq-len?\n"),
            (["-o", "x.plan", "--batch_size=4"], "error: --batch_size: it is called --micro-batch here\n"),
            (["-o", "x.plan", "--learning-rate=4"], "error: --learning-rate: it has no option. Write it in the model's train.program, as in `optimizer adamw(lr 1e-3)`\n"),
            (["-o", "--report=r.json"], "error: -o has no value, as --report=r.json follows; if that is the value, write -o=--report=r.json\n"),
            (["--report", "-o", "x.plan"], "error: --report has no value, as -o follows; if that is the value, write --report=-o\n"),
            (["--report"], "error: --report: 1 required FILE.json missing\n"),
        ]:
            with self.subTest(arguments=arguments):
                self.fails([*compile, *arguments], 2, *expected)
        self.assertEqual(Path("gpt.mlir").read_text(), program("gpt"))
        self.fails([TRAINC, "compile", "none.mlir", "-o", "x.plan"], 2, "cannot open input file 'none.mlir'")


    def test_commands(self):
        self.fails([TRAINC, "foo"], 2, "error: expected compile, tokenize, consolidate, sign or dump, found 'foo'\nRun trainc --help")
        self.fails([TRAINC], 2, "error: expected compile, tokenize, consolidate, sign or dump, found ''\nRun trainc --help")
        self.fails([TRAINC, "dump", "a.plan", "b.plan", "c.plan"], 2, "error: expected nothing else, found b.plan c.plan\nRun trainc dump --help")
        self.fails([TRAINC, "compil", "mlp.mlir"], 2, "found 'compil'; did you mean compile?\n")

    def test_what_is_no_text_of_a_model(self):
        """Neither read for ever nor waited for; nor parsed with more levels than the stack has room for."""
        os.mkfifo("pipe")
        os.mkdir("folder")
        for path, kind in [("/dev/zero", "a device"), ("pipe", "a pipe"), ("folder", "a folder")]:
            self.fails([TRAINC, "compile", path, "-o", "x.plan"], 2, f"{path}: expected a file, found {kind}; - reads standard input")
            self.fails([TRAINC, "dump", path], 2, f"{path}: expected a file, found {kind}")
        for content, expected in [(b"nn.model\n\0", "x.mlir:2: expected a model's text in UTF-8, found the byte 0x00"),
                                  ("nn.model \u009bm".encode(), "x.mlir:1: expected a model's text, found the control character U+009B"),
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

    def test_no_program(self):
        Path("none.mlir").write_text("\n// nothing\n")
        self.fails([TRAINC, "compile", "none.mlir", "-o", "x.plan"], 2, "none.mlir:1:1: error: no train.program in this file")

    def test_warmup_beyond_the_last_step(self):
        Path("gpt.mlir").write_text(edited(program("gpt"), ("schedule constant", "schedule cosine(warmup 200)")))
        _, err = self.trainc("compile", "gpt.mlir", "-o", "x.plan")
        self.assertRegex(err, r"\Agpt.mlir:33:3: warning: schedule: a run of 10 steps ends within the warmup of 200, before ")

    def test_model_from_standard_input(self):
        done = subprocess.run([TRAINC, "compile", "-", "--compile-to=model"], input=program("gpt"), text=True, capture_output=True)
        self.assertEqual((done.returncode, "nn.model @gpt(" in done.stdout), (0, True))

    @unittest.skipUnless(os.path.exists("/dev/full"), "no device that is always full")
    def test_standard_output_that_is_full(self):
        Path("gpt.mlir").write_text(program("gpt"))
        self.trainc("compile", "gpt.mlir", "-o", "x.plan")
        for command in [[TRAINC, "compile", "gpt.mlir", "--compile-to=model"], [TRAINC, "dump", "x.plan"], [TRAINC, "--help"],
                        [TRAINC_OPT, "gpt.mlir"], [TRAINC_CHECK, "gpt.mlir", "--ranks=2"]]:
            with self.subTest(command=command), open("/dev/full", "w") as full:
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"\Aerror: cannot write to standard output: No space left on device\n\Z")
                closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True)
                self.assertEqual(closed.returncode, 1)
                self.assertRegex(closed.stderr, r"\Aerror: cannot write to standard output: Bad file descriptor\n\Z")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no device that is always full")
    def test_standard_error_that_is_full(self):
        for arguments in [["dump", "nope"], ["compile"], ["foo"]]:
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run([TRAINC, *arguments], stderr=full).returncode, 2)
        Path("gpt.mlir").write_text(program("gpt"))
        Path("bad.mlir").write_text("nn.model @bad() {")
        for code, command in [(0, [TRAINC, "compile", "gpt.mlir", "-o", "x.plan", "--wrap=blocks"]), (2, [TRAINC, "compile", "bad.mlir", "-o", "x.plan"]),
                              (1, [TRAINC_OPT, "bad.mlir"]), (2, [TRAINC_CHECK, "bad.mlir", "--ranks=2"])]:
            with self.subTest(command=command), open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run(command, stderr=full).returncode, code)
                self.assertEqual(subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *command]).returncode, code)

    def test_limit_of_file_size(self):
        Path("gpt.mlir").write_text(program("gpt"))
        self.trainc("compile", "gpt.mlir", "-o", "x.plan")
        most = os.path.getsize("x.plan") - 1
        os.unlink("x.plan")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        done = subprocess.run([TRAINC, "compile", "gpt.mlir", "-o", "x.plan"], preexec_fn=limit, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, os.listdir()), (1, ["gpt.mlir"]), done.stderr)
        self.assertIn("File too large", done.stderr)

    def test_blocks_within_blocks(self):
        deep = "".join(f'nn.block @b{i}(%x: tensor<?x4xf32>) {{\n  %y = nn.apply @b{i + 1} "" (%x)\n  nn.return %y\n}}\n' for i in range(10000))
        Path("deep.mlir").write_text(deep + """nn.block @b10000(%x: tensor<?x4xf32>) {\n  nn.return %x\n}
            nn.model @m(%x: tensor<?x4xf32>) {\n  %y = nn.apply @b0 "" (%x)\n  nn.loss "loss" %y\n}
            train.program @p { model @m optimizer sgd batch 2 }""")
        self.fails([TRAINC, "compile", "deep.mlir", "-o", "x.plan"], 2, "deep.mlir:398:8: error: ", "lies within 100 other blocks")

    def test_no_temporary_files(self):
        """None are left behind, however the compiler ends, as it makes none."""
        Path("mlp.mlir").write_text(program("mlp"))
        self.trainc("compile", "mlp.mlir", "-o", "x.plan", env={**os.environ, "TMPDIR": "none"})
        self.assertEqual(sorted(os.listdir()), ["mlp.mlir", "x.plan"])

    def test_no_room_for_kernels(self):
        Path("mlp.mlir").write_text(program("mlp"))
        self.fails([TRAINC, "compile", "mlp.mlir", "-o", "x.plan"], 1,
                   re.compile(r"^mlp.mlir:\d+:\d+: error: .*linking kernels: cannot write to a file in memory: File too large$", re.MULTILINE),
                   "error: x.plan: not written", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertFalse(Path("x.plan").exists())

    def test_snapshots_on_a_full_disk(self):
        Path("mlp.mlir").write_text(program("mlp"))
        for most in (10, 20000):  # of the first snapshot, and of a later one
            with self.subTest(most=most):
                self.fails([TRAINC, "compile", "mlp.mlir", "--compile-to=step", f"--dump-ir=ir{most}"], 1, "--dump-ir: cannot write the snapshot",
                           "File too large", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))

    def test_long_names_of_exports(self):
        Path("gpt.mlir").write_text(edited(program("gpt"), ("  clip 1.0", '  export "' + "x" * 256 + '" {}')))
        self.fails([TRAINC, "compile", "gpt.mlir", "-o", "x.plan"], 2, "expected a plain file name of at most 255 bytes, found 256 bytes")


class RunErrors(harness.EndToEndTest):
    """With the golden GPT, which takes 3 x 16 tokens a step below 96."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.plans = Path(folder.name)
        for name in ["gpt", "mlp"]:
            subprocess.run([TRAINC, "compile", GOLDEN / name / f"{name}.mlir", "-o", cls.plans / f"{name}.plan", "--cpu=native"], check=True)

    def setUp(self):
        super().setUp()
        for name in ["gpt", "mlp"]:
            shutil.copy(self.plans / f"{name}.plan", ".")
        self.tokens("tokens.bin", [i % 96 for i in range(1000)])

    def tokens(self, path, values, code="H"):
        Path(path).write_bytes(array.array(code, values).tobytes())

    def train(self, *arguments, plan="gpt.plan", data="tokens.bin"):
        return [TRAINRUN, plan, "--data", data, *arguments]

    def test_plans(self):
        good = Path("gpt.plan").read_bytes()

        def with_number(at, number):
            """The plan with a number of its header changed: at 8 the major version, at 12 the minor one."""
            return good[:at] + struct.pack("<I", number) + good[at + 4:]

        corrupted = good[:5000] + bytes([good[5000] ^ 1]) + good[5001:]
        for content, expected in [
            (good[:-1], ["truncated plan", f"{len(good) - 64} bytes", f"{len(good) - 65}"]),
            (good[:40], ["truncated plan", "64 bytes", "found 40"]),
            (b"", ["not a plan file", "trainc compile"]),
            (b"nn.model @m {}\n" * 10, ["not a plan file", "trainc compile"]),
            (corrupted, ["corrupted plan", "checksum", "compile or copy it again"]),
            (good + b"\0", ["plan: expected", f"found {len(good) - 63}"]),
            (with_number(8, 9), ["plan format 9.1 is newer than this program's 5.1; use a trainrun of"]),
            (with_number(12, 9), ["plan format 5.9 is newer than this program's 5.1; use a trainrun of"]),
            (with_number(8, 1), ["plan format 1.1 is older than this program's 5.1; compile the model again"]),
        ]:
            with self.subTest(expected=expected):
                Path("bad.plan").write_bytes(content)
                self.fails(self.train("--steps", "1", plan="bad.plan"), 2, "bad.plan: ", *expected)
                self.fails([TRAINRUN, "bad.plan", "--device=null"], 2, "bad.plan: ", *expected)
                self.fails([TRAINC, "dump", "bad.plan"], 2, "bad.plan: ", *expected)
        self.fails(self.train(plan="none.plan"), 2, "none.plan: cannot open")

    def test_token_files(self):
        self.tokens("short.bin", range(16))
        Path("empty.bin").write_bytes(b"")
        Path("odd.bin").write_bytes(bytes(101))
        for data, *expected in [("empty.bin", "at least 17 tokens", "found 0"), ("short.bin", "at least 17 tokens", "found 16"),
                                ("odd.bin", "byte 100", "uint16", "--data-dtype"), ("none.bin", "no such file"),
                                ("*.tok", "no such file"), (GOLDEN / "mlp" / "data.safetensors", "[80]", "[samples, 16]")]:
            with self.subTest(data=data):
                self.fails(self.train("--steps", "1", data=data), 2, str(data), *expected)

    def test_what_is_no_data_yet(self):
        """Each says what it is and what to do; none is trained on as tokens."""
        text = ("In the beginning was the word. \u00c6\n" * 40).encode()
        tokenize, numpy, torch = "trainc tokenize --tokenizer=bytes TEXT -o tokens.bin", "safetensors.numpy.save_file", "safetensors.torch.save_file"
        for name, content, kind, for_tokens, for_columns in [
            ("train.txt", text, "text", f"; make tokens of it: {tokenize}", numpy),
            ("train", text[:40], "text", f"; make tokens of it: {tokenize}", numpy),
            ("cut.txt", text[:1023 - text[:1023].count(b"\n")], "text", tokenize, numpy),
            ("a.csv", b"x,y,label\n" + b"1.0,2.0,3\n" * 100, "text (CSV)", tokenize, numpy),
            ("a.jsonl", b'{"text": "word"}\n' * 100, "text (lines of JSON)", "write the text alone to a file", numpy),
            ("a.npy", b"\x93NUMPY\x01\0v\0{'descr': '<u2'}" + bytes(100), "a NumPy array", "array.astype('uint16').tofile('tokens.bin')", numpy),
            ("a.pt", b"PK\x03\x04" + bytes(100), "a zip file, as torch.save and numpy.savez write it", "tofile('tokens.bin')", torch),
            ("old.pt", b"\x80\x02\x8a\x0a" + bytes(100), "a file of Python's pickle, as PyTorch writes it", "tofile('tokens.bin')", torch),
            ("a.gz", b"\x1f\x8b\x08\0" + bytes(100), "a gzip file", "unpack it first", "unpack it first"),
            ("a.parquet", b"PAR1" + bytes(100), "a Parquet file", tokenize, numpy),
            ("weights", b"\x40" + bytes(7) + b'{"a":1}' + b" " * 100, "a safetensors file", "a name that ends in .safetensors", "in .safetensors"),
            ("b.plan", Path("gpt.plan").read_bytes(), "a plan", "trainrun PLAN --data FILE", "trainrun PLAN --data FILE"),
        ]:
            with self.subTest(name):
                Path(name).write_bytes(content)
                self.fails(self.train("--steps", "1", data=name), 2, f"error: {name}: expected a file of tokens or a .safetensors file, found {kind}; ", for_tokens)
                self.fails(self.train("--steps", "1", data=name, plan="mlp.plan"), 2,
                           f"error: {name}: expected a .safetensors file with the plan's columns labels I32 [samples], features F32 [samples, 20], found {kind}; ",
                           for_columns)
        # Bytes are tokens if the user says so.
        Path("digits.txt").write_bytes(b"0123456789 " * 40)
        self.fails(self.train("--steps", "1", "--data-dtype=uint16", data="digits.txt"), 2, "found text")
        self.run_program(*self.train("--steps", "1", "--data-dtype=uint8", data="digits.txt"))

    def columns(self, labels=(1,), shape=(80, 20), label_shape=None, label_type="I64"):
        """Trains the golden MLP, which takes 20 features and a class below 10, on a file of 80 samples."""
        count = math.prod(label_shape or [80])
        write_safetensors("d.safetensors", {"features": harness.Tensor("F32", shape, [0.5] * math.prod(shape)),
                                            "labels": harness.Tensor(label_type, label_shape or [80], (list(labels) * count)[:count])})
        return self.train("--steps", "1", plan="mlp.plan", data="d.safetensors")

    def test_columns_that_do_not_fit(self):
        for arguments, expected in [
            ({"labels": [1, 10, 5]}, "column 'labels', element 0: 10 is not below the model's limit 10 (and not the ignored -100); classes count from 0 to 9: if "
             "those of the file begin at 1, subtract 1"),
            ({"labels": [-1]}, "-1 is negative (and not the ignored -100); if it marks what does not count, write -100 instead"),
            ({"labels": [12]}, "12 is not below the model's limit 10 (and not the ignored -100); has the model all classes of the data?"),
            ({"label_shape": [80, 10]}, "column 'labels' is I64 [80, 10], the plan needs I32 [samples]; these look like one-hot labels: write the number of "
             "the class instead, as argmax gives it"),
            ({"label_shape": [80, 1]}, "column 'labels' is I64 [80, 1], the plan needs I32 [samples]; reshape it to [80]"),
            ({"label_type": "F32"}, "column 'labels' is F32, the plan needs I32; convert the file"),
            ({"shape": [80, 4, 5]}, "column 'features' is F32 [80, 4, 5], the plan needs F32 [samples, 20]; reshape it to [80, 20]"),
            ({"shape": [80, 4, 4]}, "column 'features' is F32 [80, 4, 4], the plan needs F32 [samples, 20]; convert the file, or change the model's text"),
            ({"shape": [80, 16]}, "column 'features' is F32 [80, 16], the plan needs F32 [samples, 20]; convert the file, or change the model's text"),
            ({"shape": [80]}, "column 'features' is F32 [80], the plan needs F32 [samples, 20]; convert the file"),
        ]:
            with self.subTest(expected):
                err = self.fails(self.columns(**arguments), 2, "error: d.safetensors: ", expected)
                self.assertNotIn("--data-dtype", err)
                self.assertNotIn("--seq-len", err)
        write_safetensors("t.safetensors", {"tokens": harness.Tensor("I32", [10, 12], [1] * 120)})
        self.fails(self.train("--steps", "1", data="t.safetensors"), 2, "column 'tokens' is I32 [10, 12], the plan needs I32 [samples, 16]; compile for this length (--seq-len)")
        write_safetensors("t.safetensors", {"tokens": harness.Tensor("I32", [10, 16], [96] * 160)})
        self.fails(self.train("--steps", "1", data="t.safetensors"), 2, "96 is not below the model's limit 96 (and not the ignored -100); was the file made with another tokenizer?\n")

    def test_token_beyond_the_vocabulary(self):
        for code, width in [("H", 2), ("I", 4)]:
            values = [1] * 1000
            values[777] = 96
            self.tokens("bad.bin", values, code)
            options = [] if width == 2 else ["--data-dtype=uint32"]
            self.fails(self.train("--steps", "40", "--no-shuffle", *options, data="bad.bin"), 2, f"bad.bin: byte {777 * width}: ",
                       "96 is not below the model's limit 96")

    def test_what_is_no_plan_is_said_first(self):
        os.mkdir("folder")
        Path("empty.plan").write_bytes(b"")
        Path("model.mlir").write_text(program("mlp"))
        for plan, expected in [("none.plan", "none.plan: cannot open: No such file or directory"),
                               ("folder", "folder: expected a regular file, found a folder"),
                               ("empty.plan", "empty.plan: not a plan file: it is empty; plans are made by 'trainc compile'"),
                               ("model.mlir", "plans are made by 'trainc compile': trainc compile model.mlir -o PLAN")]:
            for arguments in [[], ["--steps", "3"], ["--device=null"], ["--generate=a"]]:
                with self.subTest(plan=plan, arguments=arguments):
                    self.fails([TRAINRUN, plan, *arguments], 2, f"error: {plan}: ", expected)

    def test_options_for_values(self):
        for arguments, option, follows in [
            (["--checkpoint-dir", "--resume"], "--checkpoint-dir", "--resume"),
            (["--metrics", "--checkpoint-dir=x"], "--metrics", "--checkpoint-dir=x"),
            (["--generate", "--max-tokens=5"], "--generate", "--max-tokens=5"),
            (["--eval-data", "--steps", "3"], "--eval-data", "--steps"),
        ]:
            with self.subTest(arguments=arguments):
                self.fails(self.train("--steps", "1", *arguments), 2, f"error: {option} has no value, as {follows} follows; if that is the value, "
                           f"write {option}={follows}\nRun trainrun --help for the options\n")
        self.assertEqual(sorted(os.listdir()), ["gpt.plan", "mlp.plan", "tokens.bin"])
        self.fails([TRAINRUN, "gpt.plan", "--generate=--max-tokens=5"], 2, "--generate needs trained weights")

    def test_unknown_options(self):
        for option, expected in [
            ("--stps", "--stps is unknown; did you mean --steps?"),
            ("--xyz=3", "--xyz is unknown\n"),
            ("--lr=1e-3", "--lr: the plan has decided it. Write it in the model's train.program, as in `optimizer adamw(lr 1e-3)`, and compile again"),
            ("--batch-size", "--batch-size: the plan has decided it. Give --micro-batch to trainc compile, and run the new plan"),
            ("--max_steps", "--max_steps: it is called --steps here"),
        ]:
            with self.subTest(option=option):
                self.fails(self.train("--steps", "1", option, "3"), 2, "error: " + expected, "\nRun trainrun --help for the options\n")

    def test_options_of_the_other_program(self):
        """Each program knows all options of the other."""
        options = lambda *help: set(re.findall(r"^ +(?:-\w,)?--([a-z0-9-]+)", self.run_program(*help, "--help")[0], re.MULTILINE)) - {"help", "version"}
        of_compile, of_trainrun = options(TRAINC, "compile"), options(TRAINRUN)
        self.assertLess({"micro-batch", "wrap", "output"}, of_compile)
        self.assertLess({"steps", "resume", "comm"}, of_trainrun)
        for option in sorted(of_compile - of_trainrun):
            self.fails(self.train("--" + option), 2, f"error: --{option}: the plan has decided it. Give --{option} to trainc compile")
        for option in sorted(of_trainrun - of_compile):
            self.fails([TRAINC, "compile", "x.mlir", "--" + option], 2, f"error: --{option}: trainrun decides it. Give --{option} to trainrun")

    def test_contradictory_options(self):
        self.fails(self.train("--init", "a", "--resume=b"), 2, "--init and --resume contradict each other")
        self.fails([TRAINRUN, "gpt.plan", "--steps", "3"], 2, "--steps needs --data")
        self.fails(self.train("--metrics", "./tokens.bin"), 2, "--metrics=./tokens.bin: the file holds something else than metrics, which would be lost")

    def mlp_data(self, value):
        """The golden data, 8 samples a step, with one number of the third step replaced."""
        tensors = read_safetensors(GOLDEN / "mlp" / "data.safetensors")
        tensors["features"].values[(2 * 8 + 5) * 20 + 7] = value
        write_safetensors("bad.safetensors", tensors)
        return self.train("--no-shuffle", "--checkpoint-dir", "run", "--metrics", "run.jsonl", plan="mlp.plan", data="bad.safetensors")

    def test_nan_loss_stops(self):
        err = self.fails(self.mlp_data(math.nan), 1, "step 3: the loss is nan", "the update was not applied", "fc1: nn.matmul",
                         "mlp.mlir:3", "wrote nan to element", "entry micro_step, instruction",
                         re.compile(r"\nbad.safetensors: byte \d+: sample 21, column 'features', element 7 is nan. Repair that sample, or leave it out; "
                                    r"--on-nonfinite=skip goes on without such steps\n"))
        self.assertNotIn("learning rate", err)
        self.assertEqual(os.listdir("run"), ["step-00000002"], "the last good step")
        self.assertIsNone(harness.metrics("run.jsonl")[2]["loss"])

    def test_infinite_loss_stops(self):
        err = self.fails(self.mlp_data(math.inf), 1, "step 3: the loss is", "fc1: nn.matmul", re.compile(r"wrote (-?inf|nan) to element"))
        self.assertNotIn("-nan", err)
        self.assertIn("sample 21, column 'features', element 7 is inf.", err)

    def test_nan_in_evaluation(self):
        self.mlp_data(math.nan)
        data = GOLDEN / "mlp" / "data.safetensors"
        self.fails(self.train("--steps", "1", "--eval-data", "bad.safetensors", plan="mlp.plan", data=data), 1, "evaluation: the loss is nan, the mean over 80 samples. "
                   "bad.safetensors: byte ", "sample 21, column 'features', element 7 is nan. Repair that sample, or leave it out")

    def test_nan_step_changes_nothing(self):
        _, err = self.run_program(*self.mlp_data(math.nan), "--on-nonfinite=skip", "--checkpoint-every", "1")
        self.assertIn("warning: step 3: the loss is nan", err)
        for name in ["model.safetensors", "optimizer.safetensors"]:
            before, after, later = (Path(f"run/step-0000000{step}", name).read_bytes() for step in [2, 3, 4])
            self.assertTrue(before == after, name)
            self.assertFalse(after == later, name)
        self.assertTrue(all(math.isfinite(line["loss"]) for line in harness.metrics("run.jsonl") if line["step"] != 3))

    def test_a_kernel_of_several_lines_names_them_all(self):
        self.compile("""nn.model @m(%features: tensor<?x20xf32>) {
            %p = nn.linear "a" %features to 4
            %q = nn.log %p
            nn.loss "loss" %q
        }
        train.program @p { model @m optimizer sgd batch 8 }""", to="log.plan")
        self.fails(self.train("--steps", "1", plan="log.plan", data=GOLDEN / "mlp" / "data.safetensors"), 1,
                   re.compile(r"a: nn.kernel \(.*at line 2, .*nn\.log.* at line 3.*\) at .*wrote nan to element"))

    def test_nan_weight_is_traced_to_its_op(self):
        weights = read_safetensors(GOLDEN / "gpt" / "inputs.safetensors")
        weights["h.1.mlp.c_proj.bias"].values[3] = math.nan
        write_safetensors("nan.safetensors", weights)
        self.fails(self.train("--init", "nan.safetensors", "--steps", "3"), 1, "step 1: the loss is nan", "h.1.mlp.c_proj",
                   "gpt.mlir:12", "wrote nan to element", "Lower the learning rate or look at the data")
        self.fails([TRAINRUN, "gpt.plan", "--init", "nan.safetensors", "--eval-data", "tokens.bin"], 1, "evaluation: the loss is nan, the mean over 62 samples; "
                   "the data holds numbers only, so look at the weights")

    def test_weights_without_a_head(self):
        weights = read_safetensors(GOLDEN / "mlp" / "inputs.safetensors")
        head = [name for name in weights if name.startswith("fc3.")]
        write_safetensors("none.safetensors", {name: tensor for name, tensor in weights.items() if name not in head})
        write_safetensors("other.safetensors", weights | {name: harness.Tensor("F32", [7, *weights[name].shape[1:]], [0.5] * (7 * math.prod(weights[name].shape[1:]))) for name in head})
        train = lambda init, *arguments: self.train("--steps", "1", "--checkpoint-dir", "run", f"--init={init}.safetensors", *arguments, plan="mlp.plan",
                                                    data=GOLDEN / "mlp" / "data.safetensors")
        self.fails(train("none"), 2, "the weights do not fit this plan; --init-missing='fc3.*' draws such parameters anew\n  only in the plan (2):\n    fc3.bias: F32 [10]")
        self.fails(train("other"), 2, "fc3.weight: F32 [7, 32] in the file, F32 [10, 32] in the plan")
        self.fails(train("none", "--init-missing=fc4.*"), 2, "--init-missing=fc4.*: no parameter of the plan has such a name; `*` stands for any text")
        self.fails(train("none", "--init-missing=fc2.*,fc3.bias"), 2, "only in the plan (1):\n    fc3.weight")
        self.fails(self.train("--init-missing=fc3.*"), 2, "--init-missing needs --init")
        for init in ["none", "other"]:
            _, err = self.run_program(*train(init, "--init-missing=fc3.*"))
            self.assertIn("drawn anew: fc3.bias, fc3.weight\n", err.replace("fc3.weight, fc3.bias", "fc3.bias, fc3.weight"))
            shutil.move("run", init)
        self.assert_same_folder("none/step-00000001", "other/step-00000001")
        drawn, found = read_safetensors("none/step-00000001/model.safetensors"), weights
        self.assertLess(harness.relative_error(drawn["fc1.weight"].values, found["fc1.weight"].values), 0.1, "a step from the weights of the file")
        self.assertGreater(harness.relative_error(drawn["fc3.weight"].values, found["fc3.weight"].values), 0.1)

    def test_no_memory_for_weights(self):
        self.compile(edited(program("mlp"), ('"fc1" %features to 32', '"fc1" %features to 400000'), ('"fc2" %a1 to 32', '"fc2" %a1 to 400000')), to="wide.plan")
        self.fails(self.train("--steps", "1", plan="wide.plan", data=GOLDEN / "mlp" / "data.safetensors"), 1,
                   re.compile(r"error: wide.plan: cannot allocate \d+ bytes for arena 'persistent': Cannot allocate memory; of the plan's \d+ bytes, \d+ are parameters, "
                              r"gradients and optimizer states, whatever the batch, and \d+ grow with it: a smaller model needs less, and --ranks=N --zero-stage=3 "
                              r"divide it over processes\n"))
        self.compile(edited(program("mlp"), ("batch 8", "batch 1048576"), ('"fc1" %features to 32', '"fc1" %features to 100000')), to="wide.plan")
        self.fails(self.train("--steps", "1", plan="wide.plan", data=GOLDEN / "mlp" / "data.safetensors"), 1, "cannot allocate", ": compile with a smaller --micro-batch")

    def test_tokenizer_of_another_kind(self):
        self.compile(edited(program("gpt"), ("of 96 by", "of 256 by")), to="bytes.plan")
        Path("tokens.bin.json").write_text('{"tokenizer": "gpt2/tokenizer.json", "vocabulary": 96, "dtype": "uint16", "tokens": 1000, "tokenizer_xxh3": "12"}')
        self.run_program(*self.train("--steps", "1", "--checkpoint-dir", "run", plan="bytes.plan"))
        self.fails([TRAINRUN, "bytes.plan", "--resume=run", "--tokenizer=bytes", "--generate=a"], 2, "--tokenizer=bytes: the checkpoint names the tokenizer "
                   "'gpt2/tokenizer.json', and the model knows no other ids; leave --tokenizer out, or name that one")
        self.fails([TRAINRUN, "bytes.plan", "--resume=run", "--data", "tokens.bin", "--tokenizer=bytes", "--generate=a"], 2,
                   "--tokenizer=bytes: the JSON beside --data names the tokenizer 'gpt2/tokenizer.json'")

    def test_unwritable_checkpoint_folder(self):
        Path("file").write_text("")
        self.fails(self.train("--steps", "1", "--checkpoint-dir", "file/run"), 2, "--checkpoint-dir=file/run: cannot create the folder: file is no folder; name another")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_checkpoint_folder(self):
        os.mkdir("run", 0o555)
        self.fails(self.train("--steps", "1", "--checkpoint-dir", "run"), 2, "run: ", "Permission denied")

    def test_full_disk(self):
        """A file system with room for one checkpoint and a half; trainrun_test.py has the same without one."""
        os.mkdir("disk")
        room = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-e", "-c"]
        if subprocess.run([*room, "mount -t tmpfs -o size=4k none disk"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("this machine lets nobody mount a file system")
        checkpoint = 118528 + 237424  # bytes, of its two large files
        run = f"{TRAINRUN} gpt.plan --data tokens.bin"
        script = f"""mount -t tmpfs -o size={checkpoint * 3 // 2} none disk
            {run} --checkpoint-dir disk/run --steps 2
            {run} --checkpoint-dir disk/run --steps 4 --resume && exit 1 || echo "exit code $?"
            ls -A disk/run
            {run} --checkpoint-dir run --steps 4 --resume=disk/run"""
        out, err = self.run_program(*room, script)
        self.assertEqual(out.split("\n"), ["exit code 1", "step-00000002", ""])
        self.assertIn("the checkpoint of step 4 was not written (the last one is that of step 2)", err)
        self.assertIn("No space left on device", err)
        self.assertTrue(Path("run/step-00000004").is_dir())

    def test_damaged_checkpoints(self):
        self.run_program(*self.train("--steps", "2", "--checkpoint-dir", "run"))
        folder = Path("run/step-00000002")
        resume = self.train("--steps", "3", "--resume=run")
        for name in ["model.safetensors", "optimizer.safetensors", "trainer_state.json"]:
            path = folder / name
            good = path.read_bytes()
            for at in [9, len(good) // 2, len(good) - 3]:
                with self.subTest(name=name, at=at):
                    path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
                    self.fails(resume, 2, str(path), re.compile("checksum|not a JSON object"), "older one")
            path.write_bytes(good[:-5])
            self.fails(resume, 2, str(path), re.compile(f"expected {len(good)} bytes, found {len(good) - 5}|not a JSON object"))
            path.unlink()
            self.fails(resume, 2, str(folder), f"{path}: cannot open" if name.endswith(".safetensors") else f"found no {name} in it")
            path.write_bytes(good)
        self.run_program(*resume)

    def test_checkpoint_of_another_model(self):
        self.run_program(*self.train("--steps", "2", "--checkpoint-dir", "run"))
        data = GOLDEN / "mlp" / "data.safetensors"
        self.fails(self.train("--steps", "3", "--resume=run", plan="mlp.plan", data=data), 2, "made by another model",
                   "only in the plan (6)", "fc1.weight: F32 [32, 20]", "only in the file (28)", "h.0.attn.c_attn.weight: F32 [32, 96]")
        self.compile(edited(program("gpt"), ("of 16 by 32", "of 24 by 32")), to="longer.plan")
        self.fails(self.train("--steps", "3", "--resume=run", plan="longer.plan"), 2,
                   "wpe.weight: F32 [16, 32] in the file, F32 [24, 32] in the plan")


if __name__ == "__main__":
    harness.main()
