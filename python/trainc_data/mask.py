"""The part of a rendered chat on which a model is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
from tokenizers import Encoding

from trainc_data.errors import RowError
from trainc_data.forms import Chat, Message
from trainc_data.template import ChatTemplate, Span

Mask = np.ndarray[Any, np.dtype[np.bool_]]


def spans_of(
    template: ChatTemplate, chat: Chat, messages: list[Message], train_on: str, special: list[str]
) -> tuple[str, list[Span] | None]:
    """The rendered chat, and the spans of characters that are trained on; None: all."""
    text, marked = template.render(chat, messages)
    if train_on == "all":
        return text, None
    if template.marks_generation:
        return text, marked[-1:] if train_on == "last" else marked
    turns = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    if train_on == "last":
        turns = turns[-1:]
    return text, [_without_space(text, _turn(template, chat, messages, text, turn, special), special) for turn in turns]


def _turn(template: ChatTemplate, chat: Chat, messages: list[Message], text: str, turn: int, special: list[str]) -> Span:
    """The span of one turn.

    It begins where a rendering of the messages before it, with the prompt for an answer, ends. It ends where a rendering up to the turn
    ends; or, if that is no prefix, where what follows begins in a rendering without the turn.
    """
    if turn == 0:
        raise RowError("expected a message before the assistant's first one, whose beginning is else not known")
    prompt = template.render(chat, messages[:turn], add_generation_prompt=True)[0]
    begin = len(prompt)
    if not text.startswith(prompt):
        before = template.render(chat, messages[:turn])[0]
        begin = _common(text, prompt)
        if begin < len(before) or not text.startswith(before):
            raise _no_prefix(template, turn)
    if turn + 1 == len(messages):
        return begin, len(text)
    upto = template.render(chat, messages[: turn + 1])[0]
    if text.startswith(upto) and len(upto) >= begin:
        return begin, len(upto)
    end = _end_by_leaving_out(template, chat, messages, text, turn, special)
    if end is not None and end >= begin:
        return begin, end
    raise _no_prefix(template, turn)


def _common(a: str, b: str) -> int:
    """Number of characters with which both texts begin."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _no_prefix(template: ChatTemplate, turn: int) -> RowError:
    return RowError(
        f"the chat template {template.name} renders the messages up to number {turn + 1} differently if more follow, so "
        "the assistant's part is not known; put {% generation %} and {% endgeneration %} around it in a copy of the "
        "template (--chat-template=FILE), or give --train-on=last or --train-on=all"
    )


def _end_by_leaving_out(
    template: ChatTemplate, chat: Chat, messages: list[Message], text: str, turn: int, special: list[str]
) -> int | None:
    """The end of a turn: what follows the messages before it in a rendering without it is the end of `text`. None if that does not hold."""
    before = template.render(chat, messages[:turn])[0]
    try:
        without = template.render(chat, messages[:turn] + messages[turn + 1 :])[0]
    except RowError:
        return None
    at = _token_begin(without, _common(before, without), special)
    # A template may end each text with a special token.
    if before[at:].strip() not in ("", *special) or before[:at] != text[:at] or not text.endswith(without[at:]):
        return None
    return len(text) - (len(without) - at)


def _token_begin(text: str, at: int, special: list[str]) -> int:
    """The begin of the special token that `at` is in, or `at`."""
    for token in special:
        begin = text.rfind(token, max(at - len(token) + 1, 0), at + len(token) - 1)
        if begin != -1 and begin < at < begin + len(token):
            return begin
    return at


def _without_space(text: str, span: Span, special: list[str]) -> Span:
    """The span without white space after a special token, which ends the turn."""
    begin, end = span
    inner = text[begin:end].rstrip()
    return (begin, begin + len(inner)) if inner.endswith(tuple(special)) else span


def token_mask(encoding: Encoding, spans: list[Span] | None) -> Mask:
    """Whether each token overlaps a span: the rule of transformers' `return_assistant_tokens_mask`."""
    count = len(encoding)
    if spans is None:
        return np.ones(count, dtype=np.bool_)
    mask = np.zeros(count, dtype=np.bool_)
    for begin, end in spans:
        if begin >= end:
            continue
        first, last = encoding.char_to_token(begin), encoding.char_to_token(end - 1)
        if first is None or last is None:  # a character that is in no token
            offsets = np.array(encoding.offsets, dtype=np.int64).reshape(count, 2)
            mask |= (offsets[:, 0] < end) & (offsets[:, 1] > begin)
            continue
        while last + 1 < count and (next_ := encoding.token_to_chars(last + 1)) and next_[0] < end:
            last += 1  # the bytes of a character may be several tokens
        mask[first : last + 1] = True
    return mask
