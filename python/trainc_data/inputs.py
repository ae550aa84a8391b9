"""The rows of several inputs: one after another, or mixed by weights."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainc_data.chats import renamed
from trainc_data.errors import InputError, RowError, shown
from trainc_data.folders import files_of
from trainc_data.forms import Form
from trainc_data.readers import Row, Source, open_source, parse_row, rows_of

_MAX_WEIGHT = 1e9
_WEIGHT = re.compile(r"^(.+):([0-9]*\.?[0-9]+)$")
# A file whose first rows are all bad has no form.
_ROWS_FOR_FORM = 100

FindForm = Callable[[dict[str, Any], object], Form]


@dataclass
class Input:
    """Files that a user names together."""

    name: str
    sources: list[Source]
    weight: float | None = None
    rows_read: int = 0
    is_used_up: bool = False
    notes: list[str] = field(default_factory=list)


def open_inputs(names: list[str], split: str | None) -> list[Input]:
    """Opens `FILE`, `FOLDER` and `PATTERN`, each with `:WEIGHT` or without."""
    inputs = []
    for name in names:
        weight = None
        found = _WEIGHT.match(name)
        if found and not Path(name).exists():
            name, weight = found[1], float(found[2])
            if not 0 < weight <= _MAX_WEIGHT:
                raise InputError(f"{name}: expected a weight above 0 and at most {_MAX_WEIGHT:,.0f}, found {shown(found[2], 40)}")
        files, note = files_of(name, split)
        inputs.append(Input(name, [open_source(each) for each in files], weight, notes=[note] if note else []))
    without = [each.name for each in inputs if each.weight is None]
    if len(inputs) > len(without) > 0:
        raise InputError(f"{without[0]}: expected a weight, as another input has one: {without[0]}:0.5")
    return inputs


class RowReader:
    """Rows of inputs, each with the columns of its form."""

    def __init__(self, inputs: list[Input], find_form: FindForm, names: dict[str, str], seed: int) -> None:
        self.inputs, self._find_form, self._names, self._seed = inputs, find_form, names, seed
        self.said: list[str] = []  # what was found, for the user

    def bytes_read(self) -> int:
        return sum(source.bytes_read() for each in self.inputs for source in each.sources)

    def size(self) -> int:
        return sum(source.size for each in self.inputs for source in each.sources)

    def __iter__(self) -> Iterator[Row]:
        if self.inputs[0].weight is None:
            for each in self.inputs:
                yield from self._of_input(each)
            return
        draw = random.Random(self._seed)
        streams = [self._of_input(each) for each in self.inputs]
        weights = [each.weight or 0.0 for each in self.inputs]
        while True:
            row = next(draw.choices(streams, weights)[0], None)
            if row is None:
                return
            yield row

    def _of_input(self, each: Input) -> Iterator[Row]:
        for source in each.sources:
            for row in self._of_source(source):
                each.rows_read += 1
                yield row
        each.is_used_up = True

    def _of_source(self, source: Source) -> Iterator[Row]:
        rows = rows_of(source)
        first: list[Row] = []
        form, first_error = None, ""
        for row in rows:
            first.append(row)
            try:
                form = self._find_form(renamed(parse_row(row), self._names), row.place)
            except RowError as error:
                first_error = first_error or f"{row.place}: {error}"
                if len(first) < _ROWS_FOR_FORM:
                    continue
            break
        if form is None:
            raise InputError(first_error or f"{source.path}: expected rows, found none")
        self.said.append(f"{source.path}: {source.describe()}, rows of {form.name}")
        for stream in (iter(first), rows):
            for row in stream:
                row.columns = form.columns
                yield row


def chunks_of(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    """Lists of `size` rows; the last may be shorter."""
    chunk: list[Row] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
