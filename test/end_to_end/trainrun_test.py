"""Options and errors of trainrun, except for those of checkpoints, with the plan of toy_run.py."""

import json
import math
import os
import pty
import re
import shutil
import signal
import subprocess
from pathlib import Path

import harness
from harness import TRAINRUN, Tensor, write_safetensors
from toy_run import TrainrunTest, write_tokens


class Training(TrainrunTest):
    def test_loss_falls_and_metrics_are_complete(self):
        _, err = self.train(60, "--metrics", "m.jsonl", "--eval-data", "tokens.bin", "--eval-every", "25")
        lines = self.metrics()
        steps = [line for line in lines if "loss" in line]
        self.assertEqual([line["step"] for line in steps], list(range(1, 61)))
        self.assertGreater(steps[0]["loss"], 2)
        self.assertLess(steps[-1]["loss"], 1)
        keys = {"step", "loss", "lr", "grad_norm", "tokens", "step_seconds", "tokens_per_second", "peak_bytes", "mfu"}
        self.assertEqual(set(steps[1]), keys)
        self.assertEqual(set(steps[0]), keys | {"start_seconds"})
        self.assertLess(steps[0]["start_seconds"], 5)
        self.assertIsNone(steps[0]["mfu"])
        evaluations = [line for line in lines if "eval_loss" in line]
        self.assertEqual([line["step"] for line in evaluations], [25, 50, 60])
        self.assertAlmostEqual(evaluations[-1]["perplexity"], math.exp(evaluations[-1]["eval_loss"]))
        for text in ["256 parameters", "threads", "step 1/60", "tok/s", "ETA", "step 60/60"]:
            self.assertIn(text, err)

    def test_epochs_are_steps_of_all_samples(self):
        """A step takes 8 samples; the last one of an epoch that fills none begins the next epoch."""
        for epochs in (1, 1.3):
            _, err = self.run_ok("--data", "tokens.bin", f"--epochs={epochs}", "--metrics", "m.jsonl")
            samples = int(re.search(r"data: (\d+) samples", err)[1])
            steps = math.ceil(epochs * samples / 8)
            self.assertEqual(len([line for line in self.metrics() if "loss" in line]), steps)
            self.assertIn(f"; steps 1 to {steps} ({epochs} epochs)\n", err)

    def test_planned_bytes_are_those_of_the_dry_run(self):
        self.train(1, "--metrics", "m.jsonl")
        out, _ = self.run_ok("--device=null", "--data", "tokens.bin")
        self.assertIn(f"planned: {self.metrics()[0]['peak_bytes']} bytes", out)
        for text in ["entry micro_step", "input labels i32 [8, 8] of the whole step, below 16", "100 samples"]:
            self.assertIn(text, out)

    def test_progress_line_on_a_terminal(self):
        reader, writer = pty.openpty()
        process = subprocess.Popen([TRAINRUN, "toy.plan", "--data", "tokens.bin", "--steps", "30000"], stderr=writer)
        os.close(writer)
        text = b""
        try:
            while chunk := os.read(reader, 4096):
                text += chunk
        except OSError:  # Linux reports the end of a pseudo-terminal as an error
            pass
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"\r\x1b[Kstep ", text)
        self.assertIn(b"ETA", text)
        self.assertIn(b"step 30000/30000", text)

    def test_log_level(self):
        self.assertEqual(self.train(2, "--log-level", "warning"), ("", ""))

    def test_options_of_ranks_do_nothing_on_one(self):
        options = ["--comm=local", "--comm-timeout=3", "--log-level-replica=info", "--log-on-each-node"]
        _, err = self.train(2, "--log-level", "warning", *options)
        self.assertEqual(err.splitlines(), [f"warning: {option.split('=')[0]} does nothing: the plan is for one rank" for option in options])

    def test_not_finite(self):
        # Logits whose distance no f32 holds.
        write_safetensors("huge.safetensors", {"wte.weight": Tensor("F32", [16, 16], [3e38] + [-3e38] * 255)})
        _, err = self.train(5, "--init", "huge.safetensors", "--metrics", "m.jsonl", code=1)
        for text in ["step 1: the loss is inf", "update was not applied", "nn.cross_entropy", "micro_step"]:
            self.assertIn(text, err)
        self.assertEqual(len(self.metrics()), 1)
        self.assertIsNone(self.metrics()[0]["loss"])
        _, err = self.train(5, "--init", "huge.safetensors", "--on-nonfinite=skip")
        self.assertIn("warning: step 5: the loss is inf", err)

    def test_data_errors(self):
        self.run_fails(2, "no such file", "--data", "none.bin", "--steps", "1")
        Path("empty.bin").write_bytes(b"")
        self.run_fails(2, "empty.bin", "--data", "empty.bin", "--steps", "1")
        data = bytearray(Path("tokens.bin").read_bytes())
        data[400] = 16
        Path("tokens.bin").write_bytes(data)
        _, err = self.train(40, code=2)
        for text in ["tokens.bin", "400", "16"]:
            self.assertIn(text, err)


