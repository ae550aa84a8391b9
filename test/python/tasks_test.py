"""The other tasks of trainc-data: texts, preferences, and classes of texts and of words."""

import json
import unittest
from pathlib import Path

from support import CHATML, TOKENIZER, DataTest, chat, columns
from tokenizers import Tokenizer, processors

TEXTS = Tokenizer.from_file(str(TOKENIZER / "tokenizer.json"))


def text_of(tokens, labels=None):
    """The text of a row's tokens, or of those that are trained on."""
    return TEXTS.decode((tokens if labels is None else labels[labels >= 0]).tolist(), skip_special_tokens=False)


class TaskTest(DataTest):
    def run_task(self, task, rows, *options, code=0):
        name = self.write_rows(rows)
        out, err = self.run_cli(task, name, f"--tokenizer={self.tokenizer()}", *options, "--json", "-o", "out.safetensors", code=code)
        return (json.loads(out), *columns("out.safetensors")) if code == 0 else err

    def tokenizer(self):
        return TOKENIZER


class Texts(TaskTest):
    def test_packed(self):
        summary, found, _ = self.run_task("text", [{"text": "one two"}, {"text": "three</s>"}], "--pack=64")
        self.assertEqual((summary["kept"], summary["trained_share"]), (2, 1 - 2 / summary["tokens"]))
        tokens, segments, labels = (found[name][0] for name in ("tokens", "segments", "labels"))
        self.assertEqual(sorted(text_of(tokens[segments == number]) for number in (1, 2)), ["one two</s>", "three</s>"])
        self.assertEqual((labels >= 0).sum(), summary["tokens"] - 2)

    def test_errors(self):
        self.assertIn("rows.jsonl:1: expected a column 'text', found [\"body\"]", self.run_task("text", [{"body": "x"}], "--pack=64", code=2))
        self.assertIn("rows.jsonl:2: 'text': expected a string, found a number", self.run_task("text", [{"text": "x"}, {"text": 1}], "--pack=64", code=2))


class Preferences(TaskTest):
    def test_forms(self):
        """The answer alone and the whole chat, strings and messages: all give the same columns."""
        answer = lambda text: [{"role": "assistant", "content": text}]  # noqa: E731
        rows = [{"prompt": "Q", "chosen": "good", "rejected": "bad"}, {"prompt": chat("Q"), "chosen": answer("good"), "rejected": answer("bad")},
                {"prompt": chat("Q"), "chosen": chat("Q", "good"), "rejected": chat("Q", "bad")}, {"chosen": chat("Q", "good"), "rejected": chat("Q", "bad")}]  # fmt: skip
        _, found, metadata = self.run_task("preference", rows, "--pad=64", f"--chat-template={CHATML}")
        self.assertEqual(sorted(found), ["chosen", "chosen_labels", "rejected", "rejected_labels"])
        self.assertIn("preference", metadata["format"])
        for name, text in (("chosen", "good"), ("rejected", "bad")):
            self.assertEqual(found[name].shape, (4, 64))
            for row in range(4):
                self.assertEqual(text_of(found[name][row], found[f"{name}_labels"][row]), f"{text}<|im_end|>")
                self.assertTrue(text_of(found[name][row]).startswith(f"<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n{text}<|im_end|>\n</s></s>"))

    def test_too_long(self):
        rows = [{"prompt": "Q", "chosen": "good" * 50, "rejected": "bad"}, {"prompt": "Q", "chosen": "good", "rejected": "bad"}]
        summary, found, _ = self.run_task("preference", rows, "--pad=40", f"--chat-template={CHATML}")
        self.assertEqual((summary["dropped"], len(found["chosen"])), ({"longer than 40 tokens": 1}, 1))
        summary, found, _ = self.run_task("preference", rows, "--pad=40", "--truncate", f"--chat-template={CHATML}")
        self.assertEqual((summary["truncated"], len(found["chosen"])), (1, 2))

    def test_samples(self):
        self.write_rows([{"prompt": "Q", "chosen": "good", "rejected": "bad"}])
        _, err = self.run_cli("preference", "rows.jsonl", f"--tokenizer={TOKENIZER}", f"--chat-template={CHATML}", "--pad=64", "--show=2", "-o", "out.safetensors")
        for name, text in (("chosen", "good"), ("rejected", "bad")):
            self.assertRegex(err, rf"--- sample 1, {name}: \d+ tokens\n<\|im_start\|>user\nQ<\|im_end\|>\n<\|im_start\|>assistant\n⟦{text}<\|im_end\|>⟧\n")

    def test_system_and_variables(self):
        row = {"prompt": "Q", "chosen": "good", "rejected": "bad", "system": "S", "tools": [{"name": "f"}], "documents": [{"title": "D"}], "chat_template_kwargs": {"v": 7}}
        Path("all.jinja").write_text("{{ v }} {{ tools | tojson }} {{ documents | tojson }} {% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}")
        _, found, _ = self.run_task("preference", [row], "--pad=128", "--chat-template=all.jinja", "--train-on=all")
        for name, text in (("chosen", "good"), ("rejected", "bad")):
            self.assertTrue(text_of(found[name][0]).startswith(f'7 [{{"name": "f"}}] [{{"title": "D"}}] system:S;user:Q;assistant:{text};</s>'), text_of(found[name][0]))
        self.assertIn("rows.jsonl:1: 'system': expected a string, found a number: 5", self.run_task("preference", [{**row, "system": 5}], "--pad=128", "--chat-template=all.jinja", code=2))

    def test_error(self):
        self.assertIn("rows.jsonl:1: expected a column 'rejected', found [\"chosen\"]",
                      self.run_task("preference", [{"chosen": "x"}], "--pad=64", f"--chat-template={CHATML}", code=2))  # fmt: skip


