"""Errors of the compiler's command line and environment. Exit code 2 for bad usage, 1 if an output could not be written."""

import json
import os
import re
import resource
import subprocess
import unittest
from pathlib import Path

import harness
from harness import TRAINC, TRAINC_CHECK, TRAINC_OPT, edited, program


class CompileErrors(harness.EndToEndTest):
    def test_options_that_do_nothing(self):
        Path("gpt.mlir").write_text(program("gpt"))
        def warnings(*options):
            _, err = self.trainc("compile", "gpt.mlir", "--compile-to=step", *options)
            return re.findall("warning: (.*)", err)

        does_nothing = "{} does nothing on one rank; give --ranks=N as well, or leave it out"
        self.assertEqual(warnings("--zero-stage=2", "--wrap=layer", "--allgather-bucket-size=5"),
                         [does_nothing.format(option) for option in ["zero_stage (--zero-stage)", "wrap (--wrap)", "allgather_bucket_size (--allgather-bucket-size)"]])
        self.assertEqual(warnings("--reproducible=ranks", "--wrap=layer"), [])
        self.assertEqual(warnings("--ranks=2", "--allgather-bucket-size=5", "--reduce-bucket-size=5"),
                         ["allgather_bucket_size (--allgather-bucket-size) does nothing with zero_stage 0, which shards no states"])
        self.assertEqual(warnings("--ranks=2", "--zero-stage=1", "--allgather-bucket-size=5"), [])

    def test_options(self):
        Path("gpt.mlir").write_text(program("gpt"))
        compile = [TRAINC, "compile", "gpt.mlir"]
        for arguments, *expected in [
            (["--memory-limit=16"], "error: --memory-limit: expected a unit, found '16', which would be 16 bytes; write 16GiB, or 16B for as few bytes\n"),
            (["--memory-limit=16384"], "error: --memory-limit: expected a unit, found '16384', which would be 16384 bytes; write 16384MiB, or 16384B for as few bytes\n"),
            (["--memory-limit=1048575"], "found '1048575', which would be 1048575 bytes"),
            (["--host-memory=512"], "error: --host-memory: expected a unit, found '512'"),
            (["-o", "x.plan", "--compile-to=step"], "-o PLAN and --compile-to=PHASE contradict each other"),
            (["-o", "x.plan", "--seq-len=17"], "17 tokens", "16 positions", "gpt.mlir:20"),
            (["-o", "x.plan", "--micro-batch=0"], "--micro-batch", "from 1 to", "'0'"),
            (["-o", "x.plan", "--eval-batch=0"], "--eval-batch", "from 1 to", "'0'"),
            (["-o", "x.plan", "--generate-batch=0"], "--generate-batch", "from 1 to", "'0'"),
            (["--compile-to=spmd", "--ranks=6", "--zero-stage=1", "--hybrid-shard=4"], "gpt.mlir:", "hybrid_shard: 6 ranks cannot form groups of 4"),
            (["--compile-to=spmd", "--ranks=2", "--wrap=layers"], "gpt.mlir:", "wrap (--wrap): there is no block @layers", "did you mean 'layer'?"),
            (["--compile-to=spmd", "--wrap=layer,"], "error: --wrap: expected blocks, model, names of blocks", "found 'layer,'\n"),
            (["--compile-to=spmd", "--wrap=layer, layer"], "error: --wrap: expected each word once, found 'layer' twice\n"),
            (["--compile-to=step", "--checkpoint-blocks=layer,layer"], "error: --checkpoint-blocks: expected each word once, found 'layer' twice\n"),
            (["--compile-to=step", "--keep-f32=a,,b"], "error: --keep-f32: expected an element before and after each comma, found 'a,,b'\n"),
            (["--compile-to=step", "--cpu=x86-64-v3,X86-64-V3"], "error: --cpu: expected each word once, found 'x86-64-v3' twice\n"),
            *((["--compile-to=step", f"--checkpoint-keep={keep}"], f"error: --checkpoint-keep: expected numbers from 0 to 100 with commas between them", f"found '{keep}'\n")
              for keep in ["101", "050", "2x050", "50,", "x50", "-1"]),
            (["--compile-to=step", "--offload-group=1"], "error: --offload-group: expected at least 4096 bytes, found '1'\n"),
            (["--compile-to=step", "--param-type=bf16"], "gpt.mlir:", "param_type (--param-type) bf16 holds parameters in bf16"),
            (["--compile-to=spmd", "--reproducible=ranks", "--accumulate=6"], "gpt.mlir:", "--accumulate must be a power of two, found 6"),
            (["--compile-to=spmd", "--reproducible=ranks", "--sync-gradients=micro_step"], "gpt.mlir:", "leave sync_gradients out"),
            (["-o", "x.plan", "--precision=int8"], "--precision: expected fp32, bf16 or fp16, found 'int8'"),
            (["-o", "x.plan", "--hybrid-shard=1"], "--hybrid-shard", "expected a whole number from 2 to 65536"),
            (["-o", "x.plan", "--activation-checkpointing=most"], "--activation-checkpointing: expected none, selective, full or budget, found 'most'"),
            (["-o", "x.plan", "--activation-checkpointing=budget"], "gpt.mlir:", "no memory limit to fit into", "--memory-limit=SIZE"),
            (["-o", "x.plan", "--target=tpu"], "--target", "tpu", "cpu"),
            (["-o", "x.plan", "--micro-batch=1e3"], "--micro-batch: expected a whole number", "found '1e3'; write 1000"),
            (["-o", "x.plan", "--ranks=2", "--ranks", "4"], "--ranks is given twice; give it once"),
            (["-o", "x.plan", "-o", "y.plan"], "-o is given twice; give it once"),
            (["-o", "x.plan", "--micro-batch=010"], "--micro-batch: expected a whole number", "without leading zeros, found '010'"),
            (["-o", "x.plan", "--seq-len=99999999999999999999"], "--seq-len: expected a whole number", "found '99999999999999999999'"),
            (["-o", "x.plan", "--micro-batch=4x"], "--micro-batch: expected a whole number", "found '4x'"),
            (["-o", "x.plan", "--report=", "--micro-batch=4"], "error: --report= has no value"),
            (["-o", ""], "error: the argument after -o is empty"),
            *((["-o", "x.plan", f"--memory-limit={size}"], f"--memory-limit: expected a number of bytes above 0 and below 8388608TiB in plain digits, such as 16GiB, found '{size}'")
              for size in ["0", "0GiB", "0.0GiB", "010GiB", "-1", "2.", "1.5", "1.5.2GiB", "16XiB", "99999999999999GiB", "8388608TiB", "1e3GiB", "9223372036854775808"]),
            (["-o", "x.plan", "--memory-limit=1.5g"], "--memory-limit: expected KiB, MiB, GiB or TiB (powers of 1024), found '1.5g'; write 1.5GiB\n"),
            (["-o", "x.plan", "--memory-limit=16GB"], "--memory-limit: expected KiB, MiB, GiB or TiB (powers of 1024), found '16GB'; write 16GiB\n"),
            (["-o", "x.plan", "--memory=16GiB"], "--memory: write --memory-limit"),
            (["--compile-to=step", "--report=r.json"], "--report and --compile-to=PHASE contradict each other: no plan is made, so there is nothing to report\n"),
            (["--compile-to=foo"], "--compile-to: expected model, step, spmd, scheduled or plan, found 'foo'"),
            (["--compile-to=0"], "--compile-to: expected model, step, spmd, scheduled or plan, found '0'"),
            (["-o", "x.plan", "--fp32-products=1"], "--fp32-products: expected fma, bf16x3 or tf32, found '1'\n"),
            (["-o", "x.plan", "--target=gpu"], "error: --target: expected cpu or cuda, found 'gpu'; did you mean 'cuda'?\n"),
            (["-o", "x.plan", "--precision=float32"], "error: --precision: expected fp32, bf16 or fp16, found 'float32'; did you mean 'fp32'?\n"),
            (["-o", "x.plan", "--memory-limit=1e9"], "such as 16GiB, found '1e9'; write 1000000000\n"),
            (["-o", "x.plan", "--checkpoint-stride=2"], "error: --checkpoint-stride: it is no longer an option; give --checkpoint-keep=0,100,0,100 to recompute every second use\n"),
            (["-o", "x.plan", "--persist-below=2"], "error: --persist-below: write --param-persistence-threshold\n"),
            (["-o", "x.plan", "--loss_scale_window=2"], "error: --loss_scale_window: it is no longer an option: the scale doubles after 2000 steps without overflow\n"),
            (["-o", "x.plan", "--micro-batch=1048577"], "--micro-batch: expected a whole number from 1 to 1048576", "found '1048577'"),
            (["-o", "x.plan", "--accumulate=65537"], "--accumulate: expected a whole number from 1 to 65536", "found '65537'"),
            (["-o", "none/x.plan"], "-o none/x.plan: the folder 'none' does not exist; create it, or name another"),
            (["-o", "gpt.mlir/x.plan"], "-o gpt.mlir/x.plan: 'gpt.mlir' is not a folder; name another"),
            (["-o", "/dev/null"], "-o /dev/null: /dev/null: expected a file, found a device"),
            (["-o", "."], "-o .: .: expected a file, found a folder"),
            (["-o", "gpt.mlir"], "-o gpt.mlir would replace the model 'gpt.mlir'; name another file"),
            (["-o", "./gpt.mlir"], "-o ./gpt.mlir would replace the model 'gpt.mlir'"),
            (["-o", "x.plan", "--report=gpt.mlir"], "--report=gpt.mlir would replace the model 'gpt.mlir'"),
            (["-o", "x.plan", "--report=./x.plan"], "--report=./x.plan would replace -o x.plan; name two files"),
            (["-o", "x.plan", "--frobnicate"], "error: --frobnicate is unknown\nRun trainc compile --help for the options\n"),
            (["-o", "x.plan", "--microbatch=4"], "error: --microbatch is unknown; did you mean --micro-batch?\n"),
            (["-o", "x.plan", "-seq-len", "4"], "error: -seq-len is unknown; did you mean --seq-len?\n"),
            (["-o", "x.plan", "\u2013-seq-len", "4"], "error: \u2013-seq-len is unknown; did you mean --seq-len?\n"),
            (["-o", "x.plan", "--batch_size=4"], "error: --batch_size: write --micro-batch\n"),
            (["-o", "x.plan", "--learning-rate=4"], "error: --learning-rate: there is no option for it; write it in the model's train.program, as in `optimizer adamw(lr 1e-3)`\n"),
            (["-o", "--report=r.json"], "error: -o has no value, as --report=r.json follows; if that is the value, write -o=--report=r.json\n"),
            (["--report", "-o", "x.plan"], "error: --report has no value, as -o follows; if that is the value, write --report=-o\n"),
            (["--report"], "error: --report: 1 required FILE.json missing\n"),
        ]:
            with self.subTest(arguments=arguments):
                self.fails([*compile, *arguments], 2, *expected)
        self.assertEqual(Path("gpt.mlir").read_text(), program("gpt"))
        self.fails([TRAINC, "tokenize", "", "-o", "x.bin"], 2, "error: the first argument is empty; is a variable?\n")
        self.fails([TRAINC, "compile", "-"], 2, "standard input has no name that the plan could have: name the plan to write with -o PLAN")
        self.fails([TRAINC, "estimate", "gpt.mlir", "--memory=80"], 2, "error: --memory: expected a unit, found '80'", "write 80GiB")
        Path("gpt.mlir").write_text(edited(program("gpt"), ("  optimizer ", "  memory_limit 16  optimizer ")))
        self.fails(compile, 2, "gpt.mlir:", "expected a unit, found '16', which would be 16 bytes; write 16GiB, or 16B for as few bytes")
        self.fails([TRAINC, "compile", "none/x.mlir"], 2, "cannot open input file 'none/x.mlir'")
        self.fails([TRAINC, "compile", "none.mlir", "-o", "x.plan"], 2, "cannot open input file 'none.mlir'")

    def test_a_plan_beside_its_model(self):
        """Word for word as the first page says it; what was made goes to standard error in three lines."""
        Path("folder").mkdir()
        Path("folder/my mlp.mlir").write_text(program("mlp"))
        out, err = self.trainc("compile", "folder/my mlp.mlir", "--cpu=native", "--report=report.json")
        report = json.loads(Path("report.json").read_text())
        self.assertEqual(out, "")
        written, memory, next = err.splitlines()
        self.assertRegex(written, rf"^wrote folder/my mlp.plan: mlp with ({report['parameters']}|[\d.]+k) parameters, 1 rank$")
        self.assertRegex(memory, r"^peak memory [\d.]+ [KM]iB \(tensors .*\); predicted step [\d.]+ [mu]?s \(8 samples\)$")
        self.assertEqual(next, "next: trainrun 'folder/my mlp.plan' --data data.safetensors   # columns: features, labels")
        self.assertTrue(Path("folder/my mlp.plan").exists())
        self.assertEqual(self.trainc("compile", "folder/my mlp.mlir", "--cpu=native", "--quiet"), ("", ""))
        self.assertEqual(self.trainc("compile", "folder/my mlp.mlir", "--cpu=native", "-q", "--memory-limit=1GiB"), ("", ""))

    def test_the_next_command_runs(self):
        Path("gpt.mlir").write_text(program("gpt"))
        _, err = self.trainc("compile", "gpt.mlir", "--cpu=native", "--ranks=2")
        self.assertIn(" on each rank (", err)
        command, _, comment = re.search("^next: (.*)$", err, re.MULTILINE)[1].partition("   # ")
        self.assertEqual(command, "trainrun gpt.plan --nproc-per-node=2 --data tokens.bin")
        Path("TEXT").write_bytes(bytes(1 + i % 90 for i in range(2000)))
        self.assertEqual(comment, "trainc tokenize TEXT -o tokens.bin")
        self.trainc(*comment.split()[1:])
        _, err = self.run_program(harness.TRAINRUN, *command.split()[1:], "--steps=2")
        self.assertIn("step 2/2", err)

    def test_the_next_command_of_several_hosts(self):
        Path("gpt.mlir").write_text(program("gpt"))
        _, err = self.trainc("compile", "gpt.mlir", "--cpu=native", "--ranks=16")
        self.assertIn("next: srun --ntasks=16 trainrun gpt.plan --data tokens.bin", err)

    def test_values_of_foreign_options(self):
        Path("gpt.mlir").write_text(program("gpt"))
        for arguments, expected in [
            (["--dtype=float32"], "--dtype: write --precision=fp32\n"),
            (["--bf16", "False"], "--bf16: leave it out; `--precision=bf16` would turn it on\n"),
            (["--device=cuda"], "--device: write --target=cuda\n"),
            (["--cpu"], "--cpu: it is not needed here: --target=cpu is the default of trainc compile\n"),
            (["--cpu", "-o", "x.plan"], "--cpu: it is not needed here: --target=cpu is the default of trainc compile\n"),
            (["--offload=nvme"], "--offload: expected none, optimizer, gradients, parameters, activations or hidden_activations, found 'nvme'; "
             "write --offload=optimizer --offload-to=disk\n"),
            (["--offload", "cpu"], "--offload: expected none, optimizer, gradients, parameters, activations or hidden_activations, found 'cpu'; "
             "write --offload=optimizer --offload-to=host\n"),
            (["--offload-to=nvme"], "--offload-to: expected disk or host, found 'nvme'; did you mean 'disk'?\n"),
            (["--offload-to=cpu"], "--offload-to: expected disk or host, found 'cpu'; did you mean 'host'?\n"),
            (["--use_lora"], "--use_lora: write --lora=LAYERS (such as --lora=all-linear)"),
            (["-v"], "-v: trainrun decides it. Give --log-level=debug to trainrun, with the plan\n"),
        ]:
            self.fails([TRAINC, "compile", "gpt.mlir", *arguments], 2, "error: " + expected)

    def test_a_file_that_is_no_plan_stays(self):
        Path("gpt.mlir").write_text(program("gpt"))
        Path("gpt.plan").write_text("my plan for tomorrow")
        self.fails([TRAINC, "compile", "gpt.mlir"], 2, "-o gpt.plan: the file holds something else than a plan, which would be lost; give another name, or delete it")
        self.assertEqual(Path("gpt.plan").read_text(), "my plan for tomorrow")

    def test_trainc_opt_shows_no_control_characters(self):
        for text, expected in [("\x1b[31m", " in UTF-8, found the byte 0x1b"), ("\u009b31m", ", found the control character U+009B")]:
            Path("x.mlir").write_text(f"func.func @f() {{ {text} }}\n", encoding="utf-8")
            self.fails([TRAINC_OPT, "x.mlir"], 1, f"error: x.mlir:1: expected a model's text{expected}\n")
        self.fails([TRAINC_OPT, "x.mlir", "--a\x1b[31m"], 1, "error: expected arguments without control and invisible characters, found '--a\\x1b[31m'\n")

    def test_a_file_that_is_no_report_stays(self):
        compile_toy = ["compile", harness.GOLDEN / "mlp" / "mlp.mlir", "--cpu=native", "-o", "mlp.plan", "--report=r.json"]
        for text in ["my notes", '{"mine": 1}', "[1, 2]"]:
            Path("r.json").write_text(text)
            self.fails([TRAINC, *compile_toy], 2, "--report=r.json: the file holds something else than a compile report, which would be lost")
            self.assertEqual((Path("r.json").read_text(), Path("mlp.plan").exists()), (text, False))
        Path("r.json").write_text("")
        for _ in range(2):
            self.trainc(*compile_toy)
            self.assertIn("memory", json.loads(Path("r.json").read_text()))

    def memory(self, *options):
        """Memory of the golden GPT according to the report."""
        self.compile(program("gpt"), "--report=report.json", *options, to="gpt.plan")
        return json.loads(Path("report.json").read_text())["memory"]

    def test_memory_limit(self):
        Path("gpt.mlir").write_text(program("gpt"))
        process = self.memory()["unplanned"] >> 10  # KiB of memory that no plan places

        def advice(kib, *options, cpu="native"):
            """The message if the plan may use that much."""
            # The compiler chooses settings that are not given, so that the plan fits.
            given = ["--offload=none", *options] if "--micro-batch=1" in options else ["--offload=none", "--micro-batch=3", *options]
            if not any(option.startswith("--activation-checkpointing") for option in options):
                given.append("--activation-checkpointing=none")
            err = self.fails([TRAINC, "compile", "gpt.mlir", "-o", "x.plan", f"--memory-limit={process + kib}kib", f"--cpu={cpu}", *given], 2,
                             "gpt.mlir:30:1: error: the plan needs", f"the memory limit is {(process + kib) / 1024:.1f} MiB ({(process + kib) << 10} bytes); the plan fits into --memory-limit=")
            return next(line for line in err.split("\n") if "error: " in line).partition(" for its buffers (")[2].replace("; or: ", "; ")

        ranks = "--ranks=N --zero-stage=3 shards states over processes; "
        parameters, moments = "--param-type=bf16 holds parameters in bf16 alone; ", "--optimizer-states=bf16 holds moments in half the bytes; "
        activations = "--precision=bf16 keeps most activations in half the bytes; "
        full = "--activation-checkpointing=full keeps fewer activations; "
        recompute = "--activation-checkpointing=selective or " + full
        one, parts = "the micro-batch is one sample already; a shorter --seq-len keeps fewer", "--micro-batch=1 --accumulate=3"
        text = advice(500)
        self.assertRegex(text, r"^activations [0-9.]+ KiB \(\d+%\), optimizer states 227.*, parameters 114")
        self.assertIn("; " + ranks + "--precision=bf16 " + parameters + moments + activations + recompute + "the same step in smaller micro-batches", text)
        self.assertIn(parts, text)
        text = advice(400)
        self.assertIn("a smaller --micro-batch keeps fewer", text)
        self.assertIn("with --accumulate gradients would stay", text)
        self.assertIn("; " + recompute + one, advice(400, "--micro-batch=1", "--precision=fp32", "--optimizer-states=f32"))
        self.assertIn(ranks + full + one,
                      advice(400, "--micro-batch=1", "--precision=fp32", "--optimizer-states=f32", "--activation-checkpointing=selective"))
        self.assertIn(ranks + one, advice(400, "--micro-batch=1", "--precision=fp32", "--optimizer-states=f32", "--activation-checkpointing=full"))
        text = advice(100)
        self.assertIn("alone take 341 KiB, whatever the batch; " + ranks + "--precision=bf16 " + parameters + moments + "else freeze parameters", text)

        # Advice never names settings that are given, or that contradict given ones.
        for options, named in [(["--precision=fp32"], [moments]), (["--precision=fp16"], [moments]), (["--optimizer-states=bf16"], ["--precision=bf16 " + parameters, activations]),
                               (["--param-type=f32"], [moments, activations]), (["--precision=bf16"], [parameters, moments]),
                               (["--precision=bf16", "--param-type=bf16"], [moments]), (["--precision=bf16", "--param-type=bf16", "--optimizer-states=bf16"], [])]:
            with self.subTest(options=options):
                grown = (self.memory(*options)["unplanned"] >> 10) - process
                text = advice(grown + 390, *options)
                self.assertEqual([word for word in re.findall(r"; (?:else )?([^;]*)", text) if "bf16" in word], [word.rstrip("; ") for word in named])
        self.assertNotIn("--precision", advice(500, "--fp32-products=bf16x3", cpu="x86-64-v4"))
        Path("gpt.mlir").write_text(edited(program("gpt"), ("adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)", "sgd")))
        self.assertNotRegex(advice(100), "--optimizer-states")

    def test_what_is_advised_takes_less(self):
        """Members and statistics of a small model are padded and kept in f32; docs/explanation/precision.md has a large one's numbers."""
        full = self.memory()
        sizes = lambda kind, *options: self.memory(*options)[kind] / full[kind]
        self.assertLess(sizes("parameters", "--precision=bf16", "--param-type=bf16"), 0.6)
        self.assertLess(sizes("optimizer", "--optimizer-states=bf16"), 0.6)
        self.assertLess(sizes("activations", "--precision=bf16"), 0.7)

    def test_commands(self):
        known = "error: expected compile, estimate, import, tokenize, consolidate, export, report, sign, dump, simulate, calibrate or help, found "
        self.fails([TRAINC, "foo"], 2, known + "'foo'\nRun trainc --help")
        self.assertEqual(self.trainc("help"), self.trainc(code=2))
        self.fails([TRAINC, "help", "tokeniser"], 2, "error: expected start, ", "found 'tokeniser'; did you mean 'tokenize'?\n")
        for topic in ["offload", "training", "generate"]:
            self.assertIn("See docs/", self.trainc("help", topic)[0])
        for word, instead in [("convert", "trainc consolidate CHECKPOINT -o model.safetensors"), ("train", "trainrun PLAN --data=FILE")]:
            self.fails([TRAINC, word], 2, f"error: '{word}' is not a command of trainc; write `{instead}`\n")
        self.fails([TRAINC, "-o", "x.plan", "compile", "gpt.mlir"], 2, "error: -o is an option of compile: write it after `trainc compile`\n")
        self.fails([TRAINC, "dump", "a.plan", "b.plan", "c.plan"], 2, "error: expected nothing else, found b.plan c.plan\nRun trainc dump --help")
        self.fails([TRAINC, "compil", "mlp.mlir"], 2, "found 'compil'; did you mean 'compile'?\n")

    def test_help_fits_into_terminals(self):
        for command in ["compile", "estimate", "import", "tokenize", "consolidate", "export", "report", "sign", "dump", "simulate", "calibrate", ""]:
            out, _ = self.trainc(*filter(None, [command]), "--help")
            self.assertLessEqual(max(map(len, out.splitlines())), 100, command)

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

    def test_no_temporary_files(self):
        """No temporary files are left, however the compiler ends, because it creates none."""
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


if __name__ == "__main__":
    harness.main()