class Weights(TrainrunTest):
    def test_init_by_name(self):
        ideal = [50.0 if column == (3 * row + 1) % 16 else 0.0 for row in range(16) for column in range(16)]
        tied = {"transformer.wte.weight": Tensor("F32", [16, 16], ideal), "lm_head.weight": Tensor("F32", [16, 16], ideal),
                "transformer.h.0.attn.bias": Tensor("F32", [1, 1, 1, 1], [1.0])}
        write_safetensors("w.safetensors", tied)
        _, err = self.run_ok("--init", "w.safetensors", "--eval-data", "tokens.bin", "--metrics", "m.jsonl")
        self.assertIn("evaluation loss 0.0000", err)
        self.assertLess(self.metrics()[0]["eval_loss"], 1e-6)

    def test_a_signal_ends_an_evaluation(self):
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 16], [0.0] * 256)})
        write_tokens("many.bin", 500000)
        process = self.start("--init", "w.safetensors", "--eval-data", *["many.bin"] * 50)
        self.wait_until_signals_are_caught(process)
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("error: stopped by SIGTERM before the evaluation was done", err)

    def test_init_mismatch(self):
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 2], [0.0] * 32), "wpe.weight": Tensor("F32", [1], [0.0])})
        self.run_fails(2, ["wte.weight: F32 [16, 2] in the file, F32 [16, 16] in the plan", "only in the file (1)",
                           "wpe.weight"], "--data", "tokens.bin", "--steps", "1", "--init", "w.safetensors")


    def test_renamed_weights(self):
        weights = [9.0 if column == (3 * row + 1) % 16 else 0.0 for row in range(16) for column in range(16)]
        write_safetensors("w.safetensors", {"base.model.wte.weight": Tensor("F32", [16, 16], weights)})
        generate = ["--tokenizer=bytes", "--generate=\x01", "--temperature=0", "--max-tokens=3", "--init", "w.safetensors"]
        self.run_fails(2, "the names differ by a prefix: --rename='base.model.*=*' gives the tensors", *generate)
        for rules in [["base.model.*=*"], ["base.*.wte.*=wte.*"], ["base.model.wte.weight=transformer.wte.weight"], ["*model.w*=*w*", "*=x*"]]:
            if rules == ["base.*.wte.*=wte.*"]:
                self.run_fails(2, "--rename=base.*.wte.*=wte.*: expected PATTERN=REPLACEMENT with as many * on both sides", *generate, f"--rename={rules[0]}")
            elif len(rules) == 2:
                self.run_fails(2, "--rename='*=x*': no tensor of w.safetensors has such a name that no earlier --rename matches", *generate,
                               *[f"--rename={rule}" for rule in rules])
            else:
                self.assertEqual(self.run_ok(*generate, *[f"--rename={rule}" for rule in rules])[0], "\x01\x04\x0d\x08\n")
        self.run_fails(2, "--rename='wpe=wte': no tensor of w.safetensors has such a name", *generate, "--rename=wpe=wte")
        self.run_fails(2, "--rename needs --init", "--data", "tokens.bin", "--steps", "1", "--rename=a=b")

    def test_weights_of_two_files(self):
        zeros = Tensor("F32", [16, 16], [0.0] * 256)
        write_safetensors("a.safetensors", {"wte.weight": zeros})
        write_safetensors("b.safetensors", {"other.weight": zeros})
        both = ["--data", "tokens.bin", "--steps", "1", "--init", "a.safetensors", "--init=b.safetensors"]
        self.run_fails(2, ["a.safetensors, b.safetensors: the weights do not fit", "other.weight"], *both)
        _, err = self.run_ok(*both, "--init-ignore=other.*")
        self.assertIn("initial weights from a.safetensors, b.safetensors", err)
        self.run_fails(2, ["tensor 'wte.weight' is in two files, a.safetensors and a.safetensors"], *both[:-1], "--init=a.safetensors")
        # Checksums of a checkpoint hold for its tensors beside those of another file, also under other names.
        self.run_ok("--data", "tokens.bin", "--steps", "1", "--init", "a.safetensors", "--checkpoint-dir", "ck")
        folder = Path("ck/step-00000001")
        mixed = ["--data", "tokens.bin", "--steps", "1", "--init", folder, "--init=b.safetensors", "--init-ignore=other.*",
                 "--rename=wte.*=transformer.wte.*"]
        self.run_ok(*mixed)
        data = bytearray((folder / "model.safetensors").read_bytes())
        data[-5] ^= 1
        (folder / "model.safetensors").write_bytes(data)
        self.run_fails(2, "the checkpoint is damaged", *mixed)


