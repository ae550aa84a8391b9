"""Rows of one length from sequences of many: several in each row, or one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trainc_data.chats import Ids
from trainc_data.mask import Mask

IGNORED = -100  # a label that the loss ignores

Columns = dict[str, np.ndarray[Any, Any]]
Sequence = tuple[Ids, Mask]


def labels_of(ids: Ids, mask: Mask) -> Ids:
    """The next token at each position, or IGNORED where it is not trained on."""
    labels = np.full(len(ids), IGNORED, dtype=np.int32)
    labels[:-1] = np.where(mask[1:], ids[1:], IGNORED)
    return labels


class Bins:
    """Open bins by the space that is left in them."""

    def __init__(self, size: int) -> None:
        self._by_space: list[list[list[Sequence]]] = [[] for _ in range(size + 1)]
        self._present = 0  # bit s: there is a bin with s positions left
        self._size = size
        self.count = 0

    def add(self, sequence: Sequence) -> None:
        """Adds to the bin in which the least space is left, or to a new one."""
        length = len(sequence[0])
        fitting = self._present >> length
        if fitting:
            space = length + (fitting & -fitting).bit_length() - 1
            bin_ = self._take(space)
        else:
            space, bin_ = self._size, []
        bin_.append(sequence)
        self._put(space - length, bin_)

    def _take(self, space: int) -> list[Sequence]:
        bins = self._by_space[space]
        bin_ = bins.pop()
        self.count -= 1
        if not bins:
            self._present &= ~(1 << space)
        return bin_

    def _put(self, space: int, bin_: list[Sequence]) -> None:
        self._by_space[space].append(bin_)
        self._present |= 1 << space
        self.count += 1

    def take_fullest(self, keep: int) -> list[list[Sequence]]:
        """Removes all but the `keep` emptiest bins."""
        taken = []
        while self.count > keep:
            taken.append(self._take((self._present & -self._present).bit_length() - 1))
        return taken


class Packer:
    """Packs sequences into rows: best fit, the longest of a window first. No sequence is cut."""

    COLUMNS = ("tokens", "labels", "segments", "positions")

    def __init__(self, length: int, padding: int, window_tokens: int = 1 << 20) -> None:
        self.length, self._padding = length, padding
        self._window_tokens = max(window_tokens, 16 * length)
        self._keep = self._window_tokens // length // 16
        self._bins = Bins(length)
        self._window: list[Sequence] = []
        self._tokens = 0

    def add(self, sequence: Sequence) -> Iterator[Columns]:
        """Takes a sequence of at most `length` tokens. Gives rows when a window is full."""
        self._window.append(sequence)
        self._tokens += len(sequence[0])
        if self._tokens >= self._window_tokens:
            yield self._flush(self._keep)

    def finish(self) -> Iterator[Columns]:
        """The rows that are left."""
        if self._window or self._bins.count:
            yield self._flush(0)

    def _flush(self, keep: int) -> Columns:
        for sequence in sorted(self._window, key=lambda each: len(each[0]), reverse=True):
            self._bins.add(sequence)
        self._window, self._tokens = [], 0
        return self._rows(self._bins.take_fullest(keep))

    def _rows(self, bins: list[list[Sequence]]) -> Columns:
        shape = len(bins), self.length
        tokens = np.full(shape, self._padding, dtype=np.int32)
        labels = np.full(shape, IGNORED, dtype=np.int32)
        segments, positions = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        count = np.arange(self.length, dtype=np.int32)
        for row, sequences in enumerate(bins):
            begin = 0
            for number, (ids, mask) in enumerate(sequences, start=1):
                at = slice(begin, begin + len(ids))
                tokens[row, at], labels[row, at] = ids, labels_of(ids, mask)
                segments[row, at], positions[row, at] = number, count[: len(ids)]
                begin += len(ids)
        return {"tokens": tokens, "labels": labels, "segments": segments, "positions": positions}


class Padder:
    """One sequence in each row, and padding after it."""

    COLUMNS = ("tokens", "labels")

    def __init__(self, length: int, padding: int) -> None:
        self.length, self._padding = length, padding
        self._window: list[Sequence] = []

    def add(self, sequence: Sequence) -> Iterator[Columns]:
        """Takes a sequence of at most `length` tokens. Gives rows when there are many."""
        self._window.append(sequence)
        if len(self._window) >= 1024:
            yield from self.finish()

    def finish(self) -> Iterator[Columns]:
        """The rows that are left."""
        if not self._window:
            return
        shape = len(self._window), self.length
        tokens = np.full(shape, self._padding, dtype=np.int32)
        labels = np.full(shape, IGNORED, dtype=np.int32)
        for row, (ids, mask) in enumerate(self._window):
            tokens[row, : len(ids)], labels[row, : len(ids)] = ids, labels_of(ids, mask)
        self._window = []
        yield {"tokens": tokens, "labels": labels}