class Classes(TaskTest):
    """With a tokenizer that puts <s> before a text and </s> after it."""

    def tokenizer(self):
        Path("tokenizer").mkdir(exist_ok=True)
        tokenizer = Tokenizer.from_file(str(TOKENIZER / "tokenizer.json"))
        tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> $B:1 </s>:1", [("<s>", 1), ("</s>", 2)])
        tokenizer.save("tokenizer/tokenizer.json")
        Path("tokenizer/tokenizer_config.json").write_text(json.dumps({"pad_token": "<unk>"}))
        return "tokenizer"

    def test_texts(self):
        rows = [{"text": "a film", "label": 2}, {"text": "b", "text_pair": "c", "label": 0}]
        _, found, _ = self.run_task("classify", rows, "--pad=16", "--token-types")
        self.assertEqual(found["labels"].tolist(), [2, 0])
        for row, (text, types) in enumerate((("<s>a film</s>", None), ("<s>b</s>c</s>", [0, 0, 0, 1, 1]))):
            size = found["segments"][row].sum()
            self.assertEqual(found["segments"][row].tolist(), [1] * size + [0] * (16 - size))
            self.assertEqual(text_of(found["tokens"][row][:size]), text)
            self.assertEqual(set(found["tokens"][row][size:].tolist()), {0})
            self.assertEqual(found["token_types"][row].tolist(), (types or []) + [0] * (16 - len(types or [])))
        self.assertNotIn("token_types", self.run_task("classify", rows, "--pad=16")[1])

    def test_names_of_classes(self):
        _, found, metadata = self.run_task("classify", [{"text": "a", "label": "no"}, {"text": "b", "label": "yes"}], "--pad=16", "--labels=yes,no")
        self.assertEqual((found["labels"].tolist(), metadata["labels"]), ([1, 0], '["yes", "no"]'))
        self.assertIn("rows.jsonl:1: 'label': expected one of yes, no, found \"maybe\"",
                      self.run_task("classify", [{"text": "a", "label": "maybe"}], "--pad=16", "--labels=yes,no", code=2))  # fmt: skip
        self.assertIn("rows.jsonl:1: 'label': expected a whole number from 0", self.run_task("classify", [{"text": "a", "label": 1.5}], "--pad=16", code=2))

    def test_numbers_of_classes(self):
        for label in ("7", 7, "2147483646"):
            self.assertEqual(self.run_task("classify", [{"text": "a", "label": label}], "--pad=16")[1]["labels"].tolist(), [int(label)])
        for label in (-1, "-1", "²", "1" * 5000, 2147483647, 10**12, 1.0, True):
            with self.subTest(label):
                expected = "rows.jsonl:1: 'label': expected a whole number from 0 to 2147483646"
                self.assertIn(expected, self.run_task("classify", [{"text": "a", "label": label}], "--pad=16", code=2))
        self.assertIn("rows.jsonl:1: 'tags': expected a whole number", self.run_task("token-classify", [{"tokens": ["a"], "tags": [1 << 31]}], "--pad=16", code=2))
        self.assertIn("--labels=a,b,a: expected different names", self.run_task("classify", [{"text": "a", "label": 0}], "--pad=16", "--labels=a,b,a", code=2))

    def test_truncated_texts_keep_their_end(self):
        summary, found, _ = self.run_task("classify", [{"text": "abcdefghijklmnopqrst" * 3, "label": 0}], "--pad=8", "--truncate")
        self.assertEqual(summary["truncated"], 1)
        self.assertEqual((found["tokens"][0][0], found["tokens"][0][7]), (1, 2))

    def test_words(self):
        rows = [{"tokens": ["Zürich", "is", "x"], "tags": [3, 0, 1]}, {"tokens": ["x"], "tags": [1]}]
        _, found, _ = self.run_task("token-classify", rows, "--pad=16")
        expected = [-100]
        for word, tag in zip(rows[0]["tokens"], rows[0]["tags"], strict=True):
            expected += [tag] + [-100] * (len(TEXTS.encode(word, add_special_tokens=False)) - 1)
        self.assertEqual(found["labels"][0].tolist(), expected + [-100] * (16 - len(expected)))
        self.assertEqual(found["labels"][1].tolist(), [-100, 1] + [-100] * 14)
        self.assertIn("rows.jsonl:1: 'tags': expected a list of 1 classes, found 2", self.run_task("token-classify", [{"tokens": ["x"], "tags": [1, 2]}], "--pad=16", code=2))

    def test_words_of_csv(self):
        rows = [{"tokens": ["x", "y"], "tags": [1, 0]}]
        expected = self.run_task("token-classify", rows, "--pad=16")[1]
        Path("rows.csv").write_text('tokens,tags\n"[""x"", ""y""]","[1, 0]"\n')
        self.run_cli("token-classify", "rows.csv", f"--tokenizer={self.tokenizer()}", "--pad=16", "-o", "out.safetensors")
        found, _ = columns("out.safetensors")
        self.assertEqual({name: found[name].tolist() for name in found}, {name: expected[name].tolist() for name in expected})


    def test_samples(self):
        options = [f"--tokenizer={self.tokenizer()}", "--pad=32", "--show=2", "-o", "out.safetensors"]
        rows = [{"text": text, "label": 1, "tokens": ["x", "y"], "tags": [2, 0]} for text in ("one", "two", "three")]
        _, err = self.run_cli("classify", self.write_rows(rows * 200), *options)
        self.assertRegex(err, r"(?s)--- sample 1, class 1: \d+ tokens\n<s>one</s>\n--- sample 2, class 1: \d+ tokens\n<s>two</s>\nwrote")
        _, err = self.run_cli("token-classify", "rows.jsonl", *options)
        self.assertIn("--- sample 1, classes 2 0: 4 tokens\n<s>⟦xy⟧</s>\n--- sample 2", err)
        self.assertNotIn("--- sample 3", err)


class WithoutSpecialTokens(TaskTest):
    """With a tokenizer that puts no token around a text."""

    def test_empty_texts(self):
        for task, row in (("classify", {"text": "", "label": 0}), ("token-classify", {"tokens": ["", ""], "tags": [0, 1]})):
            self.assertIn("rows.jsonl:1: expected a text with a token, found an empty one", self.run_task(task, [row], "--pad=16", code=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
