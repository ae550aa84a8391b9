#!/usr/bin/env python3
"""Writes unicode_tables.inc: the ranges of code points whose general category is a letter (L*) or a number (N*).

The version of Unicode is that of Hugging Face's `tokenizers` (16.0.0), which Python's own unicodedata may not have:

    pip install unicodedata2==16.0.0
    runtime/data/tokenizer/make_unicode_tables.py
"""
import pathlib

import unicodedata2 as unicodedata

VERSION = "16.0.0"


def ranges(category: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for point in range(0x80, 0x110000):  # ASCII has a table of its own
        if unicodedata.category(chr(point))[0] != category:
            continue
        if found and found[-1][1] == point - 1:
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return found


def table(name: str, category: str) -> str:
    entries = [f"{{0x{first:X}, 0x{last:X}}}" for first, last in ranges(category)]
    lines = [", ".join(entries[i : i + 5]) for i in range(0, len(entries), 5)]
    return f"constexpr CodePointRange {name}[] = {{\n    " + ",\n    ".join(lines) + "};\n"


def main() -> None:
    assert unicodedata.unidata_version == VERSION, unicodedata.unidata_version
    text = f"// Unicode {VERSION}, without ASCII. Made by make_unicode_tables.py; do not edit.\n\n"
    text += table("kLetters", "L") + "\n" + table("kNumbers", "N")
    pathlib.Path(__file__).with_name("unicode_tables.inc").write_text(text)


if __name__ == "__main__":
    main()
