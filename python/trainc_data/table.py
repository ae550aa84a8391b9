"""Rows of data that are made from one input row each: preferences, and texts with labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trainc_data.chats import ChatEncoder, renamed
from trainc_data.errors import InputError, Place, RowError, kind_of, shown
from trainc_data.forms import Chat, Form, beside, list_or_json, turns_of, with_system
from trainc_data.mask import token_mask
from trainc_data.pack import IGNORED, Columns, Sequence, labels_of
from trainc_data.readers import Row, parse_row
from trainc_data.settings import ChatSettings, Lengths
from trainc_data.template import SECONDS_PER_CHAT, TimeLimit, prepared, time_limit
from trainc_data.tokenizer import TokenizerFolder

# Labels are 32-bit.
_MAX_CLASSES = (1 << 31) - 1

# A text of a row: its name, and its tokens with the mask of those that are trained on.
Sample = tuple[str, Sequence]


@dataclass
class Table:
    """Columns of the rows of a chunk, and counts."""

    columns: Columns = field(default_factory=dict)
    kept: int = 0
    tokens: int = 0
    trained_tokens: int = 0
    longest: int = 0
    truncated: int = 0
    bad: list[tuple[Place, str]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    samples: list[list[Sample]] = field(default_factory=list)  # of the first rows


@dataclass(frozen=True)
class TableSettings:
    """Settings that workers need."""

    chat: ChatSettings
    lengths: Lengths
    labels: tuple[str, ...] = ()  # names of classes
    token_types: bool = False  # whether there is a column of them
    samples: int = 0  # number of first rows to show


class TooLong(Exception):
    """A row that is dropped because of its length."""


class RowEncoder:
    """Makes one row of columns from each input row. Subclasses say how."""

    noun = "rows"
    needed: tuple[str, ...] = ()
    folder: TokenizerFolder

    def __init__(self, settings: TableSettings) -> None:
        self.settings = settings
        self.length = settings.lengths.row

    @classmethod
    def find_form(cls, row: dict[str, Any], place: object) -> Form:
        """The only form of the task's rows."""
        missing = [column for column in cls.needed if row.get(column) is None]
        if missing:
            found = shown(sorted(map(str, row)), 200)
            raise InputError(f"{place}: expected a column '{missing[0]}', found {found}; rename a column with --column {missing[0]}=OLD")
        return Form(" and ".join(cls.needed), cls.needed, lambda _: Chat())

    def row(self, row: dict[str, Any], table: Table) -> Columns:
        """The columns of one row. Raises RowError, or TooLong."""
        raise NotImplementedError

    def encode(self, rows: list[Row]) -> Table:
        """The columns of `rows`."""
        table = Table()
        made: list[Columns] = []
        for row in rows:
            try:
                made.append(self.row(renamed(parse_row(row), self.settings.chat.renamed), table))
            except RowError as error:
                table.bad.append((row.place, str(error)))
            except UnicodeEncodeError:
                table.bad.append((row.place, "expected text, found half of a surrogate pair"))
            except TooLong:
                table.dropped[f"longer than {self.settings.lengths.max_text:,} tokens"] += 1
        table.kept = len(made)
        if made:
            table.columns = {name: np.stack([each[name] for each in made]) for name in made[0]}
        return table

    def add_sample(self, table: Table, sample: list[Sample]) -> None:
        """Keeps what may be shown of a row."""
        if len(table.samples) < self.settings.samples:
            table.samples.append(sample)

    def fitted(self, count: int, table: Table) -> int:
        """Number of tokens that stay of `count`."""
        most = self.settings.lengths.max_text
        if count > most:
            if not self.settings.lengths.truncate:
                raise TooLong
            table.truncated += 1
        count = min(count, most)
        table.tokens += count
        table.longest = max(table.longest, count)
        return count

    def filled(self, values: Any, other: int) -> np.ndarray[Any, np.dtype[np.int32]]:
        """A row of the values, then `other`."""
        result = np.full(self.length, other, dtype=np.int32)
        result[: len(values)] = values
        return result


