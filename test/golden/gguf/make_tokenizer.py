#!/usr/bin/env python3
"""Trains a small BPE with sentencepiece, and writes it as a GGUF file, and what sentencepiece makes of texts.

    pip install gguf==0.19.0 sentencepiece==0.2.3      # and the Debian package bible-kjv, for the training text
    test/golden/gguf/make_tokenizer.py

Writes, beside this script: sentencepiece.gguf, the tokenizer alone, laid out as llama.cpp's converter does; sentencepiece.json, which has
texts of ../tokenizer/goldens.json and their ids.
"""
import io
import json
import pathlib
import shutil
import subprocess

import gguf
import sentencepiece

HERE = pathlib.Path(__file__).parent
SEEDS = HERE.parents[1] / "fuzz" / "corpus" / "gguf"
# Other characters are left out, which the tests of ../tokenizer have.
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,;:!?'\"()-_<>|/=+*é你好😀Пё"


def train() -> sentencepiece.SentencePieceProcessor:
    text = subprocess.run(["bible", "-f", "Gen1:1-Gen20:18"], capture_output=True, text=True, check=True).stdout
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.splitlines()), model_writer=model, vocab_size=700, model_type="bpe", byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, user_defined_symbols=["<turn>"], minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def write(processor: sentencepiece.SentencePieceProcessor, path: pathlib.Path) -> None:
    types = gguf.TokenType
    tokens, scores, kinds = [], [], []
    for index in range(processor.get_piece_size()):
        tokens.append(processor.id_to_piece(index))
        scores.append(processor.get_score(index))
        kinds.append(
            types.UNKNOWN if processor.is_unknown(index) else types.CONTROL if processor.is_control(index)
            else types.BYTE if processor.is_byte(index) else types.USER_DEFINED if tokens[-1] == "<turn>" else types.NORMAL
        )
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(processor.bos_id())
    writer.add_eos_token_id(processor.eos_id())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def main() -> None:
    processor = train()
    write(processor, HERE / "sentencepiece.gguf")
    shutil.copy(HERE / "sentencepiece.gguf", SEEDS)
    texts = json.loads((HERE.parent / "tokenizer" / "goldens.json").read_text())["texts"]
    texts = [text for text in texts if text and all(character in PLAIN for character in text)]
    texts += ["In the beginning God created the heaven and the earth.", "  two  spaces ", "naïve 你好😀"]
    ids = [processor.encode(text) for text in texts]
    (HERE / "sentencepiece.json").write_text(json.dumps({"texts": texts, "ids": ids}, ensure_ascii=False))
    print(processor.get_piece_size(), len(texts))


if __name__ == "__main__":
    main()
