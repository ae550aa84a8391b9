#!/usr/bin/env python3
"""Writes chat/goldens.json: the chats of chat/chats.json as transformers' `apply_chat_template` renders and tokenizes them with each template of
chat/templates, and the mask of the assistant's tokens. Also writes the two small tokenizers, if they are missing.

  make_chat_goldens.py        needs transformers 5.24 and tokenizers

The templates are written for this test, in the style of the families that name them. test/python compares trainc_data with the numbers and
needs no transformers.
"""

import hashlib
import itertools
import json
from datetime import datetime
from pathlib import Path
from unittest import mock

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

FOLDER = Path(__file__).resolve().parent / "chat"
NOW = datetime(2026, 12, 1, 12, 0)
SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<start_of_turn>", "<end_of_turn>",
           "[INST]", "[/INST]", "<|user|>", "<|assistant|>", "<|end|>", "<｜User｜>", "<｜Assistant｜>", "<|END_OF_TURN_TOKEN|>", "<|end_of_text|>"]


def training_text():
    return [path.read_text() for path in sorted((FOLDER / "templates").iterdir())] + [(FOLDER / "chats.json").read_text()]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(training_text(), trainers.BpeTrainer(vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                                                       special_tokens=SPECIAL, show_progress=False))
    return tokenizer


def metaspace():
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(training_text(), trainers.BpeTrainer(vocab_size=700, special_tokens=SPECIAL + pieces, limit_alphabet=90,
                                                                       show_progress=False))
    # The pieces of bytes are tokens of the model alone.
    parts = json.loads(tokenizer.to_str())
    parts["added_tokens"] = [each for each in parts["added_tokens"] if each["content"] in SPECIAL]
    return Tokenizer.from_str(json.dumps(parts))


def write_tokenizer(name, make):
    folder = FOLDER / name
    if (folder / "tokenizer.json").exists():
        return
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(json.loads(make().to_str()), ensure_ascii=False, separators=(",", ":")))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": {"__type": "AddedToken", "content": "</s>", "special": True},
              "clean_up_tokenization_spaces": False, "model_max_length": 4096}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


def runs(mask):
    """[begin, end) of the runs of 1."""
    result, at = [], 0
    for value, run in itertools.groupby(mask):
        size = sum(1 for _ in run)
        if value:
            result.append([at, at + size])
        at += size
    return result


def golden(tokenizers, template, chat):
    """The text, and for each tokenizer the tokens' checksum and the mask; or the error's text."""
    arguments = {"tools": chat.get("tools"), "documents": chat.get("documents"), "chat_template": template, **chat.get("chat_template_kwargs", {})}
    marks = "generation" in template and "endgeneration" in template
    try:
        result = {"text": next(iter(tokenizers.values())).apply_chat_template(chat["messages"], tokenize=False, **arguments)}
    except Exception as error:  # of any kind: that of the template's code
        return {"error": str(error)}
    for name, tokenizer in tokenizers.items():
        out = tokenizer.apply_chat_template(chat["messages"], tokenize=True, return_dict=True, return_assistant_tokens_mask=marks, **arguments)
        ids = out["input_ids"]
        result[name] = {"count": len(ids), "sha256": hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:16]}
        if marks:
            result[name]["trained"] = runs(out["assistant_masks"])
    return result


def main():
    write_tokenizer("byte_level", byte_level)
    write_tokenizer("metaspace", metaspace)
    tokenizers = {name: PreTrainedTokenizerFast.from_pretrained(FOLDER / name) for name in ("byte_level", "metaspace")}
    chats = json.loads((FOLDER / "chats.json").read_text())
    goldens = {}
    with mock.patch("transformers.utils.chat_template_utils.datetime") as clock:
        clock.now.return_value = NOW
        for path in sorted((FOLDER / "templates").iterdir()):
            template = path.read_text()
            goldens[path.stem] = {name: golden(tokenizers, template, chat) for name, chat in chats.items()}
    (FOLDER / "goldens.json").write_text(json.dumps(goldens, indent=1, ensure_ascii=False) + "\n")
    cases = [case for each in goldens.values() for case in each.values()]
    print(f"{len(goldens)} templates, {len(cases)} cases, {sum('error' in case for case in cases)} errors")


if __name__ == "__main__":
    main()