class Generation(TrainrunTest):
    def setUp(self):
        super().setUp()
        ideal = [9.0 if column == (3 * row + 1) % 16 else 0.0 for row in range(16) for column in range(16)]
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 16], ideal)})
        self.weights = ["--init", "w.safetensors", "--tokenizer=bytes"]

    def test_a_prompt_begins_as_the_tokenizers_file_says(self):
        vocabulary = {letter: id for id, letter in enumerate("abcdefghijklmno")} | {"<s>": 15}
        begins = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
                  "special_tokens": {"<s>": {"id": "<s>", "ids": [15], "tokens": ["<s>"]}}}
        tokenizer = {"model": {"type": "BPE", "vocab": vocabulary, "merges": [], "unk_token": "a"}, "decoder": {"type": "Fuse"}, "post_processor": begins}
        Path("tokenizer.json").write_text(json.dumps(tokenizer))
        generate = ["--init", "w.safetensors", "--tokenizer=tokenizer.json", "--max-tokens", "1"]
        out, _ = self.run_ok(*generate, "--generate=" + "a" * 7)
        self.assertTrue(out.startswith("a" * 7), out)
        self.run_fails(2, "the prompt has 9 tokens, the plan's context holds 8", *generate, "--generate=" + "a" * 8)

    def write_tokenizer(self, **names):
        """Letters for the 16 ids, but for those named: `id9="<eos>"`; None: no token."""
        vocabulary = {letter: id for id, letter in enumerate("abcdefghijklmnop")}
        for key, name in names.items():
            id = int(key.removeprefix("id"))
            vocabulary = {token: other for token, other in vocabulary.items() if other != id} | ({name: id} if name else {})
        Path("tokenizer.json").write_text(json.dumps({"model": {"type": "BPE", "vocab": vocabulary, "merges": [], "unk_token": "a"}, "decoder": {"type": "Fuse"}}))

    def continued(self, *options):
        """After b come e, n, i, the token 9, m and f."""
        return self.run_ok("--init", "w.safetensors", "--tokenizer=tokenizer.json", "--generate=b", "--temperature=0", "--max-tokens=6", *options)

    def test_stops_at_the_end_token_that_something_names(self):
        for usual in ["<|endoftext|>", "<eos>", "<|return|>", "<\uff5cend\u2581of\u2581sentence\uff5c>"]:
            self.write_tokenizer(id9=usual)
            self.assertEqual(self.continued()[0], "beni\n", usual)
        self.write_tokenizer(id9="<over>", id13="<eos>")
        self.assertEqual(self.continued()[0], "be\n")
        self.assertEqual(self.continued("--end-token=<over>")[0], "be<eos>i\n")
        self.run_fails(2, "--end-token=<none>: the tokenizer 'tokenizer.json' has no such token", "--init", "w.safetensors",
                       "--tokenizer=tokenizer.json", "--generate=b", "--end-token=<none>")
        for file, text in [("tokenizer_config.json", {"eos_token": "<over>"}), ("tokenizer_config.json", {"eos_token": {"content": "<over>"}}),
                           ("generation_config.json", {"eos_token_id": 9}), ("generation_config.json", {"eos_token_id": [9, 77]})]:
            Path(file).write_text(json.dumps(text))
            self.assertEqual(self.continued()[0], "be<eos>i\n", text)
            Path(file).unlink()
        sidecar = {"tokenizer": "tokenizer.json", "vocabulary": 16, "dtype": "uint16", "tokens": 801, "tokenizer_xxh3": "0", "end_token": "<over>"}
        Path("tokens.bin.json").write_text(json.dumps(sidecar))
        self.assertEqual(self.continued("--data", "tokens.bin")[0], "be<eos>i\n")
        self.run_ok("--init", "w.safetensors", "--data", "tokens.bin", "--steps", "1", "--checkpoint-dir", "ck")
        out, _ = self.run_ok("--resume=ck", "--tokenizer=tokenizer.json", "--generate=b", "--temperature=0", "--max-tokens=6")
        self.assertEqual(out, "be<eos>i\n")

    def test_tokens_that_the_tokenizer_lacks_are_shown(self):
        self.write_tokenizer(id9=None)
        out, err = self.continued()
        self.assertEqual(out, "beni<|9|>mf\n")
        self.assertIn("warning: the tokenizer has no token 9, which is shown as <|9|>", err)

    def test_greedy_beyond_the_context(self):
        out, _ = self.run_ok(*self.weights, "--generate=\x01", "--temperature", "0", "--max-tokens", "24")
        expected = [1]
        for _ in range(24):
            expected.append((3 * expected[-1] + 1) % 16)
        self.assertEqual(out.encode(), bytes(expected) + b"\n")

    def test_seed_decides(self):
        def sample(seed):
            return self.run_ok(*self.weights, "--generate=\x01", "--temperature", "5", "--seed", seed)[0]

        self.assertEqual(sample("1"), sample("1"))
        self.assertNotEqual(sample("1"), sample("2"))

    def test_unlikely_tokens_are_left_out(self):
        likely, _ = self.run_ok(*self.weights, "--generate=\x01", "--temperature=0", "--max-tokens=12")
        for options in [["--top-p=0"], ["--min-p=1"], ["--top-k=3", "--top-p=0.01"]]:
            self.assertEqual(self.run_ok(*self.weights, "--generate=\x01", "--temperature=5", "--max-tokens=12", *options)[0], likely, options)
        self.assertNotEqual(self.run_ok(*self.weights, "--generate=\x01", "--temperature=5", "--max-tokens=12", "--top-p=1", "--min-p=0")[0], likely)

    def test_penalised_tokens_do_not_repeat(self):
        """A context of 8 tokens; the penalty applies to those before it, too."""
        weights = [9.0 if column == (3 * row + 1) % 16 else 1.0 for row in range(16) for column in range(16)]
        write_safetensors("w.safetensors", {"wte.weight": Tensor("F32", [16, 16], weights)})
        repeats, _ = self.run_ok(*self.weights, "--generate=\x01", "--temperature=0", "--max-tokens=15")
        self.assertLess(len(set(repeats[:16])), 16)
        distinct, _ = self.run_ok(*self.weights, "--generate=\x01", "--temperature=0", "--max-tokens=15", "--repetition-penalty=100")
        self.assertEqual(sorted(distinct[:16].encode()), list(range(16)))

    def test_several_prompts(self):
        """Each text is the one that its prompt gives alone, whatever comes before it."""
        options = ["--temperature=3", "--seed=4", "--max-tokens=7", "--repetition-penalty=1.5"]
        prompts = ["\x01", "\x05\x02", "\x07", "\x01"]
        alone = [self.run_ok(*self.weights, f"--generate={prompt}", *options)[0] for prompt in prompts]
        self.assertGreater(len(set(alone)), 2)
        together, err = self.run_ok(*self.weights, *[f"--generate={prompt}" for prompt in prompts], *options)
        self.assertEqual(together, "\n".join(alone))
        self.assertRegex(err, r"generated 28 tokens, [\d.e+]+ tok/s; 5 tokens of prompts took ")
        Path("prompts.txt").write_text("\n".join(prompts[2:]) + "\n")
        mixed, _ = self.run_ok(*self.weights, *[f"--generate={prompt}" for prompt in prompts[:2]], "--prompts=prompts.txt", *options,
                               "--generated=texts.jsonl")
        self.assertEqual(mixed, together)
        texts = [json.loads(line) for line in Path("texts.jsonl").read_text().splitlines()]
        self.assertEqual([text["prompt"] for text in texts], prompts)
        for text, whole in zip(texts, alone):
            self.assertEqual(text["prompt"] + text["text"] + "\n", whole)
            self.assertEqual(text["tokens"], list(text["text"].encode()))
            self.assertEqual(text["prompt_tokens"], list(text["prompt"].encode()))
            self.assertEqual((len(text["tokens"]), text["ended"]), (7, False))
            self.assertTrue(text["prompt_seconds"] > 0 and text["seconds"] > 0)
        Path("prompts.txt").write_text("\x01\n\n\x02\n")
        self.run_fails(2, "--prompts: prompts.txt:2: expected a prompt in each line, found an empty line", *self.weights, "--prompts=prompts.txt")
        Path("prompts.txt").write_text("\x01\na\n")
        self.run_fails(2, "--prompts: prompts.txt:2: token 0 of the prompt is 97, beyond", *self.weights, "--prompts=prompts.txt")
        Path("prompts.txt").write_text("")
        self.run_fails(2, "--prompts=prompts.txt: expected a prompt in each line, found an empty file", *self.weights, "--prompts=prompts.txt")
        self.run_fails(2, "none.txt", *self.weights, "--prompts=none.txt")
        self.run_fails(2, "--generated=none/x: there is no folder 'none'", *self.weights, "--generate=\x01", "--generated=none/x")

    def test_an_end_is_told(self):
        self.write_tokenizer(id9="<eos>")
        self.continued("--generated=texts.jsonl")
        (text,) = map(json.loads, Path("texts.jsonl").read_text().splitlines())
        self.assertEqual((text["text"], text["tokens"], text["ended"]), ("eni", [4, 13, 8], True))
        # After i comes the end at once.
        self.assertEqual(self.continued("--generate=i", "--generate=b", "--generated=texts.jsonl")[0], "beni\n\ni\n\nbeni\n")
        before = Path("w.safetensors").read_bytes()
        self.run_fails(2, "--generated=w.safetensors: the file exists, and holds something else", *self.weights, "--generate=\x01",
                       "--generated=w.safetensors")
        self.assertEqual(Path("w.safetensors").read_bytes(), before)

    def test_a_signal_ends_the_text(self):
        process = self.start(*self.weights, "--generate=\x01", "--max-tokens", "1000000000")
        self.assertTrue(process.stdout.read(100))
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("error: stopped by SIGINT before the text was done", err)

    def test_after_training_and_from_a_checkpoint(self):
        sidecar = {"tokenizer": "bytes", "vocabulary": 256, "dtype": "uint16", "tokens": 801, "tokenizer_xxh3": "0"}
        Path("tokens.bin.json").write_text(json.dumps(sidecar))
        out, _ = self.train(60, "--generate=\x01", "--temperature", "0", "--max-tokens", "3", "--checkpoint-dir", "ck")
        self.assertEqual(out, "\x01\x04\x0d\x08\n")
        again, _ = self.run_ok("--resume=ck", "--generate=\x01", "--temperature", "0", "--max-tokens", "3")
        self.assertEqual(again, out)
        # Data without the JSON: the tokenizer is still known later.
        Path("tokens.bin").rename("bare.bin")
        self.run_ok("--data", "bare.bin", "--steps", "70", "--resume", "--checkpoint-dir", "ck")
        self.run_ok("--resume=ck", "--generate=\x01", "--max-tokens", "3")

    def test_a_tokenizer_that_changed_is_noticed(self):
        def write_sidecar(path, **fields):
            text = {"tokenizer": "bytes", "vocabulary": 256, "dtype": "uint16", "tokens": 801, "tokenizer_xxh3": "0", **fields}
            Path(path).write_text(json.dumps(text))

        generate = ["--generate=\x01", "--max-tokens", "3"]
        write_sidecar("tokens.bin.json", tokenizer_xxh3="12")
        changed = ["the JSON beside --data: the tokenizer 'bytes' has changed since (XXH3 0000000000000000, then 0000000000000012)"]
        train = ["--data", "tokens.bin", "--steps", "5", "--checkpoint-dir", "ck"]
        self.run_fails(2, changed, *train, *generate)
        self.assertFalse(Path("ck").exists(), "trained before it looked at the tokenizer")
        self.run_ok(*train)
        self.run_fails(2, "the checkpoint: the tokenizer 'bytes' has changed", "--resume=ck", *generate)
        write_sidecar("tokens.bin.json", tokenizer="none/tokenizer.json")
        self.run_fails(2, ["names the tokenizer 'none/tokenizer.json', which cannot be opened; give --tokenizer"], "--resume=ck",
                       "--data", "tokens.bin", *generate)
        other = "the checkpoint was trained on tokens of the tokenizer 'bytes', this data was made with 'none/tokenizer.json'"
        self.run_fails(2, f"--data: {other}; give data of that tokenizer", "--resume=ck", "--data", "tokens.bin", "--steps", "6")
        _, err = self.train(6, "--resume=ck", "--allow-changes")
        self.assertIn(f"warning: {other}", err)
        shutil.copy("tokens.bin", "more.bin")
        write_sidecar("more.bin.json", tokenizer_xxh3="34")
        self.run_fails(2, "--data: more.bin was made with the tokenizer 'bytes', tokens.bin with 'none/tokenizer.json'",
                       "--data", "*.bin", "--steps", "1")

    def test_errors(self):
        self.run_fails(2, "the prompt has 9 tokens, the plan's context holds 8", *self.weights, "--generate=" + "\x01" * 9)
        self.run_fails(2, "token 0 of the prompt is 97, beyond the model's vocabulary of 16", *self.weights, "--generate=a")
        self.run_fails(2, "--generate= has no value; is a variable empty?", *self.weights, "--generate=")
        self.run_fails(2, "--generate needs a tokenizer", "--init", "w.safetensors", "--generate=a")
        # Before the training, not after it.
        self.run_fails(2, "beyond the model's vocabulary", "--data", "tokens.bin", "--steps", "1", "--checkpoint-dir", "ck",
                       "--tokenizer=bytes", "--generate=a")
        self.assertFalse(Path("ck").exists())


