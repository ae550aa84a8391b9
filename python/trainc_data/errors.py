"""Errors whose text is all that a user needs."""

from __future__ import annotations

import json
from dataclasses import dataclass


class InputError(Exception):
    """Bad usage or input: the program prints the text and ends with exit code 2."""


class RowError(Exception):
    """One bad row. The text says what was expected and found; the caller adds file and line."""


@dataclass(frozen=True)
class Place:
    """The place of a row in its file."""

    file: str
    number: int  # from 1
    unit: str = "line"  # or "row"

    def __str__(self) -> str:
        return f"{self.file}:{self.number}" if self.unit == "line" else f"{self.file}: row {self.number}"


def shown(value: object, limit: int = 80) -> str:
    """A value as one short line."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):
        text = repr(type(value))
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def kind_of(value: object) -> str:
    """The kind of a JSON value, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return f"a {type(value).__name__}"
