#!/usr/bin/env python3
"""Asks Hugging Face's tokenizers for its classes of characters, and writes runtime/data/tokenizer/unicode_classes.cpp.

    pip install tokenizers==0.23.3
    test/golden/tokenizer/make_unicode_classes.py && clang-format-22 -i runtime/data/tokenizer/unicode_classes.cpp
"""
import pathlib

from tokenizers import normalizers, pre_tokenizers

OUTPUT = pathlib.Path(__file__).parents[3] / "runtime/data/tokenizer/unicode_classes.cpp"

HEAD = """// Written by test/golden/tokenizer/make_unicode_classes.py: the classes of Hugging Face's tokenizers, which are those of Unicode 8.
#include "runtime/data/tokenizer/unicode_classes.h"

namespace trainc {
"""


def ranges(is_member) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for point in range(0x110000):
        if 0xD800 <= point < 0xE000 or not is_member(chr(point)):
            continue
        if found and found[-1][1] == point - 1:
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return found


def table(name: str, is_member) -> str:
    rows = ", ".join(f"{{{first:#x}, {last:#x}}}" for first, last in ranges(is_member))
    return f"\nstatic constexpr CharacterRange {name}[] = {{{rows}}};\n"


def main() -> None:
    splitter, stripper = pre_tokenizers.Punctuation("removed"), normalizers.StripAccents()
    punctuation = table("kPunctuation", lambda character: len(splitter.pre_tokenize_str("a" + character + "b")) == 2)
    marks = table("kMarks", lambda character: stripper.normalize_str("a" + character + "b") == "ab")
    bert = {name: False for name in ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")}
    strip, clean, han = (normalizers.BertNormalizer(**{**bert, name: True}) for name in ("strip_accents", "clean_text", "handle_chinese_chars"))
    nonspacing = table("kNonspacingMarks", lambda character: strip.normalize_str("a" + character + "b") == "ab")
    other = table("kOther", lambda character: clean.normalize_str("a" + character + "b") == "ab")
    chinese = table("kHan", lambda character: han.normalize_str(character) == f" {character} ")
    functions = """
std::span<const CharacterRange> punctuationRanges() { return kPunctuation; }

std::span<const CharacterRange> markRanges() { return kMarks; }

std::span<const CharacterRange> nonspacingMarkRanges() { return kNonspacingMarks; }

std::span<const CharacterRange> otherRanges() { return kOther; }

std::span<const CharacterRange> hanRanges() { return kHan; }

} // namespace trainc
"""
    OUTPUT.write_text(HEAD + punctuation + marks + nonspacing + other + chinese + functions)


if __name__ == "__main__":
    main()
