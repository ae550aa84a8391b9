"""Chats from the forms that rows have: messages, ShareGPT, Alpaca, prompts with completions, and texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from trainc_data.errors import InputError, RowError, kind_of, shown

Message = dict[str, Any]

# Roles of ShareGPT, in the words of chat templates.
_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
          "assistant": "assistant", "model": "assistant", "system": "system", "tool": "tool", "observation": "tool",
          "function_response": "tool", "function_call": "assistant", "developer": "developer"}  # fmt: skip


@dataclass
class Chat:
    """Messages and what their template is given beside them, or a text that is rendered already."""

    messages: list[Message] = field(default_factory=list)
    tools: list[Any] | None = None
    documents: list[Any] | None = None
    variables: dict[str, Any] = field(default_factory=dict)  # of the template
    text: str | None = None


@dataclass(frozen=True)
class Form:
    """A form of rows: the columns that it needs, and how to read a row."""

    name: str
    columns: tuple[str, ...]
    read: Callable[[dict[str, Any]], Chat]


def _field(row: dict[str, Any], key: str, kind: type, word: str) -> Any:
    value = row.get(key)
    if not isinstance(value, kind):
        raise RowError(f"'{key}': expected {word}, found {kind_of(value) if key in row else 'nothing'}"
                       + (f": {shown(value)}" if value is not None else ""))  # fmt: skip
    return value


def _string(row: dict[str, Any], key: str) -> str:
    return str(_field(row, key, str, "a string"))


def list_or_json(value: Any, key: str) -> list[Any] | None:
    """A list, which CSV and Arrow files often hold as JSON in a string."""
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise RowError(f"'{key}': expected a list, found a string that is no JSON: {error}") from None
    if value is None:
        return None
    if not isinstance(value, list):
        raise RowError(f"'{key}': expected a list, found {kind_of(value)}: {shown(value)}")
    return value or None


def _message(value: Any, key: str, index: int) -> Message:
    if not isinstance(value, dict):
        raise RowError(f"'{key}[{index}]': expected a message with a role and a content, found {kind_of(value)}: {shown(value)}")
    message = {name: each for name, each in value.items() if each is not None}
    if "role" not in message and "from" in message:
        role, content = message["from"], message.get("value")
        if not isinstance(role, str) or role.lower() not in _ROLES:
            raise RowError(f"'{key}[{index}].from': expected one of {', '.join(sorted(_ROLES))}, found {shown(role)}")
        if not isinstance(content, str):
            raise RowError(f"'{key}[{index}].value': expected a string, found {kind_of(content)}: {shown(content)}")
        return {"role": _ROLES[role.lower()], "content": content}
    if not isinstance(message.get("role"), str):
        raise RowError(f"'{key}[{index}].role': expected a string, found {kind_of(message.get('role'))}")
    content = message.get("content")
    if content is None and not message.get("tool_calls"):
        raise RowError(f"'{key}[{index}].content': expected a string, found nothing")
    if content is not None and not isinstance(content, str | list):
        raise RowError(f"'{key}[{index}].content': expected a string, found {kind_of(content)}: {shown(content)}")
    if "tool_calls" in message:
        message["tool_calls"] = list_or_json(message["tool_calls"], f"{key}[{index}].tool_calls")
        if message["tool_calls"] is None:
            del message["tool_calls"]
    return message


def _messages(row: dict[str, Any], key: str) -> list[Message]:
    values = list_or_json(row.get(key), key)
    if not values:
        raise RowError(f"'{key}': expected a list of messages, found {'an empty list' if row.get(key) == [] else kind_of(row.get(key))}")
    return [_message(value, key, index) for index, value in enumerate(values)]


def beside(row: dict[str, Any]) -> dict[str, Any]:
    """The arguments of Chat that a template is given beside messages."""
    variables = row.get("chat_template_kwargs")
    if isinstance(variables, str):
        try:
            variables = json.loads(variables) if variables.strip() else None
        except (ValueError, RecursionError) as error:
            raise RowError(f"'chat_template_kwargs': expected an object, found a string that is no JSON: {error}") from None
    if variables is not None and not isinstance(variables, dict):
        raise RowError(f"'chat_template_kwargs': expected an object, found {kind_of(variables)}: {shown(variables)}")
    return {"tools": list_or_json(row.get("tools"), "tools"),
            "documents": list_or_json(row.get("documents"), "documents"),
            "variables": variables or {}}  # fmt: skip


def with_system(row: dict[str, Any], messages: list[Message]) -> list[Message]:
    """The messages after the system's, whose text is the column `system`. Fails if they begin with another text of the system."""
    system = row.get("system")
    if system is None or system == "":
        return messages
    if not isinstance(system, str):
        raise RowError(f"'system': expected a string, found {kind_of(system)}: {shown(system)}")
    if messages[0]["role"] != "system":
        return [{"role": "system", "content": system}, *messages]
    if (first := messages[0].get("content")) != system:
        raise RowError(f"'system': expected the text of the first message {shown(first)}, found {shown(system)}; leave out one of them")
    return messages


