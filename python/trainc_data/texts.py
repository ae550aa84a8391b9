"""Plain texts as tokens, each with the token that ends a text."""

from __future__ import annotations

from typing import Any

import numpy as np

from trainc_data.chats import Encoded, renamed
from trainc_data.errors import InputError, RowError, kind_of, shown
from trainc_data.forms import Chat, Form
from trainc_data.readers import Row, parse_row
from trainc_data.settings import ChatSettings
from trainc_data.tokenizer import TokenizerFolder


def _text(row: dict[str, Any]) -> str:
    text = row.get("text")
    if not isinstance(text, str):
        raise RowError(f"'text': expected a string, found {kind_of(text)}")
    return text


FORM = Form("text", ("text",), lambda row: Chat(text=_text(row)))


def text_form(row: dict[str, Any], place: object) -> Form:
    """The only form of texts."""
    if "text" not in row:
        raise InputError(f"{place}: expected a column 'text', found {shown(sorted(map(str, row)), 200)}; rename a column with --column text=OLD")
    return FORM


class TextEncoder:
    """Turns rows of texts into sequences, all of whose tokens are trained on."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self.folder = TokenizerFolder(settings.folder)
        self._end = self.folder.id_of("eos_token")

    def encode(self, rows: list[Row]) -> Encoded:
        """The sequences of `rows`."""
        texts: list[str] = []
        result = Encoded(np.empty(0, np.int32), np.empty(0, np.bool_), [])
        for row in rows:
            try:
                text = _text(renamed(parse_row(row), self._settings.renamed))
                text.encode()
            except RowError as error:
                result.bad.append((row.place, str(error)))
            except UnicodeEncodeError:
                result.bad.append((row.place, "expected text, found half of a surrogate pair"))
            else:
                texts.append(text)
        found: list[int] = []
        for encoding in self.folder.tokenizer.encode_batch_fast(texts):
            ids = encoding.ids
            if self._end is not None and (not ids or ids[-1] != self._end):
                ids.append(self._end)
            if len(ids) < 2:
                result.dropped["no token to train on"] += 1
                continue
            result.lengths.append(len(ids))
            found += ids
        result.ids = np.array(found, dtype=np.int32)
        result.mask = np.ones(len(found), dtype=np.bool_)
        return result
