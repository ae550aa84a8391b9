"""The language server, spoken to as editors do: errors in models, hover, definitions, completion."""

import json
import os
import subprocess
import unittest

import harness

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
        published = self.receive(lambda message: message.get("method") == "textDocument/publishDiagnostics")
        return published["params"]["diagnostics"]

    def at(self, method, uri, line, character):
        """A request about a place in a document."""
        return self.request(f"textDocument/{method}",
                            {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})


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
        for number, (line, expected) in enumerate([("  %g = nn.gelu %nothing", "use of undeclared SSA value name"),
                                                   ("  %g = nn.gleu %h", "nn.gleu")]):
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

    def test_hover_and_definition(self):
        uri = "file:///small.mlir"
        self.client.open(uri, self.text)
        line = self.lines[self.gelu]
        hover = self.client.at("hover", uri, self.gelu, line.index("gelu"))
        self.assertIn('"nn.gelu"', hover["contents"]["value"])
        [definition] = self.client.at("definition", uri, self.gelu, line.index("%h") + 1)
        self.assertIn("%h = nn.linear", self.lines[definition["range"]["start"]["line"]])

    def test_completion(self):
        for number, (line, expected) in enumerate([("  %g = nn.", {"gelu", "linear", "attention"}),
                                                   ("  %g = nn.gelu %", {"%h", "%x"})]):
            uri = f"file:///typing{number}.mlir"
            self.client.open(uri, self.with_gelu_line(line))
            items = self.client.at("completion", uri, self.gelu, len(line))["items"]
            self.assertLessEqual(expected, {item["label"] for item in items})


if __name__ == "__main__":
    unittest.main()
