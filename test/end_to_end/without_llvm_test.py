"""trainc without LLVM, in builds with it and without: `tokenize`, `dump`, and `consolidate`, which has more tests of its own."""

import array
import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import harness
from harness import GOLDEN, MAKE_TOY_PLAN, TRAINC

TEXT = "In the beginning God created the heaven and the earth.\nÅb 中文 🙂\n"


class Tokenize(harness.EndToEndTest):
    def test_bytes(self):
        Path("a.txt").write_text(TEXT)
        other = "".join(map(chr, range(1, 600)))
        Path("b.txt").write_text(other, newline="")
        self.trainc("tokenize", "--tokenizer=bytes", "a.txt", "b.txt", "-o", "tokens.bin")
        tokens = array.array("H", Path("tokens.bin").read_bytes())
        self.assertEqual(bytes(tokens.tolist()), (TEXT + other).encode())
        sidecar = json.loads(Path("tokens.bin.json").read_text())
        self.assertEqual((sidecar["tokenizer"], sidecar["vocabulary"], sidecar["dtype"]), ("bytes", 256, "uint16"))

    def test_byte_pairs(self):
        Path("a.txt").write_text(TEXT)
        folder = GOLDEN / "tokenizer"
        for name, tokenizer in [("file", folder / "tokenizer.json"), ("folder", folder)]:
            self.trainc("tokenize", f"--tokenizer={tokenizer}", "a.txt", "-o", f"{name}.bin")
        tokens = Path("file.bin").read_bytes()
        self.assertEqual(tokens, Path("folder.bin").read_bytes())
        self.assertLess(len(tokens) // 2, len(TEXT.encode()))

    def test_word_pieces_and_unigram(self):
        Path("a.txt").write_text(TEXT)
        Path("bert").mkdir()
        shutil.copy(GOLDEN / "tokenizer" / "vocab.txt", "bert")
        words = [352, 317, 533, 330, 995, 438, 1303, 325, 317, 582, 319, 317, 524, 12, 423, 1, 173, 1]
        pieces = [279, 293, 261, 282, 387, 418, 293, 315, 319, 460, 303, 286, 424, 281, 261, 404, 262, 261, 369, 263, 260, 0, 377, 260, 0, 260, 0]
        for tokenizer, expected in [(GOLDEN / "tokenizer" / "word_piece.json", words), ("bert", [2, *words, 3]),
                                    (GOLDEN / "tokenizer" / "unigram.json", pieces)]:  # as Hugging Face's tokenizers
            with self.subTest(tokenizer=tokenizer):
                self.trainc("tokenize", f"--tokenizer={tokenizer}", "a.txt", "-o", "tokens.bin")
                self.assertEqual(array.array("H", Path("tokens.bin").read_bytes()).tolist(), expected)
        Path("bert/vocab.txt").rename("bert/spiece.model")
        self.fails([TRAINC, "tokenize", "--tokenizer=bert", "a.txt", "-o", "t.bin"], 2, "bert/spiece.model: a model of SentencePiece", "save_pretrained")

    def test_errors(self):
        Path("a.txt").write_text(TEXT)
        Path("bad.json").write_text("{")
        tokenize = [TRAINC, "tokenize", "-o", "out.bin"]
        for arguments, expected in [(["none.txt"], "none.txt"), (["a.txt", "--tokenizer=none.json"], "none.json"),
                                    (["a.txt", "--tokenizer=bad.json"], "bad.json"), ([], "TEXT... is required")]:
            with self.subTest(arguments=arguments):
                self.fails([*tokenize, *arguments], 2, expected)
                self.assertFalse(Path("out.bin").exists())
        self.fails([TRAINC, "tokenize", "a.txt", "-o", "a.txt"], 2, "-o a.txt would replace the text 'a.txt'")
        self.assertEqual(Path("a.txt").read_text(), TEXT)

    def test_outputs_replace_no_input(self):
        Path("a.txt").write_text(TEXT)
        shutil.copy(GOLDEN / "tokenizer" / "tokenizer.json", "x.json")
        os.symlink("a.txt", "link.txt")
        for arguments, expected in [(["a.txt", "-o", "a.txt"], "-o a.txt would replace the text 'a.txt'; name another file"),
                                    (["a.txt", "-o", "link.txt"], "-o link.txt would replace the text 'a.txt'"),
                                    (["x.json", "-o", "x"], "-o x, which writes 'x.json' too, would replace the text 'x.json'"),
                                    (["a.txt", "-o", "x", "--tokenizer=x.json"], "would replace the tokenizer's 'x.json'"),
                                    (["a.txt", "-o", "none/x"], "-o none/x: the folder 'none' does not exist")]:
            with self.subTest(arguments=arguments):
                self.fails([TRAINC, "tokenize", *arguments], 2, expected)
        self.assertEqual(Path("a.txt").read_text(), TEXT)

    def test_files_that_are_no_tokens_stay(self):
        Path("a.txt").write_text(TEXT)
        tokenize = ["tokenize", "--tokenizer=bytes", "a.txt", "-o", "data"]
        Path("data").write_text("notes")
        self.fails([TRAINC, *tokenize], 2, "-o data: the file holds something else than the tokens that data.json describes, which would be lost")
        Path("data").write_bytes(b"")
        for text in ['{"mine": 1}', "notes"]:
            Path("data.json").write_text(text)
            self.fails([TRAINC, *tokenize], 2, "-o data, which writes data.json: the file holds something else than the sidecar of a token file, ")
            self.assertEqual((Path("data").read_bytes(), Path("data.json").read_text()), (b"", text))
        Path("data.json").unlink()
        for _ in range(2):
            self.trainc(*tokenize)
        tokens = Path("data").read_bytes()
        Path("data").write_bytes(tokens + b"more")
        self.fails([TRAINC, *tokenize], 2, "-o data: the file holds something else")
        self.assertEqual(Path("data").read_bytes(), tokens + b"more")
        Path("data").unlink()
        self.trainc(*tokenize)

    def test_a_signal_leaves_nothing_behind(self):
        Path("a.txt").write_bytes(b"a" * (1 << 20))
        os.truncate("a.txt", 4 << 30)
        for number, name in [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT"), (signal.SIGHUP, "SIGHUP")]:
            with self.subTest(name):
                process = subprocess.Popen([TRAINC, "tokenize", "a.txt", "-o", "tokens.bin"], stderr=subprocess.PIPE)
                deadline = time.monotonic() + 30
                while not any(path.stat().st_size for path in Path(".").glob("tokens.bin*")) and time.monotonic() < deadline:
                    time.sleep(0.001)
                process.send_signal(number)
                err = process.communicate(timeout=30)[1].decode()
                self.assertRegex(err, rf"^error: tokens.bin: not written: stopped after \d+ of {4 << 30} bytes of text \({name}\)$")
                self.assertEqual((process.returncode, os.listdir()), (1, ["a.txt"]))


class FromTextToWeights(harness.EndToEndTest):
    """A user with a plan from another user's compiler."""

    def test_all_that_a_user_of_a_plan_needs(self):
        subprocess.run([MAKE_TOY_PLAN, "toy.plan"], check=True)
        out, _ = self.trainc("dump", "toy.plan")
        self.assertRegex(out, r"^plan toy target=cpu ranks=1 ")
        self.assertIn("\nstate wte.weight f32 [16, 16] parameter in wte\n", out)
        Path("text").write_bytes(bytes(1 + i % 8 for i in range(1000)))
        self.trainc("tokenize", "--tokenizer=bytes", "text", "-o", "tokens.bin")
        self.trainrun("toy.plan", "--data", "tokens.bin", "--steps", "5", "--checkpoint-dir", "run")
        self.trainc("consolidate", "run", "-o", "model.safetensors")
        self.assertEqual(harness.read_safetensors("model.safetensors")["wte.weight"].shape, [16, 16])

    def test_dump_refuses_what_is_no_plan(self):
        Path("text").write_text(TEXT)
        self.fails([TRAINC, "dump", "text"], 2, "error: text: ")

    @unittest.skipUnless(os.environ.get("TRAINC_RUNTIME_ONLY") == "1", "this trainc compiles")
    def test_compile_says_what_is_missing(self):
        model = GOLDEN / "mlp" / "mlp.mlir"
        self.fails([TRAINC, "compile", model, "-o", "mlp.plan"], 2,
                   f"error: compile: this trainc was built without LLVM; it has import, export, tokenize, consolidate, sign, dump, report and simulate. Compile {model} with a trainc")
        self.assertEqual(os.listdir(), [])
        self.fails([TRAINC, "compile", model, "-o", "mlp.plan", "--ranks=0"], 2, "--ranks")


if __name__ == "__main__":
    harness.main()
