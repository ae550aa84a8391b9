"""Chat templates against transformers: texts, tokens and masks of test/golden/chat (make_chat_goldens.py)."""

import hashlib
import itertools
import json
import unittest
from datetime import datetime
from pathlib import Path
from unittest import mock

from support import GOLDEN, DataTest, chat  # isort: skip
from trainc_data.chats import ChatEncoder, ChatSettings
from trainc_data.errors import InputError, RowError
from trainc_data.forms import form_of
from trainc_data.mask import token_mask
from trainc_data.template import ChatTemplate, TimeLimit, time_limit

NOW = datetime(2026, 12, 1, 12, 0)
CHATS = json.loads((GOLDEN / "chats.json").read_text())
GOLDENS = json.loads((GOLDEN / "goldens.json").read_text())


def runs(mask):
    """[begin, end) of the runs of true."""
    result, at = [], 0
    for value, run in itertools.groupby(mask):
        size = sum(1 for _ in run)
        if value:
            result.append([at, at + size])
        at += size
    return result


def encoder_of(tokenizer, template, train_on="assistant"):
    return ChatEncoder(ChatSettings(GOLDEN / tokenizer, GOLDEN / "templates" / f"{template}.jinja", train_on, {}))


def read(name):
    row = CHATS[name]
    return form_of(row, name).read(row)


class AgainstTransformers(unittest.TestCase):
    def setUp(self):
        clock = mock.patch("trainc_data.template.datetime")
        clock.start().now.return_value = NOW
        self.addCleanup(clock.stop)

    def test_all_templates(self):
        """Texts, tokens and, if the template marks them, the assistant's tokens."""
        counts = dict.fromkeys(("texts", "errors", "masks"), 0)
        for template, cases in GOLDENS.items():
            encoders = {name: encoder_of(name, template, "all") for name in ("byte_level", "metaspace")}
            marking = {name: encoder_of(name, template) for name in encoders}
            for name, golden in cases.items():
                with self.subTest(template=template, chat=name):
                    if "error" in golden:
                        with self.assertRaises(RowError) as error:
                            encoders["byte_level"].rendered(read(name))
                        self.assertIn(golden["error"], str(error.exception))
                        counts["errors"] += 1
                        continue
                    for tokenizer, encoder in encoders.items():
                        text, _ = encoder.rendered(read(name))
                        self.assertEqual(text, golden["text"])
                        encoding = encoder.folder.tokenizer.encode(text, add_special_tokens=False)
                        self.assertEqual(len(encoding), golden[tokenizer]["count"])
                        self.assertEqual(hashlib.sha256(json.dumps(encoding.ids).encode()).hexdigest()[:16], golden[tokenizer]["sha256"])
                        counts["texts"] += 1
                        if "trained" in golden[tokenizer]:
                            _, spans = marking[tokenizer].rendered(read(name))
                            self.assertEqual(runs(token_mask(encoding, spans)), golden[tokenizer]["trained"])
                            counts["masks"] += 1
        self.assertGreaterEqual(len(GOLDENS), 30)
        self.assertEqual(counts["texts"], 2 * sum("text" in case for each in GOLDENS.values() for case in each.values()))
        self.assertGreater(min(counts.values()), 20)


