"""Samples for people: a text in which the part that is trained on is visible."""

from __future__ import annotations

from itertools import groupby

from tokenizers import Tokenizer

from trainc_data.pack import Sequence

_GREEN, _PLAIN = "\x1b[32m", "\x1b[0m"


def sample_text(tokenizer: Tokenizer, sequence: Sequence, has_colours: bool) -> str:
    """The text of a sequence. What is trained on is green, or in ⟦ ⟧."""
    ids, mask = sequence
    begin, end = (_GREEN, _PLAIN) if has_colours else ("⟦", "⟧")
    text, at = "", 0
    for is_trained, run in groupby(mask.tolist()):
        size = sum(1 for _ in run)
        part = tokenizer.decode(ids[at : at + size].tolist(), skip_special_tokens=False)
        # A data file may hold any characters; a terminal obeys some of them.
        part = "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in part)
        text += f"{begin}{part}{end}" if is_trained else part
        at += size
    return text