class CommandLine(TrainrunTest):
    def test_help_and_version(self):
        out, err = self.run_ok("--help")
        self.assertEqual(err, "")
        for text in ["Examples:", "--checkpoint-dir", "--resume[=latest|auto|DIR]  Go on", "Exit codes: 0 done, 1 the run failed, 2 bad usage or input"]:
            self.assertIn(text, out)
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        self.assertNotIn("{", out)
        self.assertRegex(self.run_ok("--version")[0], r"^trainrun \d+\.\d+\.\d+\n$")

    def test_bad_usage(self):
        data = ["--data", "tokens.bin"]
        for expected, arguments in [
            ("nothing to do", []),
            ("how long to train? Give --steps or --epochs", data),
            ("--steps needs --data", ["--steps", "3"]),
            ("--epochs needs --data", ["--epochs", "3"]),
            ("--steps and --epochs contradict each other", [*data, "--steps", "3", "--epochs=1"]),
            ("--epochs: expected a number from 0 to 1e+09, found 'nan'", [*data, "--epochs=nan"]),
            ("--epochs=1e+09: ", [*data, "--epochs=1e9"]),
            ("--init and --resume contradict each other", [*data, "--steps", "3", "--init", "a", "--resume=b"]),
            ("--eval-every needs --eval-data", [*data, "--steps", "3", "--eval-every", "2"]),
            ("--checkpoint-every needs --checkpoint-dir", [*data, "--steps", "3", "--checkpoint-every", "2"]),
            ("--keep-last needs --checkpoint-dir", [*data, "--steps", "3", "--keep-last", "2"]),
            ("--no-shuffle needs training", ["--init", "a", "--eval-data", "b", "--no-shuffle"]),
            ("--top-k needs --generate", [*data, "--steps", "3", "--top-k", "2"]),
            ("--top-p needs --generate", [*data, "--steps", "3", "--top-p=0.9"]),
            ("--min-p needs --generate", [*data, "--steps", "3", "--min-p=0.1"]),
            ("--repetition-penalty needs --generate", [*data, "--steps", "3", "--repetition-penalty=1.1"]),
            ("expected a number from 0 to 1, found '1.5'", ["--init", "a", "--generate=a", "--top-p=1.5"]),
            ("expected a number from 0.001 to 1000, found '0'", ["--init", "a", "--generate=a", "--repetition-penalty=0"]),
            ("--generate needs trained weights", ["--generate=a", "--tokenizer=bytes"]),
            ("--eval-data without --data needs trained weights", ["--eval-data", "tokens.bin"]),
            ("--device=null and --generate contradict each other", ["--device=null", "--generate=a"]),
            ("--nproc-per-node=2: the plan toy.plan is for 1 rank", [*data, "--steps", "3", "--nproc-per-node", "2"]),
            ("--resume=latest needs --checkpoint-dir", [*data, "--steps", "3", "--resume"]),
            ("--resume takes its value after '='", [*data, "--steps", "3", "--seed", "1", "--resume", "ck"]),
            ("expected a whole number from 0", [*data, "--steps", "-3"]),
            ("expected a whole number from 0 to 2147483647", [*data, "--steps", "2147483648"]),
            ("without leading zeros, found '010'", [*data, "--steps=010"]),
            ("found '1e3'; write 1000", [*data, "--steps=1e3"]),
            ("to 18446744073709551615", [*data, "--steps", "3", "--seed=18446744073709551616"]),
            ("expected a number from 0 to 1e+06, found 'nan'", ["--init", "a", "--generate=a", "--temperature=nan"]),
            ("expected a number from", [*data, "--steps", "3", "--peak-flops=nan"]),
            ("expected a whole number from 1 to 4096", [*data, "--steps", "3", "--threads", "0"]),
            ("--checkpoint-dir= has no value", [*data, "--checkpoint-dir=", "--steps=1"]),
            ("--checkpoint-dir needs training (add --steps or --epochs) or --resume", [*data, "--checkpoint-dir", "ck", "--generate=a"]),
            ("--steps is given twice; give it once", [*data, "--steps", "1", "--steps=2"]),
            ("--comm", [*data, "--steps", "3", "--comm", "gloo"]),
            ("--metrics=none/m: there is no folder 'none'; create it, or name another", [*data, "--steps", "3", "--metrics", "none/m"]),
            ("--metrics=.: expected a file, found a folder", [*data, "--steps", "3", "--metrics", "."]),
            ("--resume is given twice; give it once", [*data, "--steps", "3", "--resume", "--resume=ck"]),
            ("--no-shuffle takes no value, or true or false; found 'maybe'", [*data, "--steps", "3", "--no-shuffle=maybe"]),
            ("expected nothing else, found more.plan; data is given with --data\n", ["--device=null", "more.plan"]),
            ("--stepz is unknown; did you mean --steps?", [*data, "--stepz", "3"]),
        ]:
            with self.subTest(arguments=arguments):
                self.run_fails(2, [re.compile(r"\Aerror: |\nerror: "), expected], *arguments)

    def test_a_plan_after_a_list_of_files(self):
        self.fails([TRAINRUN, "--data", "tokens.bin", "toy.plan", "--steps", "1"], 2, "PLAN is required; --data and --eval-data take all that follows "
                   "them: put the plan first")

    def test_plans(self):
        good = Path("toy.plan").read_bytes()
        for content, expected in [(None, "toy.plan: cannot open"), (b"", "toy.plan"), (good[:-100], "toy.plan"),
                                  (good[:200] + bytes([good[200] ^ 1]) + good[201:], "toy.plan")]:
            with self.subTest(expected=expected):
                Path("toy.plan").unlink(missing_ok=True)
                if content is not None:
                    Path("toy.plan").write_bytes(content)
                self.run_fails(2, expected, "--data", "tokens.bin", "--steps", "3")


if __name__ == "__main__":
    harness.main()
