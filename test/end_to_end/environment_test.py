"""trainrun in an unusual environment: closed or full streams, pipes whose reader quits, special or changing files, low limits. The plan is that of
toy_run.py."""

import os
import re
import resource
import signal
import unittest
from pathlib import Path

import harness
from harness import TRAINC, TRAINRUN, Tensor, write_safetensors
from toy_run import TrainrunTest

ENDLESS = ["--data", "tokens.bin", "--steps", "100000000"]


class Streams(TrainrunTest):
    def shell(self, script, code=0):
        """Runs a script in which $T is trainrun and $TRAIN a short training."""
        train = f"{TRAINRUN} toy.plan --data tokens.bin --steps 20"
        return self.run_program("bash", "-c", script, code=code, env={**os.environ, "T": TRAINRUN, "TRAIN": train})

    def weights(self):
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 16], [0.0] * 256)})
        return "--init w.safetensors --tokenizer=bytes --generate=$'\\x01'"

    def test_no_standard_error(self):
        for redirection in ["2>/dev/full", "2>&-", "0>&- 1>&- 2>&-"]:
            with self.subTest(redirection=redirection):
                self.shell(f"$TRAIN --checkpoint-dir ck {redirection}")
                self.assertEqual(self.checkpoints("ck"), ["step-00000020"])
                self.shell(f"$T nope.plan --data tokens.bin {redirection}", code=2)
                self.shell(f"$T --nope {redirection}", code=2)
                Path("ck").rename("old" + redirection.replace("/", "-"))

    def test_lost_output_is_a_failure(self):
        for arguments in ["--help", "--version", "toy.plan --device=null", f"toy.plan {self.weights()}"]:
            for redirection, reason in [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]:
                with self.subTest(arguments=arguments, redirection=redirection):
                    _, err = self.shell(f"$T {arguments} {redirection}", code=1)
                    self.assertIn(f"error: cannot write to standard output: {reason}", err)

    def test_readers_that_quit(self):
        """A run continues without a reader of its messages, metrics or trace; text generation ends without a reader."""
        os.mkfifo("fifo")
        train = "$T toy.plan --data tokens.bin --steps 20000 --checkpoint-dir ck --metrics fifo"
        # The shell itself reads the pipe before trainrun opens it, and until one line has come.
        self.shell(f"set -o pipefail; exec 3<>fifo; {train} 3>&- 2>&1 | true & head -1 <&3 >head; exec 3>&-; wait %1")
        self.assertEqual(self.checkpoints("ck"), ["step-00020000"])
        self.shell("exec 3<>fifo; $T toy.plan --data tokens.bin --steps 300 --trace=fifo --trace-steps=300 3>&- & head -1 <&3 >head; exec 3>&-; wait %1")
        _, err = self.shell(f"set -o pipefail; $T toy.plan {self.weights()} --max-tokens 100000 | head -c 1", code=1)
        self.assertIn("error: cannot write to standard output: Broken pipe", err)