class PreferenceEncoder(RowEncoder):
    """A chosen and a rejected answer to the same prompt, as tokens and labels of each."""

    noun = "pairs"
    needed = ("chosen", "rejected")

    def __init__(self, settings: TableSettings) -> None:
        super().__init__(settings)
        self._chats = ChatEncoder(settings.chat)
        self.folder = self._chats.folder

    def row(self, row: dict[str, Any], table: Table) -> Columns:
        prompt = turns_of(row, "prompt", "user") if row.get("prompt") is not None else []
        arguments = beside(row)
        self._chats.compile()
        answers = []
        for name in self.needed:
            messages = turns_of(row, name, "assistant")
            # Both forms are in use: the answer alone, and the whole chat.
            whole = with_system(row, messages if messages[: len(prompt)] == prompt else [*prompt, *messages])
            try:
                with time_limit(SECONDS_PER_CHAT):
                    text, spans = self._chats.rendered(Chat(prepared(whole), **arguments))
            except TimeLimit:
                raise RowError(f"the chat template takes more than {SECONDS_PER_CHAT:g} s for this chat") from None
            text.encode()
            encoding = self.folder.tokenizer.encode(text, add_special_tokens=False)
            answers.append((np.array(encoding.ids, dtype=np.int32), token_mask(encoding, spans)))
        result: Columns = {}
        sample: list[Sample] = []
        most = self.settings.lengths.max_text
        if max(len(ids) for ids, _ in answers) > most and not self.settings.lengths.truncate:
            raise TooLong
        for name, (ids, mask) in zip(self.needed, answers, strict=True):
            count = self.fitted(len(ids), table)
            labels = labels_of(ids[:count], mask[:count])
            if not (labels >= 0).any():
                raise RowError(f"'{name}': has no token of an answer within {count} tokens")
            table.trained_tokens += int((labels >= 0).sum())
            result[name] = self.filled(ids[:count], self.folder.padding())
            result[f"{name}_labels"] = self.filled(labels, IGNORED)
            sample.append((name, (ids[:count], mask[:count])))
        self.add_sample(table, sample)
        return result


class _LabelEncoder(RowEncoder):
    """Texts as the tokenizer's model expects them, with its special tokens."""

    def __init__(self, settings: TableSettings) -> None:
        super().__init__(settings)
        self.folder = TokenizerFolder(settings.chat.folder)
        self._classes = {name: number for number, name in enumerate(settings.labels)}

    def class_of(self, value: Any, key: str) -> int:
        """The number of a class."""
        if isinstance(value, str) and value in self._classes:
            return self._classes[value]
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10 and not self._classes:
            value = int(value)  # as CSV files have numbers
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < (len(self._classes) or _MAX_CLASSES):
            known = f"one of {', '.join(self._classes)}" if self._classes else "a whole number from 0 to 2147483646 (--labels=A,B gives names of classes)"
            raise RowError(f"'{key}': expected {known}, found {shown(value)}")
        return value

    def tokens(self, encoding: Any, table: Table) -> tuple[int, Columns]:
        """Number of tokens, and the columns that all tasks have. A text that is cut keeps the token that ends it."""
        ids = np.array(encoding.ids, dtype=np.int32)
        if not len(ids):
            raise RowError("expected a text with a token, found an empty one")
        count = self.fitted(len(ids), table)
        if count < len(ids) and encoding.special_tokens_mask[-1]:
            ids[count - 1] = ids[-1]
        return count, {"tokens": self.filled(ids[:count], self.folder.padding()), "segments": self.filled(np.ones(count), 0)}


class ClassEncoder(_LabelEncoder):
    """Texts, or pairs of texts, with a class each."""

    noun = "texts"
    needed = ("text", "label")

    def row(self, row: dict[str, Any], table: Table) -> Columns:
        texts = [row[key] for key in ("text", "text_pair") if row.get(key) is not None]
        for text in texts:
            if not isinstance(text, str):
                raise RowError(f"'text': expected a string, found {kind_of(text)}: {shown(text)}")
            text.encode()
        label = self.class_of(row.get("label"), "label")
        encoding = self.folder.tokenizer.encode(*texts)
        count, columns = self.tokens(encoding, table)
        table.trained_tokens += 1
        if self.settings.token_types:
            columns["token_types"] = self.filled(encoding.type_ids[:count], 0)
        self.add_sample(table, [(f"class {label}", (columns["tokens"][:count], np.zeros(count, np.bool_)))])
        return {**columns, "labels": np.array(label, dtype=np.int32)}


class TokenClassEncoder(_LabelEncoder):
    """Words with a class each: the first token of a word has its class, others have none."""

    noun = "texts"
    needed = ("tokens", "tags")

    def row(self, row: dict[str, Any], table: Table) -> Columns:
        words, tags = (list_or_json(row.get(key), key) for key in self.needed)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or not words:
            raise RowError(f"'tokens': expected a list of words, found {kind_of(words)}: {shown(words)}")
        if not isinstance(tags, list) or len(tags) != len(words):
            raise RowError(f"'tags': expected a list of {len(words)} classes, found {f'{len(tags)}' if isinstance(tags, list) else kind_of(tags)}")
        "".join(words).encode()
        classes = [self.class_of(tag, "tags") for tag in tags]
        encoding = self.folder.tokenizer.encode(words, is_pretokenized=True)
        count, columns = self.tokens(encoding, table)
        labels, before = [], None
        for number in encoding.word_ids[:count]:
            labels.append(IGNORED if number is None or number == before else classes[number])
            before = number
        if encoding.special_tokens_mask[-1]:
            labels[-1] = IGNORED
        table.trained_tokens += sum(label != IGNORED for label in labels)
        found = "classes " + " ".join(str(label) for label in labels if label != IGNORED)
        self.add_sample(table, [(found, (columns["tokens"][:count], np.array(labels) != IGNORED))])
        return {**columns, "labels": self.filled(labels, IGNORED)}
