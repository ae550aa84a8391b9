"""The tokenizer of a Hugging Face folder: its tokens, special tokens and chat templates."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from trainc_data.errors import InputError, kind_of, shown
from trainc_data.template import ChatTemplate

_STANDARD = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def _json_of(path: Path) -> dict[str, Any]:
    """The object in a file; empty if there is no file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected an object, found {kind_of(value)}")
    return value


def _token_text(value: Any) -> str | None:
    """The text of a token: a string, or an object with its `content`."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else None


class TokenizerFolder:
    """A folder with tokenizer.json, and the files beside it."""

    def __init__(self, folder: Path, template_file: Path | None = None) -> None:
        self.path = folder / "tokenizer.json" if folder.is_dir() else folder
        self.folder = self.path.parent
        self._template_file = template_file
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            raise InputError(self._missing()) from None
        except OSError as error:
            raise InputError(f"{self.path}: {error}") from None
        self.checksum = hashlib.sha256(content).hexdigest()
        try:
            self.tokenizer: Tokenizer = Tokenizer.from_buffer(content)
        except Exception as error:  # the library raises Exception itself
            raise InputError(f"{self.path}: expected a tokenizer of Hugging Face's tokenizers: {error}") from None
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self._config = _json_of(self.folder / "tokenizer_config.json")
        self.special_tokens = self._find_special_tokens()

    def _missing(self) -> str:
        others = [each for each in ("tokenizer.model", "vocab.json", "spiece.model") if (self.folder / each).exists()]
        if others:
            return (f"{self.path}: is missing, and the folder has {others[0]}; write it with "
                    "transformers: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)")  # fmt: skip
        return f"{self.path}: expected the folder of a model with its tokenizer.json; a GGUF file becomes one by `trainc import`"

    def _find_special_tokens(self) -> dict[str, Any]:
        """Special tokens by name, as templates see them: `bos_token`, `eos_token` and those of the model."""
        tokens: dict[str, Any] = {}
        for config in (_json_of(self.folder / "special_tokens_map.json"), self._config):
            for key, value in config.items():
                if (key in _STANDARD or key.endswith("_token")) and (text := _token_text(value)) is not None:
                    tokens[key] = text
            extra = config.get("extra_special_tokens")
            if isinstance(extra, dict):
                tokens.update({key: text for key, value in extra.items() if (text := _token_text(value)) is not None})
        for config in (_json_of(self.folder / "generation_config.json"), _json_of(self.folder / "config.json")):
            for key in ("bos_token", "eos_token", "pad_token"):
                ids = config.get(key + "_id")
                number = ids[0] if isinstance(ids, list) and ids else ids
                if key not in tokens and isinstance(number, int) and (text := self.tokenizer.id_to_token(number)) is not None:
                    tokens[key] = text
        return tokens

    def id_of(self, name: str) -> int | None:
        """The id of a special token by its name, as "eos_token"."""
        token = self.special_tokens.get(name)
        return self.tokenizer.token_to_id(token) if isinstance(token, str) else None

    def padding(self) -> int:
        """The token of padding; its value trains nothing."""
        for name in ("pad_token", "eos_token"):
            if (number := self.id_of(name)) is not None:
                return number
        return 0

    def special_texts(self) -> list[str]:
        """Texts of the special tokens in the vocabulary."""
        return [token.content for token in self.tokenizer.get_added_tokens_decoder().values() if token.special]

    def templates(self) -> dict[str, tuple[str, str]]:
        """The text and the file of each chat template, by name. Files come before those in tokenizer_config.json."""
        if self._template_file is not None:
            return {"default": (self._read(self._template_file), str(self._template_file))}
        found: dict[str, tuple[str, str]] = {}
        if (path := self.folder / "chat_template.jinja").exists():
            found["default"] = (self._read(path), str(path))
        for path in sorted((self.folder / "additional_chat_templates").glob("*.jinja")):
            found[path.stem] = (self._read(path), str(path))
        if found:
            return self._with_default(found)
        for path, value in ((self.folder / "tokenizer_config.json", self._config.get("chat_template")),
                            (self.folder / "chat_template.json", _json_of(self.folder / "chat_template.json").get("chat_template"))):  # fmt: skip
            if value is not None:
                return self._with_default(self._named(path, value))
        raise InputError(f"{self.folder}: expected a chat template (chat_template.jinja, or 'chat_template' in tokenizer_config.json), found none; "
                         "a base model has none: take the folder of its instruct model, or give --chat-template=FILE.jinja")  # fmt: skip

    @staticmethod
    def _named(path: Path, value: Any) -> dict[str, tuple[str, str]]:
        if isinstance(value, str):
            return {"default": (value, f"{path}: chat_template")}
        named = {}
        for each in value if isinstance(value, list) else [None]:
            if not isinstance(each, dict) or not isinstance(each.get("name"), str) or not isinstance(each.get("template"), str):
                raise InputError(f"{path}: 'chat_template': expected a text, or a list of names and templates, found {shown(value)}")
            named[each["name"]] = (each["template"], f"{path}: chat_template {each['name']}")
        return named

    def _with_default(self, found: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
        if "default" not in found:
            raise InputError(f"{self.folder}: expected a chat template named 'default', found {', '.join(sorted(found))}; give --chat-template=FILE.jinja")
        return found

    @staticmethod
    def _read(path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: {error}") from None

    def compiled_templates(self) -> dict[str, ChatTemplate]:
        """The chat templates by name; one is named "default"."""
        return {name: ChatTemplate(text, file, self.special_tokens) for name, (text, file) in self.templates().items()}
