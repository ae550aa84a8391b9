"""trainrun where its surroundings are odd: streams that are closed or full, pipes whose reader quits, files that are none or
change, low limits. The plan is that of trainrun_test.py."""

import os
import signal
import subprocess
from pathlib import Path

import harness
from harness import MAKE_TOY_PLAN, TRAINRUN, Tensor, write_safetensors
from trainrun_test import TrainrunTest

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
        """A run goes on without the reader of its messages or metrics; a text has no use without its reader."""
        os.mkfifo("fifo")
        train = "$T toy.plan --data tokens.bin --steps 20000 --checkpoint-dir ck --metrics fifo"
        self.shell(f"set -o pipefail; {train} 2>&1 | true & head -1 fifo >head; wait %1")
        self.assertEqual(self.checkpoints("ck"), ["step-00020000"])
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


if __name__ == "__main__":
    harness.main()