# The part that the model is trained on of the chats "two turns" and "many turns", without marks in the template: the end of a turn is part of it.
TRAINED = {
    "chatml": (["It is four.<|im_end|>"], ["Hello 🙂\n\n\n<|im_end|>", "\tTabs & <tags> \"quoted\"<|im_end|>", "Yes 🏳️‍🌈<|im_end|>"]),
    "llama2": ([" It is four. </s>"], [" Hello 🙂 </s>", " Tabs & <tags> \"quoted\" </s>", " Yes 🏳️‍🌈 </s>"]),
    "llama3": (["It is four.<|eot_id|>"], ["Hello 🙂<|eot_id|>", "Tabs & <tags> \"quoted\"<|eot_id|>", "Yes 🏳️‍🌈<|eot_id|>"]),
    "mistral_v1": (["It is four.</s>"], ["Hello 🙂\n\n\n</s>", "\tTabs & <tags> \"quoted\"</s>", "Yes 🏳️‍🌈</s>"]),
    "gemma": (["It is four.<end_of_turn>"], ["Hello 🙂<end_of_turn>", "Tabs & <tags> \"quoted\"<end_of_turn>", "Yes 🏳️‍🌈<end_of_turn>"]),
    # The template ends each text with </s>, so that a text up to a turn is no prefix of a longer one.
    "phi3": (["It is four.<|end|>\n</s>"], ["Hello 🙂\n\n\n<|end|>", "\tTabs & <tags> \"quoted\"<|end|>", "Yes 🏳️‍🌈<|end|>\n</s>"]),
    # The last turn has thoughts. A turn in the middle has none, so that a text up to it is no prefix of a longer one.
    "qwen3": (["<think>\n\n</think>\n\nIt is four.<|im_end|>"],
              ["Hello 🙂\n\n\n<|im_end|>", "\tTabs & <tags> \"quoted\"<|im_end|>", "<think>\n\n</think>\n\nYes 🏳️‍🌈<|im_end|>"]),
    # The prompt for an answer begins thoughts, which the chat lacks.
    "deepseek_r1": (["It is four.</s>"], ["Hello 🙂\n\n\n</s>", "\tTabs & <tags> \"quoted\"</s>", "Yes 🏳️‍🌈</s>"]),
    "falcon": ([" It is four."], [" Hello 🙂", " Tabs & <tags> \"quoted\"", " Yes 🏳️‍🌈"]),
    "vicuna": ([" It is four.</s>"], [" Hello 🙂</s>", " Tabs & <tags> \"quoted\"</s>", " Yes 🏳️‍🌈</s>"]),
    "zephyr": (["It is four.</s>"], ["Hello 🙂\n\n\n</s>", "\tTabs & <tags> \"quoted\"</s>", "Yes 🏳️‍🌈</s>"]),
}


class Spans(unittest.TestCase):
    def trained(self, template, name, train_on="assistant"):
        text, spans = encoder_of("byte_level", template, train_on).rendered(read(name))
        return [text[begin:end] for begin, end in spans]

    def test_by_prefixes(self):
        for template, (two, many) in TRAINED.items():
            with self.subTest(template=template):
                self.assertEqual(self.trained(template, "two turns"), two)
                self.assertEqual(self.trained(template, "many turns"), many)

    def test_last_turn(self):
        for template, (_, many) in TRAINED.items():
            self.assertEqual(self.trained(template, "many turns", "last"), many[-1:], template)
        self.assertEqual(self.trained("chatml_generation", "many turns", "last"), ["Yes 🏳️‍🌈<|im_end|>"])

    def test_calls_of_tools(self):
        calls, answer = self.trained("qwen25_tools", "tools")
        self.assertEqual(calls, '<tool_call>\n{"name": "weather", "arguments": {"city": "Zürich", "days": 2, "deep": {"a": [1, 2.5, null, true]}}}\n'
                                "</tool_call><|im_end|>")  # fmt: skip
        self.assertEqual(answer, "It is clear.<|im_end|>")

    def test_no_prefix(self):
        with self.assertRaises(RowError) as error:
            self.trained("last_turn_differs", "many turns")
        self.assertIn("last_turn_differs.jinja renders the messages up to number 2 differently if more follow", str(error.exception))
        self.assertIn("--train-on=last", str(error.exception))

    def test_the_assistant_begins(self):
        encoder = encoder_of("byte_level", "chatml")
        row = {"messages": [{"role": "assistant", "content": "Hello"}, *chat("Hi", "Yes")]}
        with self.assertRaisesRegex(RowError, "expected a message before the assistant's first one"):
            encoder.rendered(form_of(row, "").read(row))


