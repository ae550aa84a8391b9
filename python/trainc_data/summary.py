"""Counts of rows and tokens, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Summary:
    """Counts of one output file."""

    noun: str  # of a row's content, as "chats"
    rows_read: int = 0
    kept: int = 0
    tokens: int = 0
    trained_tokens: int = 0
    longest: int = 0
    truncated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    rows_written: int = 0
    row_length: int = 0
    seconds: float = 0.0

    def take(self, counts: Any) -> None:
        """Adds the counts of a chunk."""
        self.kept += counts.kept
        self.tokens += counts.tokens
        self.trained_tokens += counts.trained_tokens
        self.longest = max(self.longest, counts.longest)
        self.truncated += counts.truncated
        self.dropped.update(counts.dropped)

    def used_share(self) -> float:
        """Share of the written positions that hold tokens."""
        return self.tokens / max(self.rows_written * self.row_length, 1)

    def trained_share(self) -> float:
        return self.trained_tokens / max(self.tokens, 1)

    def lines(self, output: str) -> list[str]:
        """The summary as text."""
        lines = [
            f"wrote {output}: {self.rows_written:,} rows of {self.row_length:,} tokens from {self.kept:,} of {self.rows_read:,} {self.noun}",
            f"  tokens      {self.tokens:,}, {self.used_share():.1%} of all positions; longest of the {self.noun} {self.longest:,}",
            f"  trained on  {self.trained_tokens:,}, {self.trained_share():.1%} of the tokens",
        ]
        if self.truncated:
            lines.append(f"  truncated   {self.truncated:,}")
        lines += [f"  dropped     {count:,}: {reason}" for reason, count in self.dropped.most_common()]
        lines.append(f"  time        {self.seconds:.1f} s, {self.tokens / max(self.seconds, 1e-9):,.0f} tokens/s")
        return lines

    def json(self, output: str) -> dict[str, Any]:
        """The summary as a dictionary."""
        return {"output": output, "rows_read": self.rows_read, "kept": self.kept, "tokens": self.tokens, "trained_tokens": self.trained_tokens,
                "trained_share": self.trained_share(), "longest": self.longest, "truncated": self.truncated, "dropped": dict(self.dropped),
                "rows_written": self.rows_written, "row_length": self.row_length, "used_share": self.used_share(), "seconds": self.seconds}  # fmt: skip
