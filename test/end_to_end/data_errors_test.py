"""Invalid data, one by one: the message has location and advice. Exit code 2 before the run, 1 if a step fails."""

import json
import math
import os
import re
from pathlib import Path

import harness
from golden_runs import GoldenRunTest, overflowing_weights
from harness import GOLDEN, TRAINRUN, Tensor, edited, program, read_safetensors, write_safetensors


class DataErrors(GoldenRunTest):
    def test_token_files(self):
        self.tokens("short.bin", range(16))
        Path("empty.bin").write_bytes(b"")
        Path("odd.bin").write_bytes(bytes(101))
        for data, *expected in [("empty.bin", "at least 17 tokens", "found 0"), ("short.bin", "at least 17 tokens", "found 16"),
                                ("odd.bin", "byte 100", "uint16", "--data-dtype"), ("none.bin", "no such file"),
                                ("*.tok", "no such file"), (GOLDEN / "mlp" / "data.safetensors", "[80]", "[samples, 16]")]:
            with self.subTest(data=data):
                err = self.fails(self.train("--steps", "1", data=data), 2, str(data), *expected)
                self.assertTrue(err.startswith("error: "), err)  # without the plan's lines before it
                err = self.fails(self.train("--steps", "1", "--eval-data", data), 2, str(data))
                self.assertTrue(err.startswith("error: "), err)

    def test_what_is_no_data_yet(self):
        """Each file is recognised with advice; none is trained on as tokens."""
        text = ("In the beginning was the word. \u00c6\n" * 40).encode()
        tokenize, numpy, torch = "trainc tokenize --tokenizer=bytes TEXT -o tokens.bin", "safetensors.numpy.save_file", "safetensors.torch.save_file"
        for name, content, kind, for_tokens, for_columns in [
            ("train.txt", text, "text", f"; make tokens of it: {tokenize}", numpy),
            ("train", text[:40], "text", f"; make tokens of it: {tokenize}", numpy),
            ("short.txt", b"hello world\n", "text", f"; make tokens of it: {tokenize}", numpy),
            ("odd.csv", b"x,y\n1,2\n3,4\n\n", "text (CSV)", tokenize, numpy),
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

    def test_positions_are_not_blamed_on_a_tokenizer(self):
        self.compile("""nn.model @m(%tokens: tensor<?x?xi32>, %pos: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
            %x = nn.embedding "e" %tokens of 16 by 8
            %p = nn.embedding "p" %pos of 5 by 8
            %y = nn.add %x, %p
            %l = nn.linear "o" %y to 16
            %n, %s = nn.cross_entropy %l, %labels
            nn.loss "loss" %n
        }
        train.program @p { model @m optimizer sgd(lr 0.1) batch 4 x 6 }""", to="pos.plan")
        write_safetensors("pos.safetensors", {"tokens": harness.Tensor("I32", [4, 6], [0] * 24), "pos": harness.Tensor("I32", [4, 6], [0, 1, 2, 3, 4, 5] * 4)})
        err = self.fails(self.train("--steps", "1", plan="pos.plan", data="pos.safetensors"), 2,
                         "column 'pos', element 5: 5 is not below the model's limit 5; the model takes values from 0 to 4 in this column\n")
        self.assertNotIn("ignored", err)

    def test_what_the_json_beside_tokens_says_is_checked(self):
        def write_json(**fields):
            text = {"tokenizer": "bytes", "vocabulary": 96, "dtype": "uint16", "tokens": 1000, "tokenizer_xxh3": "0", **fields}
            Path("j.bin.json").write_text(json.dumps(text))

        self.tokens("j.bin", [1, 95] * 500)
        write_json(vocabulary=95)
        self.fails(self.train("--steps", "1", data="j.bin"), 2, "95 is not below the vocabulary that j.bin.json says, 95", "; the two do not belong together")
        write_json(vocabulary=97)
        _, err = self.run_program(*self.train("--steps", "1", data="j.bin"))
        self.assertIn("warning: j.bin: its tokenizer has 97 ids, as j.bin.json says, the model takes those below 96", err)
        write_json(tokens=999)
        self.fails(self.train("--steps", "1", data="j.bin"), 2, "j.bin: expected 999 tokens of 2 bytes, as j.bin.json says")
        write_json(dtype="uint32", tokens=500)
        self.fails(self.train("--steps", "1", data="j.bin"), 2, "6225921 is not below the model's limit 96")
        write_json(end_token=5)
        self.fails(self.train("--steps", "1", data="j.bin"), 2, "j.bin.json: expected the field end_token to be a string")

    def test_numbers_that_are_no_tokens(self):
        self.tokens("f.bin", [math.sin(i * 1.7) for i in range(3000)], "f")
        self.fails(self.train("--steps", "1", data="f.bin"), 2, "f.bin: expected uint16 tokens", "the file looks like float32; if its numbers are whole, write it anew")
        self.tokens("d.bin", [i * i % 89 for i in range(3000)], "d")
        self.fails(self.train("--steps", "1", data="d.bin"), 2, "the file looks like float64", "--data-dtype=uint16 if it is right")
        Path("l.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
        self.fails(self.train("--steps", "1", data="l.bin"), 2, "found a pointer of Git LFS; fetch the file itself: git lfs pull")
        self.tokens("z.bin", [0] * 3000)
        _, err = self.run_program(*self.train("--steps", "1", data="z.bin"))
        self.assertIn("warning: z.bin: its first 6000 bytes are all 0", err)

    def test_fewer_samples_than_a_step_takes(self):
        self.tokens("few.bin", [1] * 33)
        _, err = self.run_program(*self.train("--steps", "1", data="few.bin"))
        self.assertIn("warning: a step takes 3 samples, the data has 2: samples repeat within each step", err)

    def test_tokenizer_of_another_kind(self):
        self.compile(edited(program("gpt"), ("of 96 by", "of 256 by")), to="bytes.plan")
        Path("tokens.bin.json").write_text('{"tokenizer": "gpt2/tokenizer.json", "vocabulary": 96, "dtype": "uint16", "tokens": 1000, "tokenizer_xxh3": "12"}')
        self.run_program(*self.train("--steps", "1", "--checkpoint-dir", "run", plan="bytes.plan"))
        self.fails([TRAINRUN, "bytes.plan", "--resume=run", "--tokenizer=bytes", "--generate=a"], 2, "--tokenizer=bytes: the checkpoint names the tokenizer "
                   "'gpt2/tokenizer.json', and the model knows no other ids; leave --tokenizer out, or name that one")
        self.fails([TRAINRUN, "bytes.plan", "--resume=run", "--data", "tokens.bin", "--tokenizer=bytes", "--generate=a"], 2,
                   "--tokenizer=bytes: the JSON beside --data names the tokenizer 'gpt2/tokenizer.json'")

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

    def test_huge_weights_are_traced_to_their_op(self):
        write_safetensors("huge.safetensors", overflowing_weights())
        self.fails(self.train("--init", "huge.safetensors", "--steps", "3"), 1, "step 1: the loss is nan", "h.1.mlp.c_proj",
                   "gpt.mlir:12", "wrote inf to element", "Lower the learning rate or look at the data")
        self.fails([TRAINRUN, "gpt.plan", "--init", "huge.safetensors", "--eval-data", "tokens.bin"], 1, "evaluation: the loss is nan, the mean over 62 samples; "
                   "the data holds numbers only, so look at the weights")

    def test_a_weight_that_is_not_finite_is_named(self):
        weights = read_safetensors(GOLDEN / "gpt" / "inputs.safetensors")
        for value, text in [(math.nan, "nan"), (-math.nan, "nan"), (-math.inf, "-inf")]:
            weights["h.1.mlp.c_proj.bias"].values[3] = value
            write_safetensors("bad.safetensors", weights)
            for purpose in [["--data", "tokens.bin", "--steps", "3"], ["--eval-data", "tokens.bin"]]:
                err = self.fails([TRAINRUN, "gpt.plan", "--init=bad.safetensors", *purpose], 2, f"--init=bad.safetensors: tensor 'h.1.mlp.c_proj.bias', element 3: "
                                 f"expected a finite number, found {text};", "--init-ignore='h.1.mlp.c_proj.bias' --init-missing='h.1.mlp.c_proj.bias'")
                self.assertNotIn("learning rate", err)
        name = "--init-ignore=h.1.mlp.c_proj.bias", "--init-missing=h.1.mlp.c_proj.bias"
        _, err = self.run_program(*self.train("--init=bad.safetensors", *name, "--steps", "1"))
        self.assertIn("left out of the file: h.1.mlp.c_proj.bias\n", err)

    def test_a_target_in_a_masked_class_is_named(self):
        self.compile("""nn.model @m(%features: tensor<?x20xf32>, %mask: tensor<?x4xf32>, %labels: tensor<?xi32>) {
            %logits = nn.linear "a" %features to 4
            %z = nn.add %logits, %mask
            %nll, %lse = nn.cross_entropy %z, %labels
            nn.loss "loss" %nll
        }
        train.program @p { model @m optimizer sgd batch 8 }""", to="masked.plan")
        columns = {"features": Tensor("F32", [16, 20], [0.25] * 320), "mask": Tensor("F32", [16, 4], [0.0, -math.inf, 0.0, 0.0] * 16),
                   "labels": Tensor("I32", [16], [0, 2, 3, 0] * 4)}
        write_safetensors("good.safetensors", columns)
        self.run_program(TRAINRUN, "masked.plan", "--data", "good.safetensors", "--steps", "2")
        columns["labels"].values[13] = 1
        write_safetensors("bad.safetensors", columns)
        for purpose in [["--data", "bad.safetensors", "--steps", "2"], ["--data", "good.safetensors", "--steps", "1", "--eval-data", "bad.safetensors"]]:
            err = self.fails([TRAINRUN, "masked.plan", *purpose], 1, "bad.safetensors: byte ", "sample 13, column 'labels', element 0 is 1, a class that the column "
                             "'mask' has at -inf in this sample: the loss of such a target is infinite. Repair that sample, or leave it out")
            self.assertNotIn("wrote", err)

    def test_a_target_in_a_class_masked_by_a_finite_number_is_warned_of(self):
        self.compile("""nn.model @m(%features: tensor<?x20xf32>, %mask: tensor<?x4xf32>, %labels: tensor<?xi32>) {
            %logits = nn.linear "a" %features to 4
            %z = nn.add %logits, %mask
            %nll, %lse = nn.cross_entropy %z, %labels
            nn.loss "loss" %nll
        }
        train.program @p { model @m optimizer sgd batch 8 }""", to="masked.plan")
        for number, loss in ((-1e9, "1e\\+09"), (-3.4e38, "3.4e\\+38")):
            columns = {"features": Tensor("F32", [16, 20], [0.25] * 320), "mask": Tensor("F32", [16, 4], [0.0, number, 0.0, 0.0] * 16),
                       "labels": Tensor("I32", [16], [0, 2, 3, 0] * 4)}
            for label in (3, 1):
                columns["labels"].values[13] = label
                write_safetensors("d.safetensors", columns)
                _, err = self.run_program(TRAINRUN, "masked.plan", "--data", "d.safetensors", "--steps", "4", "-q")
                if label == 3:
                    self.assertEqual(err, "")
                else:
                    self.assertEqual(len(re.findall(rf"warning: step [12]: the loss is [0-9.e+]+\. d.safetensors: byte \d+: sample 13, column 'labels', element 0 is 1, a class that the "
                                                    rf"column 'mask' has at -{loss} in this sample: the loss of such a target is about {loss}, and its probability 0; later", err)), 1, err)

    def test_a_target_in_a_class_that_the_model_excludes(self):
        """By a column of 0 and 1, whose logarithm it adds or which it compares, or by itself."""
        for name, column, lines, expected in [
            ("log", "tensor<?x4xf32>", ["%m = nn.log %mask", "%z = nn.add %logits, %m"], "class that the column 'mask' has at 0 in this sample, and most targets at 1"),
            ("compared", "tensor<?x4xi32>", ["%one = nn.constant 0 : tensor<i32>", "%no = nn.compare eq %mask, %one", "%inf = nn.constant -inf",
                                             "%z = nn.select %no, %inf, %logits"], "class that the column 'mask' has at 0 in this sample, and most targets at 1"),
            ("fixed", None, ["%i = nn.iota 0 : tensor<4xi32>", "%one = nn.constant 1 : tensor<i32>", "%no = nn.compare eq %i, %one", "%inf = nn.constant -inf",
                             "%z = nn.select %no, %inf, %logits"], None),
        ]:
            with self.subTest(name):
                mask = f", %mask: {column}" if column else ""
                self.compile(f"""nn.model @m(%features: tensor<?x20xf32>{mask}, %labels: tensor<?xi32>) {{
                    %logits = nn.linear "a" %features to 4
                    """ + "\n".join(lines) + """
                    %nll, %lse = nn.cross_entropy %z, %labels
                    nn.loss "loss" %nll
                }
                train.program @p { model @m optimizer sgd batch 8 }""", to="masked.plan")
                dtype = "F32" if column == "tensor<?x4xf32>" else "I32"
                columns = {"features": Tensor("F32", [16, 20], [0.25] * 320), "mask": Tensor(dtype, [16, 4], [1, 0, 1, 1] * 16),
                           "labels": Tensor("I32", [16], [0, 2, 3, 0] * 4)}
                write_safetensors("good.safetensors", columns)
                self.run_program(TRAINRUN, "masked.plan", "--data", "good.safetensors", "--steps", "2")
                columns["labels"].values[13] = 1
                write_safetensors("bad.safetensors", columns)
                element = "sample 13, column 'labels', element 0 is 1, a "
                train = self.fails([TRAINRUN, "masked.plan", "--data", "bad.safetensors", "--steps", "2"], 1, element + expected if expected else
                                   "As the gradient is finite, a target may be in a class that the model excludes with -inf. Lower the learning rate or look at the data of this step; --on-nonfinite")
                evaluate = self.fails([TRAINRUN, "masked.plan", "--data", "good.safetensors", "--steps", "1", "--eval-data", "bad.safetensors"], 1, element + expected if expected else
                                      "the data holds numbers only: look for a target in a class that the model excludes with -inf, and at the weights")
                if expected:
                    self.assertNotIn("earning rate", train + evaluate)

    def fail_at_rate(self, rate, expected):
        """Trains a linear layer at a learning rate at which the second step's loss is not finite."""
        self.compile("""nn.model @m(%features: tensor<?x20xf32>) {
            %p = nn.linear "a" %features to 4 no_bias
            nn.loss "loss" %p
        }
        train.program @p { model @m optimizer sgd(lr RATE) batch 8 }""".replace("RATE", rate), to="far.plan")
        write_safetensors("far.safetensors", {"features": Tensor("F32", [16, 20], [1e3] * 320)})
        self.fails([TRAINRUN, "far.plan", "--data", "far.safetensors", "--steps", "9"], 1, "step 2: the loss is", expected)

    def test_an_update_that_overflows_names_its_parameter(self):
        self.fail_at_rate("1e38", "Before the step, parameter 'a.weight' holds -inf in element 0, from the update of step 1. Lower the learning rate")

    def test_huge_weights_before_the_step_are_named(self):
        self.fail_at_rate("1e33", "Before the step, parameter 'a.weight' holds -2.5e+35 in element 0. Lower the learning rate")


if __name__ == "__main__":
    harness.main()
