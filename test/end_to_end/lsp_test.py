"""The language server, spoken to as editors do: errors in models, hover, definitions, completion."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from generate_test import LOG_SUM_EXP
from model_errors_test import BAD_MODELS

LSP = os.environ.get("TRAINC_LSP", str(harness.ROOT / "build/bin/trainc-lsp"))
MODEL = harness.ROOT / "examples/gpt/small.mlir"


class Client:
    """JSON-RPC over the server's standard input and output."""

    def __init__(self):
        self.process = subprocess.Popen([LSP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.requests = 0

    def send(self, method, **message):
        body = json.dumps({"jsonrpc": "2.0", "method": method, **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self, wanted):
        """The next message for which `wanted` holds."""
        while True:
            fields = {}
            while (line := self.process.stdout.readline()).strip():  # empty as well when the server is gone
                name, value = line.split(b":", 1)
                fields[name] = value
            message = json.loads(self.process.stdout.read(int(fields[b"Content-Length"])))
            if wanted(message):
                return message

    def request(self, method, params=None):
        self.requests += 1
        self.send(method, id=self.requests, params=params)
        return self.receive(lambda message: message.get("id") == self.requests)["result"]

    def open(self, uri, text):
        """Opens a document; its diagnostics."""
        document = {"uri": uri, "languageId": "mlir", "version": 1, "text": text}
        self.send("textDocument/didOpen", params={"textDocument": document})
        return self.published()

    def change(self, uri, version, *changes):
        """Edits a document; its diagnostics."""
        self.send("textDocument/didChange", params={"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})
        return self.published()

    def published(self):
        published = self.receive(lambda message: message.get("method") == "textDocument/publishDiagnostics")
        return published["params"]["diagnostics"]

    def at(self, method, uri, line, character):
        """A request about a place in a document."""
        return self.request(f"textDocument/{method}",
                            {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})


class Editors(unittest.TestCase):
    def test_an_editor_that_listens_no_more(self):
        """The server ends instead of waiting for a reader of its responses."""
        client = Client()
        client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        client.process.stdout.close()
        with self.assertRaises(BrokenPipeError):
            for request in range(1 << 20):
                client.send("nothing", id=request, params={})
        self.assertNotEqual(client.process.wait(timeout=60), 0)
        with contextlib.suppress(BrokenPipeError):
            client.process.stdin.close()


class LanguageServer(unittest.TestCase):
    def setUp(self):
        self.client = Client()
        self.addCleanup(self.stop)
        self.capabilities = self.client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.text = MODEL.read_text()
        self.lines = self.text.split("\n")
        self.gelu = next(i for i, line in enumerate(self.lines) if "nn.gelu" in line)

    def stop(self):
        """A server that is told to leave does so at once and without a complaint."""
        self.client.request("shutdown")
        self.client.send("exit")
        self.assertEqual(self.client.process.wait(timeout=10), 0)
        self.client.process.stdin.close()
        self.client.process.stdout.close()

    def with_gelu_line(self, line):
        return "\n".join([*self.lines[:self.gelu], line, *self.lines[self.gelu + 1:]])

    def test_good_model(self):
        self.assertTrue(self.capabilities["capabilities"]["hoverProvider"])
        self.assertEqual(self.client.open("file:///small.mlir", self.text), [])

    def test_bad_models(self):
        for number, (line, expected) in enumerate([("  %g = nn.gelu %nothing", "no value '%nothing' is defined before this"),
                                                   ("  %g = nn.gleu %h", "did you mean 'nn.gelu'?")]):
            found = self.client.open(f"file:///bad{number}.mlir", self.with_gelu_line(line))
            self.assertEqual([each["range"]["start"]["line"] for each in found], [self.gelu])
            self.assertIn(expected, found[0]["message"])

    def test_dialect_verification(self):
        found = self.client.open("file:///shapes.mlir",
                                 "func.func @f(%a: tensor<2x3xf32>) {\n"
                                 "  %c = nn.matmul %a, %a : tensor<2x3xf32>, tensor<2x3xf32>\n"
                                 "  return\n"
                                 "}\n")
        self.assertEqual(found[0]["range"]["start"]["line"], 1)
        self.assertIn("the inner dimensions differ", found[0]["message"])

    def test_whole_models(self):
        """The diagnostics of `trainc compile`, at the same positions."""
        found_by_later_passes = {"trained class weights"}
        for name, (edit, place, *expected) in BAD_MODELS.items():
            if name in found_by_later_passes:
                continue
            with self.subTest(name):
                [found, *_] = self.client.open("file:///gpt.mlir", harness.edited(harness.program("gpt"), edit))
                line, character = map(int, re.match(r"gpt.mlir:(\d+):(\d+): ", place).groups())
                self.assertEqual(found["range"]["start"], {"line": line - 1, "character": character - 1})
                notes = [note["message"] for note in found.get("relatedInformation", [])]
                self.assertNotIn("current operation", "\n".join(notes))  # an op in MLIR's generic form
                for words in [place.split("error: ")[1], *expected]:
                    if not words.startswith("gpt.mlir:"):
                        self.assertIn(words, "\n".join([found["message"], *notes]))

    def test_texts_that_look_like_other_ones(self):
        """Banners in comments, which look like separators of modules, and models that are indented."""
        text = self.with_gelu_line("  %g = nn.gleu %h")
        banner = text.replace("nn.model", "// ------ the model ------\nnn.model", 1)
        indented = "\n".join("  " + line for line in text.split("\n"))
        for number, each in enumerate([banner, indented]):
            [found] = self.client.open(f"file:///odd{number}.mlir", each)
            self.assertIn("did you mean 'nn.gelu'?", found["message"])

    def test_edits(self):
        """Editors send incremental changes, not the whole text."""
        uri = "file:///small.mlir"
        self.assertEqual(self.client.open(uri, self.text), [])
        start = self.lines[self.gelu].index("gelu")
        for version, (old, new, expected) in enumerate([("gelu", "gleu", ["did you mean 'nn.gelu'?"]), ("gleu", "gelu", [])], start=2):
            line = {"line": self.gelu}
            change = {"range": {"start": {**line, "character": start}, "end": {**line, "character": start + len(old)}}, "text": new}
            found = self.client.change(uri, version, change)
            self.assertEqual(len(found), len(expected))
            for each, words in zip(found, expected):
                self.assertIn(words, each["message"])

    def test_what_is_no_message(self):
        """The server ignores the message and continues."""
        for noise in [b"Content-Length: 0\r\n\r\n", b"Content-Length: 3\r\n\r\n{ x", b"Content-Length: 99999999999999\r\n\r\n", b"nonsense\r\n\r\n"]:
            with self.subTest(noise):
                self.client.process.stdin.write(noise)
                self.assertEqual(self.client.open("file:///small.mlir", self.text), [])

    def test_json_that_is_no_message(self):
        """The server says so and continues."""
        for noise in [[], None, 1, "text", [{"jsonrpc": "2.0", "id": 7, "method": "shutdown"}], {}, {"jsonrpc": "2.0"}, {"id": 7, "method": "shutdown"}, {"jsonrpc": "2.0", "method": 3}]:
            with self.subTest(noise):
                body = json.dumps(noise).encode()
                self.client.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                self.client.process.stdin.flush()
                answer = self.client.receive(lambda message: "error" in message)
                self.assertEqual((answer["error"]["code"], answer["id"]), (-32600, noise.get("id") if isinstance(noise, dict) else None))
                self.assertEqual(self.client.open("file:///small.mlir", self.text), [])

    def test_messages_that_are_nested_deep(self):
        """They are rejected in a time that grows with their length; brackets in texts do not count."""
        for deep in [b"[" * 100000 + b"]" * 100000, b'{"a":' * 400000 + b"1" + b"}" * 400000, b"[" * 65]:
            body = b'{"jsonrpc": "2.0", "method": "none", "params": ' + deep + b"}"
            self.client.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.client.process.stdin.flush()
            answer = self.client.receive(lambda message: "error" in message)
            self.assertEqual((answer["error"]["message"], answer["id"]), ("expected JSON that is nested at most 64 deep", None))
            self.assertEqual(self.client.open("file:///small.mlir", self.text + "// \\\" " + "[" * 400 + "\n"), [])

    def test_whole_models_keep_their_definitions(self):
        uri = "file:///gpt.mlir"
        text = harness.edited(harness.program("gpt"), BAD_MODELS["missing batch"][0])
        self.assertEqual(len(self.client.open(uri, text)), 1)
        line = next(i for i, line in enumerate(text.split("\n")) if "nn.gelu" in line)
        self.assertIn("nn.gelu %x [approximate tanh]", self.client.at("hover", uri, line, 8)["contents"]["value"])

    def test_what_is_no_whole_model(self):
        """Neither an incomplete file without a program nor IR of later phases gets diagnostics."""
        model, program = harness.program("gpt").split("train.program", 1)
        self.assertEqual(self.client.open("file:///part.mlir", model), [])
        [found] = self.client.open("file:///part.mlir", model + 'train.state scalar @s : tensor<f32>\n')
        self.assertIn("is not allowed in a model's file", found["message"])
        [found] = self.client.open("file:///foreign.mlir", f'{model}"a.b"() : () -> ()\ntrain.program{program}')
        self.assertIn("expected a line such as `%y = nn.gelu %x`", found["message"])
        for phase in ["model", "step", "scheduled", "plan"]:
            with self.subTest(phase):
                done = subprocess.run([harness.TRAINC, "compile", harness.GOLDEN / "mlp/mlp.mlir", f"--compile-to={phase}"],
                                      capture_output=True, text=True, check=True)
                self.assertEqual(self.client.open(f"file:///{phase}.mlir", done.stdout), [])

    def test_other_users_of_symbols(self):
        """One error each, at the op that is wrong, also where the program stands before it."""
        program = "train.program @p { model @m optimizer sgd batch 2 }\n"
        block = 'nn.block @b(%x: tensor<?x4xf32>) {\n %y = nn.apply @b "a" (%x)\n nn.return %y\n}\n'
        model = 'nn.model @m(%x: tensor<?x4xf32>) {\n %y = nn.apply @NAME "a" (%x)\n nn.loss "loss" %y\n}\n'
        for text, expected in [(model.replace("NAME", "nope"), "there is no nn.block named @nope"),
                               (block + model.replace("NAME", "b"), "block @b contains itself")]:
            [found] = self.client.open("file:///m.mlir", program + text)
            self.assertIn(expected, found["message"])
            self.assertEqual(found["range"]["start"]["line"], 2)

    def test_deep_texts(self):
        for text, line in [("module {\n" * 10000, 500), ('nn.model @a() export "c" {a=' + "[" * 1000000, 0)]:
            [found] = self.client.open("file:///deep.mlir", text)
            self.assertEqual((found["message"], found["range"]["start"]["line"]), ("brackets are nested more than 500 deep", line))
        self.assertEqual(self.client.open("file:///small.mlir", self.text), [])

    def test_hover_and_definition(self):
        uri = "file:///small.mlir"
        self.client.open(uri, self.text)
        line = self.lines[self.gelu]
        about = self.hover(uri, self.gelu, line.index("gelu"))
        self.assertRegex(about, r"%g: tensor<\d+x128x512xf32>")
        self.assertIn("nn.gelu %x [approximate tanh]\n", about)
        self.assertIn("Gaussian error linear unit", about)
        self.assertNotIn("custom<", about)
        self.assertRegex(self.hover(uri, self.gelu, line.index("%h") + 1), r"%h: tensor<\d+x128x512xf32>\n```\n```mlir\n%h = nn.linear")
        self.assertIsNone(self.client.at("hover", uri, self.gelu, 0))
        [definition] = self.client.at("definition", uri, self.gelu, line.index("%h") + 1)
        self.assertIn("%h = nn.linear", self.lines[definition["range"]["start"]["line"]])

    def hover(self, uri, line, character):
        return self.client.at("hover", uri, line, character)["contents"]["value"]

    def place(self, words):
        """The line that begins with these words, and where they end."""
        line = next(i for i, line in enumerate(self.lines) if line.strip().startswith(words))
        return line, self.lines[line].index(words) + len(words)

    def test_hover_everywhere(self):
        uri = "file:///small.mlir"
        self.client.open(uri, self.text)
        line, end = self.place("%h = nn.repeat @layer")
        self.assertRegex(self.hover(uri, line, end - 1), r"```mlir\nnn.block @layer\(%x: tensor<")
        self.assertRegex(self.hover(uri, line, 8), r"%h: tensor<\d+x128x128xf32>")
        line, end = self.place("optimizer")
        self.assertIn("adamw", self.hover(uri, line, end))
        program = self.text.rstrip().removesuffix("}") + "  memory_limit 1GiB\n  precision bf16\n}\n"
        self.client.open(uri, program)
        lines = program.split("\n")
        for word, option in [("memory_limit", "--memory-limit"), ("precision", "fp32|bf16|fp16")]:
            line = next(i for i, each in enumerate(lines) if each.strip().startswith(word))
            self.assertIn(option, self.hover(uri, line, 4))

    def completed(self, text, line, character, number=[0]):
        number[0] += 1
        uri = f"file:///typing{number[0]}.mlir"
        self.client.open(uri, text)
        return {item["label"]: item for item in self.client.at("completion", uri, line, character)["items"]}

    def test_completion(self):
        for line, expected, absent in [("  %g = nn.", {"gelu", "linear", "attention", "log_sigmoid"}, {"kernel", "model", "product"}),
                                       ("  %g = ", {"nn.gelu"}, {"gelu"}),
                                       ("  %g = nn.gelu %", {"%h", "%x"}, {"nn.gelu"}),
                                       ("  %g = nn.gelu %h ", {"approximate"}, {"nn.gelu"}),
                                       ('  %g = nn.linear "x" %h to 512 ', {"tied", "no_bias", "init", "layout"}, {"to"}),
                                       ("  %g = nn.apply @", {"@layer"}, {"@gpt_small"})]:
            items = self.completed(self.with_gelu_line(line), self.gelu, len(line))
            self.assertLessEqual(expected, set(items), line)
            self.assertFalse(absent & set(items), line)
        items = self.completed(self.with_gelu_line("  %g = nn.ge"), self.gelu, len("  %g = nn.ge"))
        edit = items["gelu"]["textEdit"]
        self.assertEqual((edit["newText"], edit["range"]["start"]["character"], edit["range"]["end"]["character"]), ("nn.gelu", 7, 12))
        self.assertEqual(items["gelu"]["detail"], "nn.gelu %x [approximate tanh]")
        self.assertIn("Gaussian error linear unit", items["gelu"]["documentation"]["value"])

    def test_completion_of_settings(self):
        text = self.text.rstrip().removesuffix("}")
        for line, expected, absent in [("  ", {"optimizer", "batch", "memory_limit", "precision", "prefetch"}, {"micro_batch", "sharding", "nn.gelu"}),
                                       ("  precision ", {"fp32", "bf16", "fp16"}, {"batch"}), ("  optimizer ", {"adamw", "sgd"}, {"batch"}),
                                       ("  sync_gradients ", {"micro_step", "step"}, {"batch"}), ("  model @", {"@gpt_small"}, {"@layer"})]:
            items = self.completed(text + line + "\n}\n", text.count("\n"), len(line))
            self.assertLessEqual(expected, set(items), line)
            self.assertFalse(absent & set(items), line)
        items = self.completed(text + "  \n}\n", text.count("\n"), 2)
        self.assertIn("bytes of a process that runs the plan", items["memory_limit"]["documentation"]["value"])

    def test_completion_of_parameters(self):
        """Parameters are completed from the last text without errors."""
        uri = "file:///small.mlir"
        self.client.open(uri, self.text)
        line = next(i for i, line in enumerate(self.lines) if "nn.embedding" in line)
        typed = '  %w = nn.use "wt'
        insertion = {"start": {"line": line + 1, "character": 0}, "end": {"line": line + 1, "character": 0}}
        self.client.change(uri, 2, {"range": insertion, "text": typed + "\n"})
        items = {item["label"] for item in self.client.at("completion", uri, line + 1, len(typed))["items"]}
        self.assertLessEqual({"wte.weight", "h.0.attn.c_attn.weight"}, items)

    def test_numbers_of_many_digits(self):
        """The parser would take minutes for them."""
        uri = "file:///long.mlir"
        [found] = self.client.open(uri, self.with_gelu_line("  %g = nn.constant 1" + "0" * 50000))
        self.assertIn("expected a number of at most 1000 digits", found["message"])
        change = {"range": {"start": {"line": self.gelu, "character": 0}, "end": {"line": self.gelu, "character": len("  %g = nn.constant 1") + 50000}}, "text": self.lines[self.gelu]}
        self.assertEqual(self.client.change(uri, 2, change), [])

    def test_constants(self):
        """Errors, hover, completion and definitions in a text that MLIR's parser does not know."""
        uri = "file:///constants.mlir"
        text = ("let width = 512 // of the stream\n\n" + self.text.replace("to 512", "to $width").replace("nn.block @layer(", "nn.block @layer<p>(")
                .replace("nn.repeat @layer ", "nn.repeat @layer<p = width / 4> "))
        lines = text.split("\n")
        self.assertEqual(self.client.open(uri, text), [])
        line = next(number for number, line in enumerate(lines) if "to $width" in line)
        self.assertEqual(self.hover(uri, line, lines[line].index("$width") + 2), "```mlir\nlet width = 512\n```\n")
        self.assertRegex(self.hover(uri, line, lines[line].index("nn.linear") + 4), r"tensor<\d+x128x512xf32>")
        gelu = next(number for number, line in enumerate(lines) if "nn.gelu" in line)
        [definition] = self.client.at("definition", uri, gelu, lines[gelu].index("%h") + 1)
        self.assertIn("%h = nn.linear", lines[definition["range"]["start"]["line"]])
        self.assertIn("$width", self.completed(text.replace("to $width", "to $w"), line, lines[line].index("$width") + 2))
        [found] = self.client.open("file:///other.mlir", text.replace("to $width", "to $widht"))
        self.assertEqual((found["range"]["start"]["line"], found["range"]["start"]["character"]), (line, lines[line].index("$width")))
        self.assertIn("there is no constant 'widht'; did you mean 'width'?", found["message"])

    def test_imports(self):
        """Errors in an imported file are at the line that imports it."""
        with tempfile.TemporaryDirectory() as folder:
            block, rest = self.text.split("nn.model", 1)
            main = f'// A model.\nimport "block.mlir"\nnn.model{rest}'
            Path(folder, "block.mlir").write_text(block)
            self.assertEqual(self.client.open(f"file://{folder}/m.mlir", main), [])
            Path(folder, "block.mlir").write_text(block.replace("nn.gelu", "nn.gleu"))
            [found] = self.client.open(f"file://{folder}/other.mlir", main)
            self.assertEqual(found["range"]["start"]["line"], 1)
            self.assertRegex(found["message"], r"/block.mlir:\d+:8: 'nn.gleu' is unknown; did you mean 'nn.gelu'\?")

    def test_definitions_in_imported_files(self):
        with tempfile.TemporaryDirectory() as folder:
            block, rest = self.text.split("nn.model", 1)
            Path(folder, "parts").mkdir()
            Path(folder, "parts", "block.mlir").write_text('import "../sizes.mlir"\n' + block.replace("to 512", "to $width"))
            Path(folder, "sizes.mlir").write_text("// Sizes.\n  let width = 512\n")
            main = f'import "parts/block.mlir"\nlet half = width / 2\nnn.model{rest}'
            uri = f"file://{folder}/m.mlir"
            self.client.open(uri, main)
            lines = main.split("\n")
            line = next(number for number, line in enumerate(lines) if "@layer" in line)
            [found] = self.client.at("definition", uri, line, lines[line].index("@layer") + 2)
            self.assertEqual(found["uri"], f"file://{folder}/parts/block.mlir")
            self.assertTrue(Path(folder, "parts", "block.mlir").read_text().split("\n")[found["range"]["start"]["line"]].startswith("nn.block @layer"))
            [found] = self.client.at("definition", uri, 1, lines[1].index("width") + 1)
            self.assertEqual((found["uri"], found["range"]), (f"file://{folder}/sizes.mlir", {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 11}}))
            self.assertEqual(self.client.at("definition", uri, line, lines[line].index("nn.repeat") + 4), [])

    def test_imports_of_imports(self):
        """Files of one name in two folders; the line of the text leads to the file, and notes are in files of their own."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b"):
                Path(folder, name).mkdir()
                Path(folder, name, "sizes.mlir").write_text(f"let {name} = 3\n")
            Path(folder, "b", "sizes.mlir").write_text('import "more.mlir"\n')
            Path(folder, "b", "more.mlir").write_text("let b = 3\nlet a = 4\n")
            main = f'import "a/sizes.mlir"\n// import "b/sizes.mlir"\nimport "b/sizes.mlir"\nnn.model{self.text.split("nn.model", 1)[1]}'
            [found] = self.client.open(f"file://{folder}/m.mlir", main)
            self.assertEqual(found["range"]["start"]["line"], 2)
            self.assertRegex(found["message"], "/b/more.mlir:2:5: constant 'a' is defined twice")
            [note] = found["relatedInformation"]
            self.assertEqual(note["message"], "the first definition is here")
            self.assertRegex(note["location"]["uri"], "/a/sizes.mlir$")
            self.assertEqual(note["location"]["range"]["start"], {"line": 0, "character": 4})

    def test_second_results(self):
        """A model that generates with the log-sum-exp of attention."""
        self.assertEqual(self.client.open("file:///lse.mlir", LOG_SUM_EXP), [])


if __name__ == "__main__":
    unittest.main()
