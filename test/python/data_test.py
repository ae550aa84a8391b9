"""Files of chats: formats, forms, packing, errors, and what the program prints."""

import csv
import gzip
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow
from pyarrow import ipc, parquet
from support import CHATML, GOLDEN, ROOT, TOKENIZER, DataTest, chat, columns
from tokenizers import Tokenizer

from trainc_data.errors import InputError, Place
from trainc_data.readers import Row
from trainc_data.workers import encode_all

TEXTS = Tokenizer.from_file(str(TOKENIZER / "tokenizer.json"))


def texts_of(path):
    """The text of each segment of a packed file, and the text that is trained on."""
    found, _ = columns(path)
    result = []
    for tokens, labels, segments in zip(found["tokens"], found["labels"], found["segments"], strict=True):
        for number in range(1, segments.max() + 1):
            at = segments == number
            trained = labels[at]
            result.append((TEXTS.decode(tokens[at].tolist(), skip_special_tokens=False), TEXTS.decode(trained[trained >= 0].tolist(), skip_special_tokens=False)))
    return sorted(result)


def chatml(messages):
    return "".join(f"<|im_start|>{each['role']}\n{each['content']}<|im_end|>\n" for each in messages)


class Formats(DataTest):
    """One table of chats in each format gives the same file."""

    def setUp(self):
        super().setUp()
        self.rows = [{"messages": chat("One?", "Ein Wort."), "tools": None}, {"messages": chat("Zwei\nZeilen", "世界", system="Kurz"), "tools": None}]
        self.chat(self.write_rows(self.rows), output="expected.safetensors")
        self.assertEqual(texts_of("expected.safetensors"), sorted((chatml(row["messages"]), row["messages"][-1]["content"] + "<|im_end|>") for row in self.rows))

    def check(self, name, kind, compress=True):
        _, err = self.chat(name)
        self.assertIn(f": {kind}, rows of messages", err)
        self.assertEqual(Path("out.safetensors").read_bytes(), Path("expected.safetensors").read_bytes())
        if compress:
            Path(name + ".gz").write_bytes(gzip.compress(Path(name).read_bytes()))
            self.check(name + ".gz", f"{kind} (gzip)", compress=False)

    def table(self):
        return pyarrow.Table.from_pylist([{**row, "tools": [{"name": "x"}] if index == 9 else None} for index, row in enumerate(self.rows)])

    def test_jsonl(self):
        self.check("rows.jsonl", "JSONL")
        Path("marked").write_bytes(b"\xef\xbb\xbf" + Path("rows.jsonl").read_bytes().replace(b"\n", b"\r\n\r\n"))
        self.check("marked", "JSONL", compress=False)

    def test_json(self):
        for name, value in (("list", self.rows), ("object", {"version": {"a": [1]}, "rows": self.rows, "more": 2})):
            for indent in (None, 2):
                Path(name).write_text(json.dumps(value, indent=indent, ensure_ascii=False))
                if name == "object" and indent is None:
                    continue  # a line with an object: JSONL
                self.check(name, "JSON")

    def test_csv(self):
        for delimiter in ",;\t":
            with Path("rows.csv").open("w", newline="") as file:
                writer = csv.writer(file, delimiter=delimiter)
                writer.writerows([["messages", "tools"], *([json.dumps(row["messages"]), ""] for row in self.rows)])
            self.check("rows.csv", "CSV")

    def test_parquet(self):
        parquet.write_table(self.table(), "rows.parquet", row_group_size=1)
        self.check("rows.parquet", "Parquet")

    def test_arrow(self):
        for name, make in (("file", ipc.new_file), ("stream", ipc.new_stream)):
            with make(name, self.table().schema) as writer:
                writer.write_table(self.table())
            self.check(name, "Arrow")

    def test_folder_saved_to_disk(self):
        Path("saved/train").mkdir(parents=True)
        with ipc.new_stream("saved/train/data-00000-of-00001.arrow", self.table().schema) as writer:
            writer.write_table(self.table())
        Path("saved/train/state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": "train"}))
        Path("saved/train/dataset_info.json").write_text("{}")
        self.check("saved/train", "Arrow", compress=False)
        Path("saved/dataset_dict.json").write_text(json.dumps({"splits": ["test", "train"]}))
        self.check("saved", "Arrow", compress=False)
        _, err = self.chat("saved", "--split=train")
        self.assertIn("split train; not read: test (--split)", err)
        self.fails("saved: has no split 'dev'; give --split with one of test, train", arguments=["saved", "--split=dev"])
        Path("saved/train/state.json").write_text(json.dumps({"_data_files": [{"filename": "../../rows.jsonl"}]}))
        self.fails("state.json: expected names of files under '_data_files'", arguments=["saved/train"])

    def test_names_of_splits(self):
        """Names that leave the folder, or lead back to it."""
        Path("saved/train").mkdir(parents=True)
        for name in (".", "..", "", "../rows", "train/..", "/", "a\0b", 5):
            with self.subTest(name):
                Path("saved/dataset_dict.json").write_text(json.dumps({"splits": [name]}))
                self.fails("saved/dataset_dict.json: expected a list of names under 'splits', found [", arguments=["saved"])
        Path("saved/dataset_dict.json").write_text(json.dumps({"splits": ["train"]}))
        Path("saved/train/dataset_dict.json").write_text(json.dumps({"splits": ["train"]}))
        self.fails("saved/train: expected the files of a split, found splits again", arguments=["saved"])

    def test_nulls_of_tables(self):
        """A table holds a null for the keys of other rows. A file of JSON has its own nulls."""
        def call(arguments):
            return [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": arguments}}]}]
        shown = {"{% for m in messages %}{{ m.tool_calls[0].function.arguments | tojson if m.tool_calls }}{% endfor %}": ("tool_calls", '{"a": 1, "b": null}', '{"a": 1}'),
                 "{{ tools | tojson }}": ("tools", '[{"name": "f", "default": null}]', '[{"name": "f"}]'),
                 "{{ documents | tojson }}": ("documents", '[{"title": "D", "text": null}]', '[{"title": "D"}]'),
                 "{{ v | tojson }}{{ w is none }}": ("variables", '{"x": null}True', "{}False")}  # fmt: skip
        row = {"messages": call({"a": 1, "b": None}), "tools": [{"name": "f", "default": None}], "documents": [{"title": "D", "text": None}],
               "chat_template_kwargs": {"v": {"x": None}, "w": None}}  # fmt: skip
        other = {"messages": call({"a": 1, "b": "c"}), "tools": [{"name": "f", "default": "d"}], "documents": [{"title": "D", "text": "t"}],
                 "chat_template_kwargs": {"v": {"x": 1}, "w": 1}}  # fmt: skip
        self.write_rows([row])
        parquet.write_table(pyarrow.Table.from_pylist([row, other]).slice(0, 1), "rows.parquet")
        text = pyarrow.Table.from_pylist([{key: json.dumps(value) for key, value in row.items()}])
        parquet.write_table(text, "text.parquet")
        for template, (name, kept, filled) in shown.items():
            Path("shows.jinja").write_text(template)
            for file, expected in (("rows.jsonl", kept), ("rows.parquet", filled), ("text.parquet", kept)):
                with self.subTest(name, file=file):
                    self.chat(file, "--train-on=all", template=Path("shows.jinja"))
                    self.assertEqual([each for each, _ in texts_of("out.safetensors")], [expected])

    def test_folder_of_the_hub(self):
        Path("hub/data").mkdir(parents=True)
        Path("hub/README.md").write_text("---\nconfigs: []\n---\n")
        parquet.write_table(self.table().slice(0, 1), "hub/data/train-00000-of-00002.parquet")
        parquet.write_table(self.table().slice(1, 1), "hub/data/train-00001-of-00002.parquet")
        parquet.write_table(self.table(), "hub/data/validation-00000-of-00001.parquet")
        self.check("hub", "Parquet", compress=False)
        out, _ = self.chat("hub", "--split=validation", "--json")
        self.assertEqual(json.loads(out)["rows_read"], 2)

    def test_pattern(self):
        for index, row in enumerate(self.rows):
            self.write_rows([row], f"part-{index}.jsonl")
        self.check("part-*.jsonl", "JSONL", compress=False)

    def test_errors(self):
        cases = [(b"", "rows: expected rows, found an empty file"), (b"Once upon a time", "rows: expected JSONL, JSON, CSV, Parquet or Arrow, found a text"),
                 (b"\xff\x00\x01" * 9, "found bytes that are no UTF-8 text"), (b"PAR1" + b"\0" * 99, "rows: expected Parquet"),
                 (b"ARROW1\0\0" + b"\1" * 99, "rows: expected Arrow"), (b"\xff\xff\xff\xff\xff\xff\xff\x7f" + b"\1" * 99, "rows: expected Arrow"),
                 (b'[{"messages": [', "rows:1: expected JSON"), (b'[\n{"text": "a b"}\n{"text": "c d"}]', "rows:3: expected ',', found \"{\""),
                 (b'[{"messages": 1}] x', "rows:1: 'messages': expected a list, found a number: 1"), (b"[1]", "rows:1: expected an object, found a number: 1"),
                 (b'{\n "a": 1\n}', "rows: expected a list of rows, found an object whose last key is \"a\""), (b"[]", "rows: expected rows, found none"),
                 (b"[" * 100000, "rows:1: expected JSON, found values nested too deeply"), (b'{"a":' * 100000, "rows:1:"),
                 (gzip.compress(b'{"messages": []}\n' * 9)[:-9], "rows: Compressed file ended before"), (b"a,b\n1,2\n", "rows:2: expected the columns of a chat"),
                 (b'messages,tools\n"[]",,,\n', "rows:2: expected 2 columns, found 4"), (b'messages,tools\n"[', "rows:2: expected CSV"),
                 (b"\n\nprompt,completion\nQ,A\n", "rows:1: expected the names of the columns, found an empty line; remove it"),
                 (b"text,x,text\na,b,c\n", "rows:1: expected columns with different names, found two columns \"text\"")]  # fmt: skip
        for content, expected in cases:
            with self.subTest(content[:40]):
                Path("rows").write_bytes(content)
                self.fails(expected, arguments=["rows"])
        table = pyarrow.table([["a"], ["b"]], names=["text", "text"])
        parquet.write_table(table, "twice.parquet")
        self.fails("twice.parquet: expected columns with different names, found two columns \"text\"", arguments=["twice.parquet"])
        self.fails("expected the name of a file or folder, found an empty one", arguments=[""])
        self.fails("nowhere.jsonl: there is no such file or folder", arguments=["nowhere.jsonl"])
        Path("many/folder").mkdir(parents=True)
        self.fails("many/*: expected files, found only folders or broken links, the first is many/folder", arguments=["many/*"])
        os.mkfifo("pipe")
        self.fails("pipe: expected a file, found a pipe or a device", arguments=["pipe"])
        Path("empty").mkdir()
        self.fails("empty: expected files that end with .parquet", arguments=["empty"])


class Forms(DataTest):
    """Each form of rows becomes messages."""

    def check(self, row, form, *expected, options=(), length=("--pack=256",)):
        self.write_rows([row])
        _, err = self.chat("rows.jsonl", *options, length=length)
        self.assertIn(f"rows of {form}\n", err)
        self.assertEqual([text for text, _ in texts_of("out.safetensors")], [chatml(messages) for messages in expected])

    def test_share_gpt(self):
        turns = [{"from": "system", "value": "S"}, {"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]
        expected = chat("Q", "A", system="S")
        self.check({"conversations": turns}, "ShareGPT", expected)
        self.check({"conversations": turns[1:], "system": "S"}, "ShareGPT", expected)
        self.check({"conversation": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]}, "ShareGPT", chat("Q", "A"))

    def test_alpaca(self):
        self.check({"instruction": "I", "input": "X", "output": "O"}, "Alpaca", chat("I\n\nX", "O"))
        self.check({"instruction": "I", "input": "", "output": "O", "system": "S"}, "Alpaca", chat("I", "O", system="S"))

    def test_prompt_and_completion(self):
        self.check({"prompt": "P", "completion": "C"}, "prompt and completion", chat("P", "C"))
        self.check({"prompt": chat("P", system="S"), "completion": [{"role": "assistant", "content": "C"}]}, "prompt and completion", chat("P", "C", system="S"))
        self.check({"prompt": "P", "response": "C"}, "prompt and response", chat("P", "C"))

    def test_lists_in_strings(self):
        """As fields of CSV hold lists of messages. A text that looks like a list stays a text."""
        expected = chat("P", "C", system="S")
        self.check({"prompt": json.dumps(expected[:2]), "completion": json.dumps(expected[2:])}, "prompt and completion", expected)
        for text in ("[1, 2]", "[]", "[x]", '[{"a": 1}]', '{"role": "user"}', "[" * 5000):
            self.check({"prompt": text, "completion": text}, "prompt and completion", chat(text, text), length=["--pack=16384"])

    def test_system(self):
        answer = {"messages": chat("Q", "A"), "instruction": "Q", "output": "A", "prompt": "Q", "completion": "A"}
        forms = (["messages"], ["instruction", "output"], ["prompt", "completion"])
        for form in forms:
            row = {key: answer[key] for key in form}
            for system, expected in (("S", chat("Q", "A", system="S")), ("", chat("Q", "A")), (None, chat("Q", "A"))):
                self.check({**row, "system": system}, "Alpaca" if "output" in row else " and ".join(form), expected)
            for system in (5, ["S"], {"content": "S"}, False):
                with self.subTest(form, system=system):
                    self.write_rows([{**row, "system": system}])
                    self.fails("rows.jsonl:1: 'system': expected a string, found a", arguments=["rows.jsonl"])
        for row in ({"messages": chat("Q", "A", system="S")}, {"prompt": chat("Q", system="S"), "completion": "A"}):
            self.check({**row, "system": "S"}, " and ".join(row), chat("Q", "A", system="S"))
            self.write_rows([{**row, "system": "T"}])
            self.fails("rows.jsonl:1: 'system': expected the text of the first message \"S\", found \"T\"; leave out one of them", arguments=["rows.jsonl"])

    def test_renamed_columns(self):
        self.check({"q": "P", "a": "C", "prompt": 5}, "prompt and completion", chat("P", "C"), options=["--column=prompt=q", "--column", "completion=a"])
        self.fails("rows.jsonl:1: expected a column 'z' (--column), found [\"a\", \"prompt\", \"q\"]", arguments=["rows.jsonl", "--column=prompt=z"])

    def test_text(self):
        self.write_rows([{"text": "<|im_start|>as it is"}])
        self.chat("rows.jsonl")
        self.assertEqual(texts_of("out.safetensors"), [("<|im_start|>as it is", "as it is")])

    def test_errors(self):
        good = {"messages": chat("Q", "A")}
        cases = [({"messages": []}, "'messages': expected a list of messages, found an empty list"), ({"messages": "[1"}, "'messages': expected a list, found a string that is no JSON"),
                 ({"messages": ["Q"]}, "'messages[0]': expected a message with a role and a content, found a string: \"Q\""),
                 ({"messages": [{"role": 1, "content": "Q"}]}, "'messages[0].role': expected a string, found a number"),
                 ({"messages": [{"role": "user"}]}, "'messages[0].content': expected a string, found nothing"),
                 ({"messages": [{"role": "user", "content": 7}]}, "'messages[0].content': expected a string, found a number: 7"),
                 ({"messages": [{"from": "alien", "value": "Q"}]}, "'messages[0].from': expected one of assistant"),
                 ({"messages": chat("Q", "A"), "tools": 3}, "'tools': expected a list, found a number: 3"),
                 ({"messages": chat("Q", "A"), "chat_template_kwargs": "{x"}, "'chat_template_kwargs': expected an object, found a string that is no JSON: Expecting"),
                 ({"messages": chat("Q", "A"), "chat_template_kwargs": "[1]"}, "'chat_template_kwargs': expected an object, found a list: [1]"), ({"other": 1}, "'messages': expected a list of messages, found null"),
                 (7, "expected an object, found a number: 7"), ({"messages": chat("\ud800", "A")}, "found half of a surrogate pair")]  # fmt: skip
        for bad, expected in cases:
            with self.subTest(expected):
                self.write_rows([good, bad, good])
                self.fails(f"rows.jsonl:2: {expected}" if not expected.startswith("found") else expected, "--skip-bad", arguments=["rows.jsonl"])
        Path("rows.jsonl").write_text(json.dumps(good) + '\n{"messages": \n')
        self.fails("rows.jsonl:2: expected an object in one line: Expecting value", arguments=["rows.jsonl"])

    def test_skip_bad(self):
        good = {"messages": chat("Q", "A")}
        self.write_rows([good, 5, {"messages": 5}, good, {"messages": chat("only a question")}])
        out, err = self.chat("rows.jsonl", "--skip-bad", "--json")
        summary = json.loads(out)
        self.assertEqual((summary["rows_read"], summary["kept"], summary["dropped"]), (5, 2, {"bad rows": 2, "no token to train on": 1}))
        self.assertIn("warning: rows.jsonl:3: 'messages': expected a list, found a number: 5", err)


class Packing(DataTest):
    def random_rows(self, count=300, longest=60):
        draw = random.Random(3)
        return [{"messages": chat("q" * draw.randrange(1, 9), "a" + "".join(draw.choices("abc ", k=draw.randrange(1, longest))))} for _ in range(count)]

    def test_nothing_is_lost_and_positions_restart(self):
        rows = self.random_rows()
        self.write_rows(rows)
        self.chat("rows.jsonl", length=["--pack=128"])
        self.assertEqual(texts_of("out.safetensors"), sorted((chatml(row["messages"]), row["messages"][1]["content"] + "<|im_end|>") for row in rows))
        found, metadata = columns("out.safetensors")
        self.assertEqual(sorted(found), ["labels", "positions", "segments", "tokens"])
        self.assertEqual({values.dtype.name for values in found.values()}, {"int32"})
        self.assertRegex(metadata["format"], r"^trainc-data [\d.]+ chat$")
        for tokens, labels, segments, positions in zip(*(found[name] for name in ("tokens", "labels", "segments", "positions")), strict=True):
            ends = np.flatnonzero(np.diff(segments, append=-1))
            self.assertTrue((labels[ends] == -100).all(), "the last token of a chat has no target")
            begin = 0
            for end in ends:
                self.assertEqual(positions[begin:end + 1].tolist(), [0] * (end + 1 - begin) if segments[begin] == 0 else list(range(end + 1 - begin)))
                begin = end + 1
            trained = np.flatnonzero(labels >= 0)
            self.assertTrue((labels[trained] == tokens[trained + 1]).all())
            self.assertTrue((segments[trained] == segments[trained + 1]).all())

    def test_share_of_positions(self):
        """Chats of 20 to 800 tokens in rows of 1024."""
        sys.path.insert(0, str(ROOT / "python"))
        from trainc_data.pack import Packer

        draw = random.Random(5)
        packer, total, rows = Packer(1024, 0), 0, 0
        for _ in range(6000):
            length = draw.randint(20, 800)
            total += length
            for found in packer.add((np.ones(length, np.int32), np.ones(length, bool))):
                rows += len(found["tokens"])
        self.assertGreater(rows, 1500)
        rows += sum(len(found["tokens"]) for found in packer.finish())
        self.assertGreater(total / (rows * 1024), 0.97)

    def test_too_long(self):
        self.write_rows([{"messages": chat("Q", "short")}, {"messages": chat("Q", "x" * 500)}, {"messages": chat("Q" * 300, "x")}])
        out, _ = self.chat("rows.jsonl", "--json", length=["--pack=64"])
        self.assertEqual((json.loads(out)["kept"], json.loads(out)["dropped"]), (1, {"longer than 64 tokens": 2}))
        out, _ = self.chat("rows.jsonl", "--json", "--truncate", length=["--pack=64"])
        summary = json.loads(out)
        self.assertEqual((summary["kept"], summary["truncated"], summary["dropped"]), (2, 1, {"no token to train on after truncation": 1}))
        self.assertEqual(summary["longest"], 64)
        out, _ = self.chat("rows.jsonl", "--json", "--max-length=20", length=["--pad=64"])
        self.assertEqual(json.loads(out)["dropped"], {"longer than 20 tokens": 2})
        self.fails("no row is left to write (3: longer than 2 tokens)", arguments=["rows.jsonl", "--max-length=2"])

    def test_padded(self):
        rows = self.random_rows(20, 10)
        self.write_rows(rows)
        self.chat("rows.jsonl", length=["--pad=64"])
        found, _ = columns("out.safetensors")
        self.assertEqual(sorted(found), ["labels", "tokens"])
        self.assertEqual(found["tokens"].shape, (20, 64))
        for row, tokens, labels in zip(rows, found["tokens"], found["labels"], strict=True):
            text = chatml(row["messages"])
            size = len(TEXTS.encode(text, add_special_tokens=False))
            self.assertEqual(TEXTS.decode(tokens[:size].tolist(), skip_special_tokens=False), text)
            self.assertTrue((tokens[size:] == 2).all(), "padding is eos_token")
            self.assertTrue((labels[size - 1:] == -100).all())

    def test_train_on(self):
        self.write_rows([{"messages": chat("Q", "A", "R", "B")}])
        whole = chatml(chat("Q", "A", "R", "B"))
        for option, trained in (("assistant", "A<|im_end|>B<|im_end|>"), ("last", "B<|im_end|>"), ("all", whole.removeprefix("<|im_start|>"))):
            self.chat("rows.jsonl", f"--train-on={option}")
            self.assertEqual(texts_of("out.safetensors"), [(whole, trained)])

    def test_workers_do_not_change_the_file(self):
        """More than a chunk of rows, so that processes work."""
        self.write_rows(self.random_rows(700, 20))
        self.chat("rows.jsonl", "--workers=1", output="one.safetensors")
        self.chat("rows.jsonl", "--workers=3", output="three.safetensors")
        self.assertEqual(Path("one.safetensors").read_bytes(), Path("three.safetensors").read_bytes())

    def test_a_bad_row_in_a_process(self):
        rows = self.random_rows(700, 20)
        self.write_rows([*rows, {"messages": chat("Q", 5)}, *rows])
        self.fails("rows.jsonl:701: 'messages[1].content': expected a string, found a number: 5", arguments=["rows.jsonl", "--workers=2"])


class Mixtures(DataTest):
    def test_weights(self):
        self.write_rows([{"messages": chat("Q", "a")}] * 400, "a.jsonl")
        self.write_rows([{"messages": chat("Q", "b")}] * 400, "b.jsonl")

        def answers(*options):
            self.chat("a.jsonl:3", "b.jsonl:1", *options)
            return [trained[0] for _, trained in texts_of("out.safetensors")]

        first = answers()
        self.assertEqual(first.count("a"), 400)  # the mixture ends when an input is used up
        self.assertAlmostEqual(first.count("b"), 400 / 3, delta=30)
        self.assertEqual(first, answers("--seed=0"))
        self.assertNotEqual(len(first), len(answers("--seed=1")))
        self.fails("b.jsonl: expected a weight, as another input has one: b.jsonl:0.5", arguments=["a.jsonl:1", "b.jsonl"])
        for weight in ("0", "0.0", "1000000001", "9" * 200):
            self.fails(f"a.jsonl: expected a weight above 0 and at most 1,000,000,000, found \"{weight[:9]}", arguments=[f"a.jsonl:{weight}"])


class Ending:
    """An encoder whose process ends by a signal."""

    def __init__(self, number):
        self.number = number

    def encode(self, rows):
        os.kill(os.getpid(), self.number)


class Program(DataTest):
    def test_samples_and_summary(self):
        self.write_rows([{"messages": chat("Q\x1b[2J", "A")}])
        out, err = self.chat("rows.jsonl", "--show=3", "--json")
        self.assertIn("--- sample 1: ", err)
        self.assertIn("<|im_start|>user\nQ\\x1b[2J<|im_end|>\n<|im_start|>assistant\n⟦A<|im_end|>⟧\n", err)
        self.assertIn("wrote out.safetensors: 1 rows of 256 tokens from 1 of 1 chats", err)
        summary = json.loads(out)
        self.assertEqual(summary["trained_tokens"], 2)
        self.assertEqual(summary["trained_share"], 2 / summary["tokens"])

    def test_quiet(self):
        self.assertEqual(self.chat(self.write_rows([{"messages": chat("Q", "A")}]), "--quiet"), ("", ""))

    def test_as_a_program(self):
        self.write_rows([{"messages": chat("Q", "A")}] * 600)
        command = [sys.executable, "-m", "trainc_data", "chat", "rows.jsonl", f"--tokenizer={TOKENIZER}", "--pack=64", "-o", "out.safetensors"]
        template = f"--chat-template={GOLDEN / 'templates' / 'chatml.jinja'}"
        done = subprocess.run([*command, template], capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("from 600 of 600 chats", done.stderr)
        self.assertNotIn("%|", done.stderr, "no progress bar without a terminal")
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 2)

    def test_hostile_template_in_a_process(self):
        Path("loops.jinja").write_text("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
        Path("grows.jinja").write_text("{% set n = namespace(t='a' * 60000000) %}{% for a in range(40) %}{% set n.t = n.t ~ n.t %}{% endfor %}")
        self.write_rows([{"messages": chat("Q", "A")}])
        with mock.patch("trainc_data.workers.MAX_BYTES", 1 << 30):
            self.fails("needs too much memory", arguments=["rows.jsonl"], template=Path("grows.jinja"))
        with mock.patch("trainc_data.chats.SECONDS_PER_CHAT", 0.2):
            self.fails("rows.jsonl:1: the chat template takes more than 0.2 s for this chat", arguments=["rows.jsonl"], template=Path("loops.jinja"))

    def test_usage(self):
        self.write_rows([{"messages": chat("Q", "A")}])
        for options, expected in (({"length": ["--pack=1"]}, "--pack: expected at least 2, found 1"),
                                  ({"length": ["--pad=16777217"]}, "--pad: expected at most 16,777,216, found 16,777,217"), ({"output": "out.bin"}, "-o out.bin: expected a name that ends with .safetensors"),
                                  ({"length": ["--pack=64", "--max-length=65"]}, "--max-length=65: expected at most the 64 tokens of a row"),
                                  ({"length": ["--pack=64", "--column=x"]}, "--column x: expected NEW=OLD"),
                                  ({"length": ["--pack=64", "--column=x=a", "--column=x=b"]}, "--column x=b: expected one column as 'x', found 'a' and 'b'"),
                                  ({"output": "no/out.safetensors"}, "-o no/out.safetensors: "),
                                  ({"length": []}, "one of the arguments --pack --pad is required")):  # fmt: skip
            self.fails(expected, arguments=["rows.jsonl"], **options)
        Path("in.safetensors").write_bytes(Path("rows.jsonl").read_bytes())
        self.fails("-o in.safetensors: is one of the inputs", arguments=["in.safetensors"], output="in.safetensors")

    def test_the_weights_of_a_model_stay(self):
        """A file of the tokenizer's folder is overwritten only if trainc-data wrote it."""
        shutil.copytree(TOKENIZER, "model")
        self.write_rows([{"messages": chat("Q", "A")}])
        options = ["chat", "rows.jsonl", "--tokenizer=model", f"--chat-template={CHATML}", "--pack=64", "-o"]
        header = json.dumps({"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        for content in (struct.pack("<Q", len(header)) + header + b"\0" * 4, b"", b"[" * 99999, struct.pack("<Q", 2) + b"[]"):
            Path("model/model.safetensors").write_bytes(content)
            _, err = self.run_cli(*options, "model/../model/model.safetensors", code=2)
            self.assertIn("model.safetensors: is a file of the tokenizer's folder that trainc-data did not write; choose another name", err)
            self.assertEqual(Path("model/model.safetensors").read_bytes(), content)
        for _ in range(2):
            self.run_cli(*options, "model/chats.safetensors")

    def test_signals(self):
        """No temporary file is left."""
        Path("loops.jinja").write_text("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
        self.write_rows([{"messages": chat("Q", "A")}])
        command = [sys.executable, "-m", "trainc_data", "chat", "rows.jsonl", f"--tokenizer={TOKENIZER}", "--chat-template=loops.jinja", "--pack=64", "-o", "out.safetensors"]
        before = sorted(Path().iterdir())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
                while process.poll() is None and sorted(Path().iterdir()) == before:
                    time.sleep(0.02)
                process.send_signal(number)
                _, err = process.communicate()
                self.assertEqual((process.returncode, err), (128 + number, ""))
                self.assertEqual(sorted(Path().iterdir()), before)

    def test_a_process_that_ends(self):
        for number, workers, expected in ((signal.SIGKILL, 2, "lacks memory; give fewer --workers than 2"), (signal.SIGKILL, 1, "lacks memory; free some memory"),
                                          (signal.SIGABRT, 2, "rows or templates may need more than the 4 GiB")):  # fmt: skip
            rows = iter([[Row(Place("rows", 1), None)]] * 3)
            with self.subTest(number.name, workers=workers), self.assertRaises(InputError) as error:
                list(encode_all(Ending(number), Ending, number, rows, workers))
            self.assertIn(expected, str(error.exception))


if __name__ == "__main__":
    unittest.main(verbosity=2)