class TemplatesOfFolders(DataTest):
    """Places of templates, and the special tokens that they see."""

    def folder(self, tokenizer_config=None, **files):
        Path("model").mkdir(exist_ok=True)
        Path("model/tokenizer.json").write_bytes((GOLDEN / "byte_level" / "tokenizer.json").read_bytes())
        if tokenizer_config is not None:
            Path("model/tokenizer_config.json").write_text(json.dumps(tokenizer_config))
        for name, text in files.items():
            path = Path("model", name.replace("__", "/") + (".json" if name.endswith("config") else ".jinja"))
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return ChatEncoder(ChatSettings(Path("model"), None, "all", {}))

    def text(self, encoder, **row):
        row = {"messages": chat("Q", "A"), **row}
        return encoder.rendered(form_of(row, "").read(row))[0]

    def test_config_and_special_tokens(self):
        config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "boi_token": "<i>", "extra_special_tokens": {"eot": "<t>"}, "pad_token": None,
                  "chat_template": "{{ bos_token }}{{ eos_token }}{{ boi_token }}{{ eot }}{{ pad_token is defined }}"}  # fmt: skip
        self.assertEqual(self.text(self.folder(config)), "<s></s><i><t>False")

    def test_ids_in_other_files(self):
        encoder = self.folder(chat_template="{{ bos_token }}|{{ eos_token }}", generation_config=json.dumps({"eos_token_id": [2, 3]}),
                              config=json.dumps({"bos_token_id": 1}))  # fmt: skip
        self.assertEqual(self.text(encoder), "<s>|</s>")

    def test_named_templates(self):
        named = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "{{ tools | length }} tools"}]
        encoder = self.folder({"chat_template": named})
        self.assertEqual(self.text(encoder), "plain")
        self.assertEqual(self.text(encoder, tools=[{"a": 1}]), "1 tools")
        self.assertEqual(self.text(encoder, tools='[{"a": 1}, {"b": 2}]'), "2 tools")

    def test_files_come_first(self):
        encoder = self.folder({"chat_template": "of the config"}, chat_template="of the file", additional_chat_templates__tool_use="with tools")
        self.assertEqual(self.text(encoder), "of the file")
        self.assertEqual(self.text(encoder, tools=[{"a": 1}]), "with tools")

    def test_errors(self):
        with self.assertRaisesRegex(InputError, "model: expected a chat template .* --chat-template=FILE.jinja"):
            self.folder().compile()
        with self.assertRaisesRegex(InputError, "model/chat_template.jinja:2: expected a Jinja template: Encountered unknown tag 'fi'"):
            self.folder(chat_template="{% if true %}\n{% fi %}").compile()
        Path("model/tokenizer.json").rename("model/tokenizer.model")
        with self.assertRaisesRegex(InputError, "model/tokenizer.json: is missing, and the folder has tokenizer.model"):
            ChatEncoder(ChatSettings(Path("model"), None, "all", {}))


class HostileTemplates(unittest.TestCase):
    """A template comes with a model from anywhere."""

    def render(self, text, seconds=0.2):
        """The text of a template, with a limit on its time."""
        row = {"messages": chat("Q", "A")}
        template = ChatTemplate(text, "t", {})
        read = form_of(row, "").read(row)
        with time_limit(seconds):
            return template.render(read, read.messages)[0]

    def test_sandbox(self):
        for text in ("{{ dict.__base__ }}", "{{ '%s'.format.__globals__ }}", "{{ ('{0.__class__}').format(messages) }}", "{{ messages.__class__ }}"):
            self.assertEqual(self.render(text), "")
        for text in ("{{ ''.__class__.__mro__ }}", "{{ messages.append(1) }}", "{{ namespace(__class__=1) }}", "{{ cycler.__init__.__globals__ }}",
                     "{% set n = namespace() %}{% set n.__class__ = 1 %}", "{{ 'a' * 10**9 }}", "{{ 2 ** (2 ** 40) }}", "{{ range(10**9) | list }}"):  # fmt: skip
            with self.subTest(text), self.assertRaises(RowError):
                self.render(text)

    def test_time(self):
        with self.assertRaises(TimeLimit):
            self.render("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")

    def test_size(self):
        text = "{% for a in range(99999) %}{{ 'a' * 60000000 }}{% endfor %}"
        with self.assertRaisesRegex(RowError, "writes more than 64 Mi characters"):
            self.render(text, seconds=10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
