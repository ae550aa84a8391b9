"""`trainc consolidate`: exact rounding, accepted and rejected inputs, and constant memory for any model size."""

import array
import json
import math
import os
import random
import resource
import signal
import struct
import subprocess
import time
import unittest
from pathlib import Path

import harness
from harness import MAKE_TOY_PLAN, TRAINC, Tensor, read_safetensors, write_safetensors

DTYPES = {"fp32": "F32", "bf16": "BF16", "fp16": "F16"}


def bits_of(value):
    """Bits of an f32."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def to_bf16(value):
    """The upper half of an f32, rounded up where the lower half is more than half of its last place, or half and that place odd."""
    bits = bits_of(value)
    if math.isnan(value):
        return bits >> 16 | 0x40
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def to_fp16(value):
    if math.isnan(value):
        return bits_of(value) >> 16 & 0x8000 | 0x7E00 | bits_of(value) >> 13 & 0x3FF
    return struct.unpack("<H", struct.pack("<e", value))[0]


ROUND = {"bf16": to_bf16, "fp16": to_fp16}


def write_zeros(path, tensors, elements):
    """F64 tensors of zeros, which take no disk space."""
    offsets = [index * elements * 8 for index in range(tensors + 1)]
    header = json.dumps({f"w{index}": {"dtype": "F64", "shape": [elements], "data_offsets": offsets[index:index + 2]}
                         for index in range(tensors)}).encode()
    Path(path).write_bytes(struct.pack("<Q", len(header)) + header)
    os.truncate(path, 8 + len(header) + offsets[-1])


class Checkpoints(harness.EndToEndTest):
    def setUp(self):
        super().setUp()
        subprocess.run([MAKE_TOY_PLAN, "toy.plan"], check=True)
        tokens = array.array("H", [i * i % 16 for i in range(1000)])
        Path("tokens.bin").write_bytes(tokens.tobytes())
        self.trainrun("toy.plan", "--data", "tokens.bin", "--steps", "2", "--checkpoint-every", "1", "--checkpoint-dir", "run")
        self.checkpoint = Path("run/step-00000002")

    def refuses(self, *arguments, expected):
        self.fails([TRAINC, "consolidate", *arguments], 2, *expected)

    def test_in_every_dtype(self):
        trained = read_safetensors(self.checkpoint / "model.safetensors")
        for name, dtype in DTYPES.items():
            out, err = self.trainc("consolidate", self.checkpoint, "-o", f"{name}.safetensors", f"--dtype={name}")
            self.assertEqual((out, err), ("", f"wrote {name}.safetensors: the weights of {self.checkpoint}\n"))
            tensors = read_safetensors(f"{name}.safetensors")
            self.assertEqual(list(tensors), sorted(trained))
            for key, tensor in tensors.items():
                expected = trained[key].values if name == "fp32" else array.array("H", map(ROUND[name], trained[key].values))
                self.assertEqual((tensor.dtype, tensor.shape), (dtype, trained[key].shape))
                self.assertTrue(tensor.values == expected, f"{key} in {name}")
        whole = (self.checkpoint / "model.safetensors").read_bytes()
        self.assertTrue(Path("fp32.safetensors").read_bytes() == whole, "the file that the checkpoint has already")

    def test_what_comes_of_it_is_where_a_run_begins(self):
        losses = {}
        for name in ["fp32", "bf16"]:
            self.trainc("consolidate", "run", "-o", f"{name}.safetensors", "--dtype", name)
            self.trainrun("toy.plan", f"--init={name}.safetensors", "--eval-data", "tokens.bin", "--metrics", f"{name}.jsonl")
            losses[name] = harness.metrics(f"{name}.jsonl")[-1]["eval_loss"]
        self.assertNotEqual(losses["fp32"], losses["bf16"])
        self.assertAlmostEqual(losses["fp32"], losses["bf16"], delta=0.01)

    def test_the_latest_of_a_folder(self):
        self.trainc("consolidate", "run", "-o", "run/model.safetensors")
        latest = (self.checkpoint / "model.safetensors").read_bytes()
        self.assertTrue(Path("run/model.safetensors").read_bytes() == latest)
        self.trainc("consolidate", "run/step-00000001/", "-o", "run/model.safetensors")
        self.assertFalse(Path("run/model.safetensors").read_bytes() == latest, "one step earlier")
        self.trainc("consolidate", "run", "-o", "run/model.safetensors")
        self.assertTrue(Path("run/model.safetensors").read_bytes() == latest, "not the file that was there")

    def test_damaged_or_incomplete(self):
        path = self.checkpoint / "model.safetensors"
        good = path.read_bytes()
        for at, expected in [(9, "header: expected checksum"), (len(good) // 2, "does not have the checksum recorded in trainer_state.json"),
                             (len(good) - 1, "tensor 'wte.weight' does not have the checksum")]:
            path.write_bytes(good[:at] + bytes([good[at] ^ 64]) + good[at + 1:])
            for given in [self.checkpoint, path]:
                self.refuses(given, "-o", "x", "--dtype=fp16", expected=[f"{path}: ", expected, "the checkpoint is damaged"])
        path.write_bytes(good[:-4])
        self.refuses("run", "-o", "x", expected=[f"{path}: expected {len(good)} bytes, found {len(good) - 4}"])
        path.write_bytes(good)
        (self.checkpoint / "trainer_state.json").unlink()
        self.refuses("run", "-o", "x", expected=["error: run/step-00000002: the checkpoint is incomplete, it has no trainer_state.json"])
        self.trainc("consolidate", path, "-o", "unchecked")
        self.assertFalse(Path("x").exists())

    def test_what_only_looks_like_a_checkpoint(self):
        Path("run/step-5").touch()
        Path("run/step-99999999999999999999").mkdir()
        _, err = self.trainc("consolidate", "run", "-o", "x")
        self.assertRegex(err, r"^warning: run: passed over and left alone, [^\n]*: step-5, step-99999999999999999999\nwrote x: [^\n]*\n$")
        self.assertTrue(Path("x").read_bytes() == (self.checkpoint / "model.safetensors").read_bytes())
        Path("run/step-00000003").touch()
        self.refuses("run", "-o", "y", expected=["error: run/step-00000003: the checkpoint is incomplete"])

    def test_no_input_is_replaced(self):
        os.symlink("model.safetensors", self.checkpoint / "link")
        before = {path.name: path.read_bytes() for path in self.checkpoint.iterdir()}
        for name in [*before, "../step-00000002/model.safetensors"]:
            output = self.checkpoint / name
            self.refuses("run", "-o", output, expected=[f"error: -o {output} would replace the input 'run/step-00000002/"])
        self.assertEqual(before, {path.name: path.read_bytes() for path in self.checkpoint.iterdir()})


    def test_inputs_that_are_no_weights(self):
        optimizer = self.checkpoint / "optimizer.safetensors"
        self.refuses(optimizer, "-o", "x", expected=[f"error: {optimizer}: expected weights, found the optimizer's states of a checkpoint; name its model.safetensors"])
        self.refuses("toy.plan", "-o", "x", expected=["error: toy.plan: expected a safetensors file, found a plan"])
        self.assertFalse(Path("x").exists())

    def test_files_that_are_no_weights_stay(self):
        for path, expected in [(Path("toy.plan"), "the file holds something else than weights (safetensors), which would be lost"),
                               (Path("tokens.bin"), "the file holds something else than weights (safetensors), which would be lost"),
                               (Path("run/step-00000001/optimizer.safetensors"), "the file is a part of the checkpoint ")]:
            before = path.read_bytes()
            self.refuses("run", "-o", path, expected=[f"error: -o {path}: {expected}"])
            self.assertEqual(path.read_bytes(), before)
        # Tables of data are safetensors files, too, and so are other models.
        names = list(read_safetensors(self.checkpoint / "model.safetensors"))
        for name, tensors in [("table", ["features", "labels"]), ("more", [*names, "head"]), ("fewer", names[1:])]:
            write_safetensors(name, {tensor: Tensor("F32", [1], [1]) for tensor in tensors})
            before = Path(name).read_bytes()
            self.refuses("run", "-o", name, expected=[f"error: -o {name}: the file holds something else than weights of this model: its tensors have other names"])
            self.assertEqual(Path(name).read_bytes(), before)
        self.trainc("consolidate", "run", "-o", "same", "--dtype=bf16")
        half = Path("same").stat().st_size
        self.trainc("consolidate", "run", "-o", "same")
        self.assertGreater(Path("same").stat().st_size, half)
        Path("empty").touch()
        self.trainc("consolidate", "run", "-o", "empty")


class OtherWeights(harness.EndToEndTest):
    def consolidate(self, source, dtype, **kwargs):
        self.trainc("consolidate", source, "-o", "out", f"--dtype={dtype}", **kwargs)
        return read_safetensors("out")

    def test_numbers_of_every_kind(self):
        numbers = random.Random(5)
        any_bits = [numbers.getrandbits(32) for _ in range(50000)]
        # Exponents of f16 and below, where ties are frequent because few fraction bits are set.
        small = [numbers.getrandbits(1) << 31 | numbers.randrange(90, 142) << 23 | numbers.getrandbits(13) << 10 for _ in range(50000)]
        kept = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 1, 0x33000000, 0x33000001]
        for name, bits in [("bf16", [each for each in any_bits if each & 0x7FFFFFFF < 0x7F7F8000] + kept), ("fp16", small + kept)]:
            values = array.array("f", array.array("I", bits).tobytes())
            write_safetensors("in.safetensors", {"w": Tensor("F32", [len(values)], values)})
            result = self.consolidate("in.safetensors", name)["w"].values
            for given, value, actual in zip(bits, values, result):
                self.assertEqual(actual, ROUND[name](value), f"{given:08x} in {name}")

    def test_too_large(self):
        for name, limit, last in [("fp16", 65520.0, 0x7BFF), ("bf16", float.fromhex("0x1.FFp127"), 0x7F7F)]:
            below = array.array("f", struct.pack("<I", bits_of(limit) - 1))[0]
            write_safetensors("in.safetensors", {"a.b": Tensor("F32", [3], [1, 2, -below])})
            self.assertEqual(self.consolidate("in.safetensors", name)["a.b"].values[2], last | 0x8000)
            write_safetensors("in.safetensors", {"a.b": Tensor("F32", [3], [1, 2, -limit])})
            self.fails([TRAINC, "consolidate", "in.safetensors", "-o", "none", f"--dtype={name}"], 2,
                       f"error: in.safetensors: tensor 'a.b', element 2: -{limit:.9g} does not fit {DTYPES[name]}")
            self.assertFalse(Path("none").exists())

    def test_weights_in_several_files(self):
        os.mkdir("hf")
        write_safetensors("hf/1.safetensors", {"z": Tensor("F32", [2], [1, 2]), "b": Tensor("BF16", [1], [to_bf16(3)])})
        write_safetensors("hf/2.safetensors", {"a": Tensor("F64", [1], [0.1]), "mask": Tensor("U8", [1, 2], [0, 1])})
        index = {"z": "1.safetensors", "b": "1.safetensors", "a": "2.safetensors", "mask": "2.safetensors"}
        Path("hf/model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
        tensors = self.consolidate("hf", "fp32")
        self.assertEqual({name: (tensor.dtype, tensor.shape, tensor.values.tolist()) for name, tensor in tensors.items()},
                         {"a": ("F32", [1], [struct.unpack("<f", struct.pack("<f", 0.1))[0]]), "b": ("F32", [1], [3]),
                          "mask": ("U8", [1, 2], [0, 1]), "z": ("F32", [2], [1, 2])})
        self.assertEqual(list(tensors), ["a", "b", "mask", "z"])
        for name in ["1.safetensors", "model.safetensors.index.json"]:
            self.fails([TRAINC, "consolidate", "hf", "-o", f"hf/{name}"], 2, f"-o hf/{name} would replace the input 'hf/{name}'")
        self.trainc("consolidate", "hf", "-o", "hf/model.safetensors")
        self.fails([TRAINC, "consolidate", "hf", "-o", "hf/model.safetensors"], 2, "would replace the input 'hf/model.safetensors'")

    def test_errors(self):
        os.mkdir("folder")
        write_safetensors("in.safetensors", {"a": Tensor("F32", [1], [1])})
        Path("text").write_text("no weights")
        Path("data.csv").write_text("name,value,more\n" * 20)
        Path("w.gguf").write_bytes(b"GGUF\3\0\0\0" + bytes(100))
        Path("pytorch_model.bin").write_bytes(b"PK\3\4" + b"\0" * 26 + b"archive/data.pkl" + bytes(100))
        Path("w.idx").write_bytes(b"MMIDIDX\0\0" + bytes(100))
        good = ["in.safetensors", "-o", "out"]
        for arguments, *expected in [
            (["none", "-o", "out"], "error: none: cannot open: No such file or directory"),
            (["folder", "-o", "out"], "error: folder: expected a checkpoint (trainer_state.json), checkpoints (step-NNNNNNNN), a model.saf"),
            (["text", "-o", "out"], "error: text: byte 0: expected a safetensors header length"),
            (["data.csv", "-o", "out"], "error: data.csv: expected a safetensors file, found text (CSV); name the .safetensors file of the weights"),
            (["w.gguf", "-o", "out"], "error: w.gguf: expected a string 'general.architecture' in the metadata, found none"),
            (["pytorch_model.bin", "-o", "out"], "error: pytorch_model.bin: expected a safetensors file, found a zip file, as torch.save and numpy.savez write it", "torch.load"),
            (["w.idx", "-o", "out"], "error: w.idx: expected a safetensors file, found an index of Megatron"),
            ([*good, "--dtype=fp8"], "--dtype: expected fp32, bf16 or fp16, found 'fp8'", "Run trainc consolidate --help"),
            ([*good, "--dtype=0"], "expected fp32, bf16 or fp16, found '0'"),
            (["in.safetensors"], "--output is required"),
            (["-o", "out"], "CHECKPOINT is required"),
            (["in.safetensors", "-o", "folder"], "-o folder: folder: expected a file, found a folder"),
            (["in.safetensors", "-o", "none/out"], "-o none/out: the folder 'none' does not exist"),
            (["in.safetensors", "-o", "./in.safetensors"], "-o ./in.safetensors would replace the input 'in.safetensors'"),
        ]:
            with self.subTest(arguments=arguments):
                self.fails([TRAINC, "consolidate", *arguments], 2, *expected)
        self.assertEqual(sorted(os.listdir()), ["data.csv", "folder", "in.safetensors", "pytorch_model.bin", "text", "w.gguf", "w.idx"])

    @unittest.skipIf(os.environ.get("TRAINC_SANITIZE"), "sanitizers need memory of their own")
    def test_a_model_larger_than_memory(self):
        write_zeros("in.safetensors", 2, 16 << 20)
        limit = 64 << 20
        set_limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        self.trainc("consolidate", "in.safetensors", "-o", "out", "--dtype=bf16", preexec_fn=set_limit)
        self.assertGreater(os.stat("in.safetensors").st_size, 4 * limit)
        self.assertGreaterEqual(os.stat("out").st_size, limit)
        self.assertFalse(any(Path("out").read_bytes()[-limit:]))

    def test_a_signal_leaves_nothing_behind(self):
        total = 4 << 30
        write_zeros("in.safetensors", 1, total // 8)
        for number in [signal.SIGTERM, signal.SIGINT]:
            with self.subTest(number.name):
                process = subprocess.Popen([TRAINC, "consolidate", "in.safetensors", "-o", "out", "--dtype=fp16"], stderr=subprocess.PIPE)
                deadline = time.monotonic() + 30
                while not any(Path(".").glob("out*")) and time.monotonic() < deadline:
                    time.sleep(0.001)
                process.send_signal(number)
                err = process.communicate(timeout=30)[1].decode()
                self.assertRegex(err, rf"^error: out: not written: stopped after \d+ of {total} bytes of weights \({number.name}\)$")
                self.assertEqual((process.returncode, os.listdir()), (1, ["in.safetensors"]))


if __name__ == "__main__":
    harness.main()
