"""Chat templates: rendered as `apply_chat_template` of transformers renders them, in a sandbox and with limits."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import FrameType
from typing import Any

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from trainc_data.errors import InputError, RowError, shown
from trainc_data.forms import Chat, Message

SECONDS_PER_CHAT = 10.0
MAX_CHARACTERS = 64 << 20
_GENERATION = re.compile(r"\{%-?\s*generation\s*-?%\}")
_REASONING = ("reasoning_content", "thinking", "reasoning")

Span = tuple[int, int]


class TimeLimit(Exception):
    """A template ran for too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimit in the body after `seconds`. For the main thread of a process."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimit

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


class _Tracker:
    """Spans of `{% generation %}` blocks in the text that is being rendered."""

    def __init__(self) -> None:
        self.length = 0
        self.spans: list[Span] = []


class _Generation(jinja2.ext.Extension):
    """The block `{% generation %}`: what the assistant writes."""

    tags = {"generation"}  # noqa: RUF012

    def __init__(self, environment: jinja2.Environment) -> None:
        super().__init__(environment)
        self.tracker: _Tracker | None = None
        environment.extend(generation=self)

    def parse(self, parser: Any) -> Any:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_note"), [], [], body).set_lineno(line)

    def _note(self, caller: Any) -> str:
        text = str(caller())
        if self.tracker is not None:
            self.tracker.spans.append((self.tracker.length, self.tracker.length + len(text)))
        return text


class _Namespace(jinja2.utils.Namespace):
    """A namespace without names that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, values = args[0], dict(*args[1:], **kwargs)
        for name in values:
            _check_name(name)
        jinja2.utils.Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace has no attribute {name!r}")


class _Dict:
    """The function `dict`, without the attributes of the class."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args, **kwargs)


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox in which products and powers have a limit."""

    intercepted_binops = frozenset(["*", "**"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" and isinstance(left, int) and isinstance(right, int) and right > 0:
            size = left.bit_length() * right // 8
        elif operator == "*":
            size = max((len(a) * b for a, b in ((left, right), (right, left))
                        if isinstance(b, int) and isinstance(a, str | list | tuple)), default=0)  # fmt: skip
        else:
            size = 0
        if size > MAX_CHARACTERS:
            raise jinja2.exceptions.SecurityError(f"{shown(left, 20)} {operator} {shown(right, 20)} is too large")
        return super().call_binop(context, operator, left, right)


def _raise(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)


def _to_json(value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _environment() -> _Sandbox:
    sandbox = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols])
    sandbox.filters["tojson"] = _to_json
    sandbox.globals.update(raise_exception=_raise, strftime_now=_now, dict=_Dict(), namespace=_Namespace)
    return sandbox


class ChatTemplate:
    """One template, and the special tokens that it may name."""

    def __init__(self, text: str, name: str, special_tokens: dict[str, Any]) -> None:
        self.name = name
        self.marks_generation = bool(_GENERATION.search(text))
        self._special_tokens = special_tokens
        self._environment = _environment()
        try:
            with time_limit(SECONDS_PER_CHAT):
                self._template = self._environment.from_string(text)
        except jinja2.TemplateSyntaxError as error:
            raise InputError(f"{name}:{error.lineno}: expected a Jinja template: {error.message}") from None
        except (TimeLimit, RecursionError, MemoryError):
            raise InputError(f"{name}: expected a Jinja template that compiles within {SECONDS_PER_CHAT:g} s") from None

    def render(self, chat: Chat, messages: list[Message], add_generation_prompt: bool = False) -> tuple[str, list[Span]]:
        """The text of `messages`, and the spans that the template marks as the assistant's. The caller limits the time."""
        tracker = _Tracker()
        self._environment.generation.tracker = tracker  # type: ignore[attr-defined]
        variables = {**self._special_tokens, **chat.variables, "messages": messages, "tools": chat.tools,
                     "documents": chat.documents, "add_generation_prompt": add_generation_prompt}  # fmt: skip
        blocks: list[str] = []
        try:
            for block in self._template.generate(variables):
                blocks.append(block)
                tracker.length += len(block)
                if tracker.length > MAX_CHARACTERS:
                    raise RowError(f"the chat template {self.name} writes more than {MAX_CHARACTERS >> 20} Mi characters")
        except (TimeLimit, RowError):
            raise
        except MemoryError:
            raise RowError(f"the chat template {self.name} needs too much memory") from None
        except Exception as error:  # of the template's code, which is not ours
            raise RowError(f"the chat template {self.name} fails: {error or type(error).__name__}") from None
        return "".join(blocks), tracker.spans


def prepared(messages: list[Message]) -> list[Message]:
    """Messages as templates get them: reasoning has all of its names."""
    result = []
    for message in messages:
        reasoning = next((message[key] for key in _REASONING if message.get(key) is not None), None)
        if reasoning is not None:
            message = {"thinking": reasoning, **message, "reasoning_content": reasoning}
        result.append(message)
    return result
