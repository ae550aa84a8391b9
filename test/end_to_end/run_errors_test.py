"""trainrun's messages about plans and options. Exit code 2 for bad usage and input, 1 for a failed run."""

import os
import re
import struct
from pathlib import Path

import harness
from golden_runs import GoldenRunTest
from harness import GOLDEN, TRAINC, TRAINRUN, edited, program


class RunErrors(GoldenRunTest):
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
            (with_number(8, 9), ["plan format 9.0 is newer than this program's 7.0; use a trainrun of"]),
            (with_number(12, 9), ["plan format 7.9 is newer than this program's 7.0; use a trainrun of"]),
            (with_number(8, 1), ["plan format 1.0 is older than this program's 7.0; compile the model again"]),
        ]:
            with self.subTest(expected=expected):
                Path("bad.plan").write_bytes(content)
                self.fails(self.train("--steps", "1", plan="bad.plan"), 2, "bad.plan: ", *expected)
                self.fails([TRAINRUN, "bad.plan", "--device=null"], 2, "bad.plan: ", *expected)
                self.fails([TRAINC, "dump", "bad.plan"], 2, "bad.plan: ", *expected)
        self.fails(self.train(plan="none.plan"), 2, "none.plan: cannot open")

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
            ("--max_steps", "--max_steps: write --steps=N"),
            ("--bf16", "--bf16: the plan has decided it. Give --precision=bf16 to trainc compile, and run the new plan"),
            ("--output_dir", "--output_dir: write --checkpoint-dir=DIR"),
            ("--num_train_epochs", "--num_train_epochs: write --epochs=N"),
            ("--persist-below", "--persist-below: the plan has decided it. Give --param-persistence-threshold to trainc compile, and run the new plan"),
            ("--checkpoint-stride", "--checkpoint-stride: the plan has decided it. Give --checkpoint-keep=0,100,0,100 to trainc compile, and run the new plan"),
            ("--loss-scale-window", "--loss-scale-window: it is no longer an option: the scale doubles after 2000 steps without overflow"),
            ("--cpu", "--cpu: the plan has decided it. Give --cpu to trainc compile"),
            ("-r", "-r: it is not needed here: torchrun takes it: write it before trainrun"),
            ("-H", "-H: there is no such thing here yet; mpirun, srun or torchrun choose hosts and start trainrun there"),
            ("-i", "-i: there is no such thing here yet; mpirun, srun or torchrun choose hosts and start trainrun there"),
            ("-e", "-e: there is no such thing here yet; mpirun, srun or torchrun choose hosts and start trainrun there"),
            ("--tp_size", "--tp_size: there is no such thing here yet; models are not divided by tensors"),
            ("--deepspeed", "--deepspeed: there is no such thing here yet; recipes of DeepSpeed are not read"),
        ]:
            with self.subTest(option=option):
                self.fails(self.train("--steps", "1", option, "3"), 2, "error: " + expected, "\nRun trainrun --help for the options\n")

    def test_flags_and_values_of_other_programs(self):
        self.fails(self.train("--cpu"), 2, "error: --cpu: it is not needed here: --target=cpu is the default of trainc compile\n")
        self.fails(self.train("--fsdp", "full_shard offload"), 2, "error: --fsdp: the plan has decided it. Give --zero-stage=3 --offload=parameters,optimizer to trainc compile")
        for word in ("gpu", "auto"):
            self.fails(self.train(f"--nproc-per-node={word}"), 2, f"error: --nproc-per-node: expected the plan's number of ranks, found '{word}'; a plan has as many as "
                       "trainc compile --ranks=N says\n")
        self.fails(self.train("--nproc-per-node=65537"), 2, "--nproc-per-node: expected a whole number from 1 to 65536, without leading zeros, found '65537'\n")

    def test_empty_patterns(self):
        for value in [",", "a,", ",a", "a,,b"]:
            self.fails([TRAINRUN, "gpt.plan", "--init=x", f"--init-missing={value}", "--data", "x"], 2,
                       f"error: --init-missing: expected an element before and after each comma, found '{value}'\nRun trainrun")
            self.fails([TRAINRUN, "gpt.plan", "--init=x", "--data", "x", "--init-ignore", value], 2, f"error: --init-ignore: expected an element before and after each comma, found '{value}'\n")

    def test_files_of_options_that_cannot_be_opened(self):
        self.fails(self.train("--steps=1", "--trust=nokey"), 2, "error: --trust=nokey: cannot open: No such file or directory\n")
        self.fails(self.train("--steps=1", "--trace=none/t.json"), 2, "error: --trace=none/t.json: there is no folder 'none'")

    def test_former_words_have_answers(self):
        """Each name that a setting had once is answered by both programs."""
        text = (harness.ROOT / "dialects" / "Train" / "ProgramLines.h").read_text()
        words = set(re.findall(r'^    \{\.word = "(\w+)"', text, re.MULTILINE)) - {"micro_batch", "seq_len"}  # are options
        self.assertIn("loss_scale_min", words)
        for word in sorted(words):
            option = "--" + word.replace("_", "-")
            self.assertNotIn("is unknown", self.fails(self.train(option + "=3"), 2, f"error: {option}: "))
            self.assertNotIn("is unknown", self.fails([TRAINC, "compile", "x.mlir", option + "=3"], 2, f"error: {option}: "))

    def test_unknown_values(self):
        for option, expected in [
            ("--device=gpu", "--device: expected auto, cpu, cuda, emulated or null, found 'gpu'; did you mean 'cuda'?"),
            ("--comm=ncll", "--comm: expected auto, local, mpi or nccl, found 'ncll'; did you mean 'nccl'?"),
            ("--data-dtype=int16", "--data-dtype: expected uint8, uint16 or uint32, found 'int16'; did you mean 'uint16'?"),
            ("--on-nonfinite=go", "--on-nonfinite: expected stop or skip, found 'go'"),
            ("--log-level=warn", "--log-level: expected error, warning, info or debug, found 'warn'; did you mean 'warning'?"),
        ]:
            with self.subTest(option=option):
                self.fails(self.train("--steps", "1", option), 2, f"error: {expected}\nRun trainrun --help for the options\n")
        self.run_program(*self.train("--steps", "1", "--device=CPU", "--log-level=Debug"))  # in any case, as trainc's

    def test_a_communicator_of_other_processors(self):
        """Also with one rank, which communicates with nobody, and where nothing is computed."""
        for arguments in [["--steps", "1"], ["--device=null"]]:
            self.fails(self.train(*arguments, "--comm=nccl"), 2, "error: --comm=nccl: the plan gpt.plan is for CPUs, and NCCL moves the memory of GPUs: leave "
                       "the option out, or compile with --target=cuda\n")

    def test_options_of_the_other_program(self):
        """Each program knows all options of the other, and none has the name of another one."""
        for help, expected in [((TRAINC, "compile"), "--precision fp32|bf16|fp16 "), ((TRAINRUN,), "--log-level error|warning|info|debug=info"), ((TRAINRUN,), "--steps N ")]:
            self.assertIn(expected, self.run_program(*help, "--help")[0])
        options = lambda *help: set(re.findall(r"^ +(?:-\w,)?--([a-z0-9-]+)", self.run_program(*help, "--help")[0], re.MULTILINE)) - {"help", "version", "quiet"}  # both have these
        of_compile, of_trainrun = options(TRAINC, "compile"), options(TRAINRUN)
        self.assertLess({"micro-batch", "wrap", "output"}, of_compile)
        self.assertLess({"steps", "resume", "comm"}, of_trainrun)
        self.assertEqual(of_compile & of_trainrun, set())
        for option in sorted(of_compile):
            self.fails(self.train(f"--{option}=x"), 2, f"error: --{option}: the plan has decided it. Give --{option} to trainc compile")
        for option in sorted(of_trainrun):
            self.fails([TRAINC, "compile", "x.mlir", "--" + option], 2, f"error: --{option}: trainrun decides it. Give --{option} to trainrun")

    def test_contradictory_options(self):
        self.fails(self.train("--steps=1", "-q", "--log-level=debug"), 2, "--quiet and --log-level contradict each other; leave one out")
        self.fails(self.train("--steps=1", "--init=gpt2"), 2, "error: --init=gpt2: there is no such file or folder; name one of this machine, as nothing is downloaded\n")
        self.fails(self.train("--init", "a", "--resume=b"), 2, "--init and --resume contradict each other")
        self.fails([TRAINRUN, "gpt.plan", "--steps", "3"], 2, "--steps needs --data")
        self.fails(self.train("--metrics", "./tokens.bin"), 2, "--metrics=./tokens.bin: the file holds something else than metrics, which would be lost")

    def test_no_memory_for_weights(self):
        self.compile(edited(program("mlp"), ('"fc1" %features to 32', '"fc1" %features to 400000'), ('"fc2" %a1 to 32', '"fc2" %a1 to 400000')), to="wide.plan")
        self.fails(self.train("--steps", "1", plan="wide.plan", data=GOLDEN / "mlp" / "data.safetensors"), 1,
                   re.compile(r"error: wide.plan: cannot allocate \d+ bytes for arena 'persistent': Cannot allocate memory; of the plan's \d+ bytes, \d+ are parameters, "
                              r"gradients and optimizer states, whatever the batch, and \d+ grow with it: a smaller model needs less, and --ranks=N --zero-stage=3 "
                              r"divide it over processes\n"))
        self.compile(edited(program("mlp"), ("batch 8", "batch 1048576"), ('"fc1" %features to 32', '"fc1" %features to 100000')), to="wide.plan")
        self.fails(self.train("--steps", "1", plan="wide.plan", data=GOLDEN / "mlp" / "data.safetensors"), 1, "cannot allocate", ": compile with a smaller --micro-batch")


if __name__ == "__main__":
    harness.main()
