"""Settings of conversions, as the command line gives them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TRAIN_ON = ("assistant", "all", "last")


@dataclass(frozen=True)
class Conversion:
    """Settings that all tasks have."""

    names: list[str]
    output: Path
    split: str | None
    columns: dict[str, str]  # new name of a column -> old name
    seed: int
    skip_bad: bool
    workers: int
    show: int
    json: bool
    quiet: bool


@dataclass(frozen=True)
class Lengths:
    """Lengths of rows and of texts, in tokens."""

    row: int
    is_packed: bool
    max_text: int
    truncate: bool


@dataclass(frozen=True)
class ChatSettings:
    """Settings that workers need."""

    folder: Path
    template_file: Path | None
    train_on: str
    renamed: dict[str, str]  # new name of a column -> old name