def _chat_of(key: str) -> Callable[[dict[str, Any]], Chat]:
    def read(row: dict[str, Any]) -> Chat:
        return Chat(with_system(row, _messages(row, key)), **beside(row))

    return read


def _alpaca(row: dict[str, Any]) -> Chat:
    instruction, output = _string(row, "instruction"), _string(row, "output")
    more = row.get("input")
    if more is not None and not isinstance(more, str):
        raise RowError(f"'input': expected a string, found {kind_of(more)}: {shown(more)}")
    user = f"{instruction}\n\n{more}" if more else instruction
    messages = [{"role": "user", "content": user}, {"role": "assistant", "content": output}]
    return Chat(with_system(row, messages), **beside(row))


def _is_list_of_messages(value: Any) -> bool:
    """Whether a value is a list, or JSON of a list of messages in a string, as a field of CSV."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
        return isinstance(value, list) and bool(value) and all(isinstance(each, dict) and "role" in each for each in value)
    return isinstance(value, list)


def turns_of(row: dict[str, Any], key: str, role: str) -> list[Message]:
    """The messages under a key, or one message of `role` with the string under it."""
    if _is_list_of_messages(row.get(key)):
        return _messages(row, key)
    return [{"role": role, "content": _string(row, key)}]


def _completion(key: str) -> Callable[[dict[str, Any]], Chat]:
    def read(row: dict[str, Any]) -> Chat:
        messages = [*turns_of(row, "prompt", "user"), *turns_of(row, key, "assistant")]
        return Chat(with_system(row, messages), **beside(row))

    return read


FORMS = (
    Form("messages", ("messages",), _chat_of("messages")),
    Form("ShareGPT", ("conversations",), _chat_of("conversations")),
    Form("ShareGPT", ("conversation",), _chat_of("conversation")),
    Form("Alpaca", ("instruction", "output"), _alpaca),
    Form("prompt and completion", ("prompt", "completion"), _completion("completion")),
    Form("prompt and response", ("prompt", "response"), _completion("response")),
    Form("text", ("text",), lambda row: Chat(text=_string(row, "text"))),
)


def form_of(row: dict[str, Any], place: object) -> Form:
    """The form of a file's rows, which its first row shows."""
    for form in FORMS:
        if all(row.get(column) is not None for column in form.columns):
            return form
    known = "; ".join(" and ".join(f"'{column}'" for column in form.columns) for form in FORMS)
    raise InputError(f"{place}: expected the columns of a chat ({known}), found {shown(sorted(map(str, row)), 200)}; rename columns with --column NEW=OLD")


def form_named(columns: tuple[str, ...]) -> Form:
    return next(form for form in FORMS if form.columns == columns)