class Signals(TrainrunTest):
    def test_a_closed_terminal_ends_with_a_checkpoint(self):
        process = self.start(*ENDLESS, "--checkpoint-dir", "ck", "--metrics", "m.jsonl")
        self.wait_for("m.jsonl")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        self.assertIn("stopped by SIGHUP", process.communicate(timeout=30)[1].decode())
        self.assertEqual((process.returncode, len(self.checkpoints("ck"))), (0, 1))

    def test_nohup_is_respected(self):
        process = self.start(*ENDLESS, "--metrics", "m.jsonl", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for("m.jsonl")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        self.assertIn("stopped by SIGTERM", process.communicate(timeout=30)[1].decode())


class Files(TrainrunTest):
    def test_pipes_are_not_waited_for(self):
        os.mkfifo("pipe")
        train = ["--data", "tokens.bin", "--steps", "1"]
        self.fails([TRAINRUN, "pipe", *train], 2, "pipe: expected a regular file, found a pipe", timeout=10)
        for arguments in [["--data", "pipe", "--steps", "1"], [*train, "--eval-data", "pipe"], [*train, "--init", "pipe"],
                          [*train, "--metrics", "pipe"], [*train, "--trace", "pipe"]]:
            with self.subTest(arguments=arguments):
                self.run_fails(2, "pipe", *arguments)

    def test_data_that_is_cut_ends_with_a_checkpoint(self):
        process = self.start(*ENDLESS, "--checkpoint-dir", "ck", "--metrics", "m.jsonl")
        self.wait_for("m.jsonl")
        os.truncate("tokens.bin", 100)
        err = process.communicate(timeout=30)[1].decode()
        self.assertRegex(err, r"error: tokens.bin: byte \d+: the file was truncated while in use; it had 1602 bytes")
        self.assertEqual((process.returncode, len(self.checkpoints("ck"))), (2, 1))

    def test_a_plan_that_is_cut_runs_on(self):
        process = self.start(*ENDLESS, "--metrics", "m.jsonl")
        self.wait_for("m.jsonl")
        os.truncate("toy.plan", 0)
        self.train(1, code=2)
        process.send_signal(signal.SIGTERM)
        self.assertIn("stopped by SIGTERM", process.communicate(timeout=30)[1].decode())

    def test_bus_errors_that_no_file_makes_end_the_process_as_such(self):
        process = self.start(*ENDLESS, "--metrics", "m.jsonl")
        self.wait_for("m.jsonl")
        process.send_signal(signal.SIGBUS)
        self.assertNotIn("became shorter", process.communicate(timeout=30)[1].decode())
        self.assertEqual(process.returncode, -signal.SIGBUS)

    def test_metrics_replace_no_other_file(self):
        train = ["--data", "tokens.bin", "--steps", "2"]
        self.run_ok(*train, "--checkpoint-dir", "ck")
        Path("notes.txt").write_text("notes\n")
        Path("rewards.jsonl").write_text('{"step": 1, "reward": 2}\n')
        for path in ["tokens.bin", "toy.plan", "notes.txt", "rewards.jsonl", "ck/step-00000002/model.safetensors"]:
            for more in [[], ["--resume=ck"]]:
                with self.subTest(path=path, more=more):
                    before = Path(path).read_bytes()
                    self.run_fails(2, f"--metrics={path}: the file holds something else than metrics", *train, *more, "--metrics", path)
                    self.assertEqual(Path(path).read_bytes(), before)

    def test_small_stacks(self):
        def limit(soft, hard):
            return lambda: resource.setrlimit(resource.RLIMIT_STACK, (soft << 10, hard if hard < 0 else hard << 10))

        train = [TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps", "1"]
        self.run_program(*train, preexec_fn=limit(128, resource.RLIM_INFINITY))
        # With less than 16 KiB no program at all starts.
        for kib in (64, 512, 1000):
            for program in (train, [TRAINC, "dump", "toy.plan"], [TRAINC, "compile", "none.mlir", "-o", "x.plan"]):
                with self.subTest(program=program[0], kib=kib):
                    self.fails(program, 1, f"the system limits the stack to {kib} KiB; at least 1024 are needed", preexec_fn=limit(kib, kib))

    @unittest.skipIf(os.environ.get("TRAINC_SANITIZE"), "sanitizers need memory of their own")
    def test_hardly_any_memory(self):
        with open("toy.plan", "ab") as plan:  # which is read whole
            plan.truncate(64 << 20)
        self.fails([TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps", "1"], 1,
                   "error: the system gives no more memory (see ulimit -v and -d, and the container's limit): out of memory\n",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (8 << 20, 8 << 20)))

    def test_more_files_than_may_be_open(self):
        os.mkdir("data")
        for i in range(300):
            Path(f"data/{i}.bin").write_bytes(Path("tokens.bin").read_bytes())
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        _, err = self.run_ok("--data", "data/*.bin", "--steps", "2",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard)))
        self.assertIn("30000 samples in 300 files", err)

    def test_files_of_another_size(self):
        """A wrong file is rejected without reading it whole. Sparse files take no disk space."""
        for name in ["large", "tokenizer.json"]:
            Path(name).touch()
            os.truncate(name, 1 << 40)
        self.fails([TRAINRUN, "large", "--device=null"], 2, "error: large: not a plan file")
        self.fails([TRAINRUN, "toy.plan", "--device=null", "--trust=large"], 2, "error: --trust=large: expected at most 1048576 bytes, found 1099511627776")
        Path("text").write_text("text")
        self.fails([TRAINC, "tokenize", "text", "--tokenizer=tokenizer.json", "-o", "text.bin"], 2, "tokenizer.json: expected at most 1073741824 bytes, "
                   "found 1099511627776; is it the right file?")
        with open("large", "r+b") as file:
            file.write(b"TRNCPLAN")
        for command in [[TRAINRUN, "large", "--device=null"], [TRAINC, "dump", "large"]]:
            self.fails(command, 2, re.compile(r"error: large: expected at most \d+ bytes, found 1099511627776"))

    def test_deep_json(self):
        deep = "[" * 100000 + "]" * 100000
        header = ('{"tokens": {"dtype": "U16", "data_offsets": [0, 0], "shape": ' + deep + "}}").encode()
        Path("deep.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
        self.run_fails(2, "not a JSON object", "--data", "deep.safetensors", "--steps", "1")
        self.train(1, "--checkpoint-dir", "ck")
        Path("ck/step-00000001/trainer_state.json").write_text('{"step": ' + deep + "}")
        self.run_fails(2, "not a JSON object", "--data", "tokens.bin", "--steps", "2", "--resume=ck")
        Path("tokenizer.json").write_text('{"model": {}, "pre_tokenizer": ' + deep + "}")
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 16], [0.0] * 256)})
        self.run_fails(2, "tokenizer.json: nested deeper than 64 levels", "--init", "w.safetensors", "--generate=a", "--tokenizer",
                       "tokenizer.json")

    def test_no_room_for_kernels(self):
        self.fails([TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps", "1"], 1, "error: toy.plan: cannot load the plan's kernels",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))

    def test_nothing_to_learn(self):
        columns = {"tokens": Tensor("I32", [8, 8], [1] * 64), "labels": Tensor("I32", [8, 8], [-100] * 64)}
        write_safetensors("ignored.safetensors", columns)
        _, err = self.run_ok("--data", "ignored.safetensors", "--steps", "3")
        self.assertEqual(err.count("warning: step 1: all targets of its 8 samples are ignored"), 1)
        self.assertEqual(err.count("all targets"), 1)

    def test_an_evaluation_that_is_not_finite_fails(self):
        write_safetensors("huge.safetensors", {"wte.weight": Tensor("F32", [16, 16], [3e38] + [-3e38] * 255)})
        self.run_fails(1, "error: evaluation: the loss is inf", "--init", "huge.safetensors", "--eval-data", "tokens.bin")


if __name__ == "__main__":
    harness.main()
