"""Chats as tokens, with a mask of those that are trained on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trainc_data.errors import Place, RowError, shown
from trainc_data.forms import Chat, form_named
from trainc_data.mask import Mask, spans_of, token_mask
from trainc_data.readers import Row, parse_row
from trainc_data.settings import ChatSettings
from trainc_data.template import SECONDS_PER_CHAT, ChatTemplate, Span, TimeLimit, prepared, time_limit
from trainc_data.tokenizer import TokenizerFolder

Ids = np.ndarray[Any, np.dtype[np.int32]]


@dataclass
class Encoded:
    """The sequences of a chunk of rows, one after another."""

    ids: Ids
    mask: Mask
    lengths: list[int]
    bad: list[tuple[Place, str]] = field(default_factory=list)  # rows that cannot be used, and why
    dropped: Counter[str] = field(default_factory=Counter)  # rows that are left out, by reason

    def sequences(self) -> list[tuple[Ids, Mask]]:
        ends = np.cumsum(self.lengths)
        return [(self.ids[end - length : end], self.mask[end - length : end]) for end, length in zip(ends, self.lengths, strict=True)]


def renamed(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """The row with columns under other names. Fails if one is missing."""
    if not names:
        return row
    result = {key: value for key, value in row.items() if key not in names.values()}
    for new, old in names.items():
        if old not in row:
            raise RowError(f"expected a column '{old}' (--column), found {shown(sorted(map(str, row)), 200)}")
        result[new] = row[old]
    return result


class ChatEncoder:
    """Turns rows into sequences of tokens with masks."""

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.folder = TokenizerFolder(settings.folder, settings.template_file)
        self.special = self.folder.special_texts()
        self._compiled: dict[str, ChatTemplate] = {}

    def compile(self) -> None:
        """Compiles the templates. Fails if the folder has none."""
        if not self._compiled:
            self._compiled = self.folder.compiled_templates()

    def rendered(self, chat: Chat) -> tuple[str, list[Span] | None]:
        """The chat's text, and the spans that are trained on. The caller limits the time."""
        if chat.text is not None:
            return chat.text, None
        self.compile()
        name = "tool_use" if chat.tools is not None and "tool_use" in self._compiled else "default"
        template = self._compiled[name]
        return spans_of(template, chat, prepared(chat.messages), self.settings.train_on, self.special)

    def _render_row(self, row: Row) -> tuple[str, list[Span] | None]:
        chat = form_named(row.columns).read(renamed(parse_row(row), self.settings.renamed))
        if chat.text is None:
            self.compile()  # which has a time limit of its own
        try:
            with time_limit(SECONDS_PER_CHAT):
                return self.rendered(chat)
        except TimeLimit:
            raise RowError(f"the chat template takes more than {SECONDS_PER_CHAT:g} s for this chat") from None

    def encode(self, rows: list[Row]) -> Encoded:
        """The sequences of `rows`."""
        texts: list[str] = []
        spans: list[list[Span] | None] = []
        result = Encoded(np.empty(0, np.int32), np.empty(0, np.bool_), [])
        for row in rows:
            try:
                text, span = self._render_row(row)
                text.encode()  # half a pair of surrogates, which JSON can hold, is no text
            except RowError as error:
                result.bad.append((row.place, str(error)))
                continue
            except UnicodeEncodeError as error:
                result.bad.append((row.place, f"expected text, found half of a surrogate pair ({error.reason})"))
                continue
            texts.append(text)
            spans.append(span)
        ids: list[Ids] = []
        masks: list[Mask] = []
        for encoding, span in zip(self.folder.tokenizer.encode_batch(texts, add_special_tokens=False), spans, strict=True):
            mask = token_mask(encoding, span)
            # The first token is no target, because no token comes before it.
            if not mask[1:].any():
                result.dropped["no token to train on"] += 1
                continue
            ids.append(np.array(encoding.ids, dtype=np.int32))
            masks.append(mask)
        if ids:
            result.ids, result.mask = np.concatenate(ids), np.concatenate(masks)
            result.lengths = [len(each) for each in ids]
        return result
