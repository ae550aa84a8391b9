#!/usr/bin/env python3
"""Trains small tokenizers and writes what Hugging Face's tokenizers make of real and hostile text with them.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 protobuf          # and the Debian package bible-kjv, for the training text
    test/golden/tokenizer/make_goldens.py

Writes, beside this script: tokenizer.json, byte-level as GPT-2's; vocab.json and merges.txt, the same model without added tokens;
characters.json, with byte fallback as Llama 2's; word_piece.json, as BERT's, and its vocabulary in vocab.txt; unigram.json, as XLM-R's; goldens.json, which has texts, variants of both as JSON merge patches, and for each
variant the ids of the first texts and what they decode to; splits.json, which has what patterns make of texts.
"""
import base64
import copy
import json
import pathlib
import random
import subprocess
import tempfile
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, BertWordPieceTokenizer, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
MERGES = 2000
META = "\u2581"
END = "<|endoftext|>"

WORLD = """Straße, Übergröße, naïve café, ça va, señor, größer als 1000 km². Füße auf dem Boden.
Привет, мир! Это небольшой текст. Добро пожаловать, друзья. Γειά σου Κόσμε, τι κάνεις σήμερα;
你好，世界。今天的天气很好，我们去公园吧。これは日本語の文章です。東京と大阪。안녕하세요 세계, 반갑습니다.
नमस्ते दुनिया, यह हिन्दी है। مرحبا بالعالم، هذا نص عربي. שלום עולם, זה טקסט בעברית. 😀😀 👍🏽 👨‍👩‍👧‍👦 🇩🇪 ❤️
def f(x):\n    return x + 1\n\n\tif (a == b) { c[i] += 0x1F; }\n    # it's what they'd do; we'll see, I'm sure you've
"""

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def bible(verses: str) -> str:
    return subprocess.run(["bible", "-f", verses], capture_output=True, text=True, check=True).stdout


def train() -> dict:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=257 + MERGES, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([bible("Gen1:1-Gen50:26"), bible("Mat1:1-Mat28:20")] + [WORLD] * 8, trainer)
    return json.loads(tokenizer.to_str())


def with_added_tokens(description: dict) -> dict:
    vocabulary = description["model"]["vocab"]
    for word in ("Ġunreachable", "zyzzyva", "Ġ<<=>>"):  # no merges lead to these: for ignore_merges
        vocabulary[word] = len(vocabulary)
    tokenizer = Tokenizer.from_str(json.dumps(description))
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in ("<|im_start|>", "<|end|>", "<|end")])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.add_special_tokens([AddedToken("[PAD]", rstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("Nebuchadnezzar", normalized=True), AddedToken("§end|§", normalized=True)])
    return json.loads(tokenizer.to_str())


def train_characters() -> dict:
    """Like sentencepiece's BPE with byte fallback: spaces are U+2581, which no token has after another character."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    # The trainer would choose others each time among characters that are equally rare.
    alphabet = [token for token in json.loads((HERE / "characters.json").read_text())["model"]["vocab"] if len(token) == 1]
    trainer = trainers.BpeTrainer(vocab_size=1200, special_tokens=special, limit_alphabet=150, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([bible("Gen1:1-Gen50:26"), bible("Mat1:1-Mat28:20")] + [WORLD] * 2, trainer)
    description = json.loads(tokenizer.to_str())
    # Bytes are no added tokens in such files.
    description["added_tokens"] = [token for token in description["added_tokens"] if not token["content"].startswith("<0x")]
    vocabulary, merges = description["model"]["vocab"], description["model"]["merges"]
    for length in (2, 4, 8):  # runs of spaces are tokens
        vocabulary[META * length] = len(vocabulary)
        merges.append([META * (length // 2), META * (length // 2)])
    vocabulary[META + "unreachable"] = len(vocabulary)
    description["normalizer"] = {
        "type": "Sequence",
        "normalizers": [{"type": "Prepend", "prepend": META}, {"type": "Replace", "pattern": {"String": " "}, "content": META}],
    }
    description["pre_tokenizer"] = None
    description["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": META}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }
    tokenizer = Tokenizer.from_str(json.dumps(description))
    tokenizer.add_special_tokens([AddedToken("<|end|>", normalized=False), AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("Nebuchadnezzar", normalized=True), AddedToken("word", single_word=True, normalized=False)])
    return json.loads(tokenizer.to_str())


def train_word_piece() -> dict:
    """Like BERT's, for lower case. Its settings of the normalizer are written out, so that variants can change them."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    path = HERE / "word_piece.json"
    if path.exists():  # the trainer would number the tokens differently each time
        vocabulary = json.loads(path.read_text())["model"]["vocab"]
    else:
        trainer = trainers.WordPieceTrainer(vocab_size=1500, special_tokens=special, show_progress=False)
        tokenizer.train_from_iterator([bible("Gen1:1-Gen50:26"), bible("Mat1:1-Mat28:20")] + [WORLD] * 2, trainer)
        vocabulary = tokenizer.get_vocab()
        for word in ("Straße", "É", "##É", "I", "##m", "##zz", "nebuchadnezzar", "don", "##'t"):
            vocabulary.setdefault(word, len(vocabulary))
    tokenizer.model = models.WordPiece(vocabulary, unk_token="[UNK]")
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True, normalized=False), AddedToken("Nebuchadnezzar", normalized=True)])
    return json.loads(tokenizer.to_str())


def charsmap_rules() -> str:
    """A part of NFKC, control characters, and some replacements that sequences of characters share."""
    rules = {chr(point): unicodedata.normalize("NFKC", chr(point)) for first, last in ((0xFF01, 0xFF60), (0xFB00, 0xFB07), (0x2160, 0x2180), (0xF900, 0xF910)) for point in range(first, last)}
    for letter in "aeiouAEIOUcn":
        for mark in "\u0300\u0301\u0302\u0303\u0308\u0327":
            rules[letter + mark] = unicodedata.normalize("NFKC", letter + mark)
    rules |= dict.fromkeys("\t\n\r\u00a0\u200b\u3000\u2028\ufeff", " ") | dict.fromkeys("\x01\x02\x1f\x7f\u00ad\u200d", "")
    rules |= {"\u00bd": "1\u20442", "\u2026": "...", "\u0301": "'", "\U0001f600": ":-)", "\u4f60\u597d": "hi", "\u1e9e": "SS"}
    codes = lambda text: " ".join(f"{ord(character):X}" for character in text)
    return "".join(f"{codes(key)}\t{codes(value)}\n" for key, value in sorted(rules.items()) if key != value)


def train_sentencepiece(kind: str, **options) -> sentencepiece_model_pb2.ModelProto:
    with tempfile.TemporaryDirectory() as folder:
        text, rules = pathlib.Path(folder, "text"), pathlib.Path(folder, "rules.tsv")
        text.write_text(bible("Gen1:1-Gen50:26") + bible("Mat1:1-Mat28:20") + WORLD * 2)
        rules.write_text(charsmap_rules())
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=str(pathlib.Path(folder, "m")), model_type=kind, normalization_rule_tsv=str(rules), num_threads=1, character_coverage=0.995,
            minloglevel=2, **options
        )  # fmt: skip
        return sentencepiece_model_pb2.ModelProto.FromString(pathlib.Path(folder, "m.model").read_bytes())


def unigram() -> dict:
    """Like XLM-R's. Scores are whole numbers, so that many sums are equal."""
    model = train_sentencepiece("unigram", vocab_size=1100, byte_fallback=True)
    vocabulary = [[piece.piece, float(round(piece.score))] for piece in model.pieces]
    vocabulary += [[META * 2, -6.0], [META + "unreachable", -40.0], ["xy", -60.0]]
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    piece = {"type": "Metaspace", "replacement": META, "prepend_scheme": "always", "split": True}
    description = {
        "version": "1.0", "added_tokens": [],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, piece]},
        "decoder": piece,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": False},
    }  # fmt: skip
    tokenizer = Tokenizer.from_str(json.dumps(description))
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.add_tokens([AddedToken("<mask>", lstrip=True, normalized=False), AddedToken("Nebuchadnezzar", normalized=True)])
    return json.loads(tokenizer.to_str())


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
GPT4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def steps(*all_steps: dict) -> dict:
    # A merge patch keeps fields that it does not name, so those of the plain ByteLevel are deleted.
    return {"type": "Sequence", "pretokenizers": list(all_steps), "add_prefix_space": None, "trim_offsets": None, "use_regex": None}


def one_split(pattern: dict, behavior: str = "Isolated", invert: bool = False) -> dict:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def split(pattern: str) -> dict:
    return steps(one_split({"Regex": pattern}), BYTE_LEVEL)


def normalizer(*names: str) -> dict:
    return {"type": "Sequence", "normalizers": [{"type": name} for name in names]}


def metaspace(scheme: str, pieces: bool = True) -> dict:
    piece = {"type": "Metaspace", "replacement": META, "prepend_scheme": scheme}
    return {"normalizer": None, "pre_tokenizer": {**piece, "split": pieces}, "decoder": {**piece, "split": pieces, "decoders": None}}


def unigram_variant(charsmap: str, before: list, after: list, pre_tokenizer: dict | None, **rest) -> dict:
    own = [{"type": "Precompiled", "precompiled_charsmap": charsmap}]
    cleared = {"type": "Sequence", "replacement": None, "prepend_scheme": None, "split": None, "pretokenizers": None}
    return {
        "normalizer": {"type": "Sequence", "normalizers": before + own + after, "precompiled_charsmap": None},
        "pre_tokenizer": None if pre_tokenizer is None else {**cleared, **pre_tokenizer},
        **rest,
    }


def replace(pattern: dict, content: str) -> dict:
    return {"type": "Replace", "pattern": pattern, "content": content}


def unigram_variants(charsmap: str) -> dict:
    spaces = {"Regex": " {2,}"}
    piece = {"type": "Metaspace", "replacement": META, "prepend_scheme": "always", "split": True}
    quotes = [replace({"String": "``"}, '"'), replace({"String": "''"}, '"'), {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]
    undo = [replace({"String": META}, " "), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    return {
        "xlm_roberta": {},
        "t5": unigram_variant(charsmap, [], [{"type": "Strip", "strip_left": False, "strip_right": True}, replace(spaces, META)], piece),
        "albert": unigram_variant(charsmap, quotes, [replace(spaces, " ")], piece),
        "nmt": unigram_variant(charsmap, [{"type": "Nmt"}, {"type": "NFKC"}], [{"type": "Strip", "strip_left": True, "strip_right": True}], {**piece, "prepend_scheme": "first"}),
        "deberta": unigram_variant(charsmap, [{"type": "Strip", "strip_left": True, "strip_right": False}], [], {**piece, "prepend_scheme": "never"}),
        "unigram_digits": unigram_variant(
            charsmap, [], [], {"pretokenizers": [{"type": "Punctuation", "behavior": "Isolated"}, {"type": "Digits", "individual_digits": True}, piece]}
        ),
        "unigram_bytes": {
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": META}, replace({"String": " "}, META)], "precompiled_charsmap": None},
            "pre_tokenizer": None,
            "decoder": {"type": "Sequence", "decoders": undo, "replacement": None, "prepend_scheme": None, "split": None},
            "model": {"byte_fallback": True},
        },
    }


# By the file that they change; the first half of those of the first file get all texts.
VARIANTS = {
    "tokenizer.json": {
        "gpt2": {},
        "prefix_space": {"pre_tokenizer": {"add_prefix_space": True}},
        "llama3": {"pre_tokenizer": split(LLAMA3), "model": {"ignore_merges": True}},
        "qwen2": {"pre_tokenizer": split(QWEN2), "normalizer": {"type": "NFC"}},
        "whole": {"pre_tokenizer": {"use_regex": False}},
        "gpt4o": {"pre_tokenizer": split(GPT4O)},
        "deepseek": {
            "pre_tokenizer": steps(
                one_split({"Regex": r"\p{N}{1,3}"}), one_split({"Regex": "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"}), one_split({"Regex": DEEPSEEK}), BYTE_LEVEL
            ),
            "normalizer": {"type": "Sequence", "normalizers": []},
        },
        "falcon": {
            "pre_tokenizer": steps(
                {"type": "Punctuation", "behavior": "Contiguous"},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
                {"type": "Digits", "individual_digits": False},
                one_split({"Regex": "[0-9][0-9][0-9]"}),
            )
        },
        "starcoder": {"pre_tokenizer": steps({"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True})},
        "bloom": {"pre_tokenizer": split(r" ?[^(\s|[.,!?…。，、।۔،])]+")},
        "nfkc": {"normalizer": {"type": "NFKC"}},
        "plain_letters": {"normalizer": normalizer("NFKD", "StripAccents", "Lowercase")},
        "nfd": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"Regex": "[aeiou]{2}|(?<=q)u"}, "content": "__"}, {"type": "NFD"}]}},
        "words": {"pre_tokenizer": steps({"type": "Whitespace"}, {**BYTE_LEVEL, "add_prefix_space": True})},
        "split_words": {"pre_tokenizer": steps({"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "MergedWithPrevious"}, BYTE_LEVEL)},
        "bert": {"pre_tokenizer": steps({"type": "BertPreTokenizer"}, BYTE_LEVEL)},
        "string": {"pre_tokenizer": steps(one_split({"String": "e"}, "MergedWithNext"), {"type": "CharDelimiterSplit", "delimiter": "a"}, BYTE_LEVEL)},
        "inverted": {"pre_tokenizer": steps(one_split({"Regex": r"\w+|[^\w\s]"}, "Removed", True), BYTE_LEVEL)},
    },
    "characters.json": {
        "llama2": {},
        "metaspace": metaspace("always"),
        "metaspace_first": metaspace("first"),
        "metaspace_never": metaspace("never"),
        "metaspace_whole": metaspace("first", pieces=False),
        "gemma": {
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": META, "normalizers": None},
            "pre_tokenizer": one_split({"String": " "}, "MergedWithPrevious"),
            "decoder": {"decoders": [{"type": "Replace", "pattern": {"String": META}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]},
        },
        "unknown": {"model": {"byte_fallback": False, "fuse_unk": False}},
        "unknown_fused": {"model": {"byte_fallback": False}, "decoder": None},
        "some_bytes": {"model": {"fuse_unk": False, "vocab": {"<0xE4>": None, "<0xF0>": None, "<no E4>": 3 + 0xE4, "<no F0>": 3 + 0xF0}}},
        "whole_words": {"model": {"ignore_merges": True}, **metaspace("always")},
    },
    "word_piece.json": {
        "bert_uncased": {},
        "bert_cased": {"normalizer": {"lowercase": False}},
        "bert_accents": {"normalizer": {"strip_accents": False, "handle_chinese_chars": False}, "decoder": {"cleanup": False}},
        "bert_plain": {"normalizer": {"clean_text": False, "lowercase": False, "strip_accents": True}, "decoder": None},
        "short_words": {"model": {"max_input_chars_per_word": 6}, "pre_tokenizer": {"type": "WhitespaceSplit"}},
        "one_word": {"model": {"max_input_chars_per_word": 1000}, "pre_tokenizer": None, "normalizer": None},
    },
    "unigram.json": {},
}
ALL_TEXTS = ("gpt2", "llama3", "qwen2", "llama2", "bert_uncased", "xlm_roberta")
SOME = 140

# Patterns in Oniguruma's syntax, and texts that show their meaning.
PATTERNS = [
    r"\s", r"\S+", r"\w+", r"\W+", r"\d+", r"\D+", r"\h+", r"\H+", r"[\s\d]+", r"[^\w]+", r"[\h\-]+", r"\bi", r"\B\w", r"^.", r".$", r"^$", r"\A.", r".\z", r".\Z",
    r"(?m:.+)", r".+", r"(?i)s+", r"a(?i:B)c", r"(?i-m:x)", r"x{2}", r"x{2,}", r"x{,2}y", r"x{1,2}?", r"x{1,2}+", r"(?:xy){1,2}+x", r"x{", r"{x}", r"x{a}", r"x*?y", r"x++x", r"x*+", r"(?>x+)y",
    r"(?=x)", r"(?!x)", r"(?<=x).", r"(?<!x)y", r"x*", r"|x", r"\p{L}\p{M}*", r"\P{L}+", r"\p{^L}+", r"[\p{N}\p{P}]+", r"[\P{L}]", r"\p{Han}+", r"\p{Greek}", r"[\x{4e00}-\x{9fff}]", r"\u4f60",
    r"\x41", r"\t|\n|\r|\f|\v|\a|\e", r"[\b\v]", r"[]x]", r"[a-c\]^-]+", r"[.*+]", r"\.\*\+\?\{\}\(\)\[\]\^\$\|\\\/", r"(?#note)x", r"(?<name>x)y", r"(x|y)(z)?", r"\é", r"#.",
    r"[xy[aI]]+", r"[^(\s|[.,x])]+", r"[[x][A-C[c]]]+", r"[]x[]a]]+", r" ?[^(\s|[.,!?…。，、।۔،])]+",
]  # fmt: skip
PATTERN_TEXTS = [
    "", "x", "xxxxx", "xyxyxx xx{x}x{a}x{", "Hi, I am here: i-iX x\n\nABc aBc abC sSſ\n", "1\u0661\u00bd\u00b2\u2167 12ab\u0301cd_\u203f e\u0301\u200d\u24b6\n\u3000\u00a0\x85\u180e|",
    "\u4f60\u597d\u4e16\u754c \u03b1\u03b2 \U0001f600 \u1c89\U00010d40\U00031350 []x.*+?{}()^$|\\/#\n", "\t\n\r\x0b\x0c\x07\x1b\x08 A\u00e9x\r\nlast\n",
]  # fmt: skip
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]


def splits() -> list[dict]:
    cases = []
    for pattern in PATTERNS:
        pieces = [[piece for piece, _ in pre_tokenizers.Split(Regex(pattern), "isolated").pre_tokenize_str(text)] for text in PATTERN_TEXTS]
        cases.append({"pattern": pattern, "behavior": "isolated", "invert": False, "pieces": pieces})
    for pattern in (r"x", r"x+", r"[xy]", r"\s", r"x*", r"(?=x)"):
        for behavior in BEHAVIORS:
            for invert in (False, True):
                splitter = pre_tokenizers.Split(Regex(pattern), behavior, invert=invert)
                pieces = [[piece for piece, _ in splitter.pre_tokenize_str(text)] for text in PATTERN_TEXTS[:5]]
                cases.append({"pattern": pattern, "behavior": behavior, "invert": invert, "pieces": pieces})
    return cases


def merge_patch(target, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    target = copy.deepcopy(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = merge_patch(target.get(key), value)
    return target


HOSTILE = [
    "", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\t", " \t \n ", "a", " a", "  a", "a ", "a  ", " a b  c   d    e",
    "Hello, world!", "hello  world\n", "\n\n\nhello\n\n\n", "line\r\nline\r\n\r\nend", "a\u00a0b\u2003c\u3000d\u1680e\u0085f\u2028g\u2029h",
    "tabs\t\t\tand\tspaces   mixed \t \t x", "trailing newline after spaces   \n  x", "!\n!\n\n!!\r\n x", "(\n\n)", "x;\n\n\ny",
    "it's it'S IT'S I'm I'M we'll WE'LL we've WE'VE they're THEY'RE he'd HE'D can't CAN'T", "'s 't 're 've 'm 'll 'd", "'S'T'RE'VE'M'LL'D",
    "'sa 'sS ''s ' s 'x 'l 'r 'v '", "don\u2019t \u2018quote\u2019", "'\u017f '\u017fx a'\u017f", "o'clock rock'n'roll l'amour", "'rE 'Ve 'lL",
    "1", "12", "123", "1234", "12345678901234567890", " 1 22 333 4444", "3.14159e-10", "1,000,000", "x1y22z333", "0x1F+0b101",
    "\u0661\u0662\u0663\u0664 \u096a\u096b \u00b2\u00b3\u00b9 \u2167 \u00bd \u3289 \U0001d7d8\U0001d7ff", "\u4e00\u4e8c\u4e09 \uff11\uff12\uff13\uff14",
    "caf\u00e9 cafe\u0301 \u0301 a\u0300\u0301\u0302\u0303b", "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319A\u0322L\u0321G\u0316O",
    "\u4f60\u597d\u4e16\u754c", "\u4f60\u597d\uff0c\u4e16\u754c\u3002 \u4f60 \u597d", "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c", "\uc548\ub155 \uc138\uacc4", "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u05e9\u05dc\u05d5\u05dd\u200f \u200e\u202eabc\u202c", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "\U0001f600", "\U0001f600\U0001f600 \U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f1e9\U0001f1ea\U0001f1eb", "\u2764\ufe0f \u2764\ufe0e 1\ufe0f\u20e3",
    "\u200b \u200d \ufeff x\u200by", "\ufeffbom first", "\x00\x01\x02\x1f\x7f\x80\x9f", "a\x00b", "\x1c\x1d\x1e\x1f x", "\x0b\x0c x",
    "\ud7ff\ue000\ufffd\ufffe\uffff", "\U00010000\U0010fffd\U0010ffff", "\u1c89\u1c8a \ua7dc \U00010d40\U00010d41 \U000105c0", "\U0001e4d0\U0001e4d1\U0001e4f0 \U00031350",
    "\u00aa\u00ba\u01c5\u02b0\u2c7c \u2071\u207f", "\U0001d400\U0001d401\U0001d7ce", "\u01c4\u01c5\u01c6 \u0130\u0131 \u1e9e\u00df \ufb01\ufb06", "\u24b6\u24d0 \u2460\u2474",
    "a" * 300, " " * 100, " " * 100 + "x", "\n" * 50, "\n" * 50 + "x", " \n" * 30, "\t" * 33 + "y", "9" * 101, "!" * 100, "ab" * 150, "." * 64 + "\n" * 9, "\u00e9" * 77, "\U0001f600" * 20,
    "<|endoftext|>", "a<|endoftext|>b", " <|endoftext|> ", "<|endoftext|><|endoftext|>", "<|endoftext", "<|endoftext|", "<<|endoftext|>>", "<|ENDOFTEXT|>",
    "<|end|>", "<|end", "<|end|", "<|end|<|end|>", "<|endo", "<|im_start|>user\nhi<|end|>\n", "\u00a7end|\u00a7 <\u00a7end|\u00a7",
    "a <mask> b", "a  \n <mask>  b", "<mask><mask>", " <mask> <mask> ", "x\u3000<mask>\u3000y", "a [PAD]  b", "[PAD]\n\n[PAD] x", "[PAD] <mask> [PAD]   <mask>", "\u2003<mask>",
    "Nebuchadnezzar", "and Nebuchadnezzar the king", "nebuchadnezzar", "NebuchadnezzarNebuchadnezzar<|end|>Nebuchadnezzar", "xNebuchadnezzary",
    " unreachable", "unreachable zyzzyva zyzzyvas", " <<=>> <<=>>\n", "a <<=>>b",
    "def f(x):\n    return x ** 2  # square\n\n\nclass A:\n\tpass\n", "{\"a\": [1, 2.5, null], \"b\": \"\\u00e9\\n\"}", "<div class=\"x\">&nbsp;</div>", "https://example.org/a?b=c&d=%20#e", "$x_1^2 + \\alpha \\ge 0$",
    "\u00c4\u00d6\u00dc\u00e4\u00f6\u00fc\u00df", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440!", "mixed\u4f60abc\u597d123\U0001f600xyz", "_under_score__ __init__", "-- --- \u2014 \u2013 \u2026", "a\\b\\\\c", "``code`` \"quotes\" \u201cquotes\u201d",
    "\u00a0\u00a0x \u00a0 y\u00a0", "x \u3000y", "\u2028\u2028x", "\x85\x85 x", " \u0301", " \u0301a", "a\u200d \u200db", "I'\u4f60 'm\u00e4n '\u0301s",
]  # fmt: skip

ALPHABETS = [
    "abcdefgST'mvrld ", "  \t\n\r\u00a0\u3000\x85\x0b", "0123456789\u0661\u00bd\u2167", "!?.,;:<>|[]()'\"-_=+*/\\", "\u00e4\u00df\u00e9\u0301\u0300\u017f\u0130\u1e9e",
    "\u4f60\u597d\u4e16\u754c\u3053\u3093\u306b\uc548\ub155\u1112\u1161", "\U0001f600\U0001f44d\U0001f3fd\u200d\ufe0f\U0001f1e9\u20e3", "\x00\x07\x1b\x7f\u200b\u202e\ufeff\ufffd\U0010ffff",
]  # fmt: skip
FRAGMENTS = ["<|endoftext|>", "<|end|>", "<|end", "<mask>", "[PAD]", "Nebuchadnezzar", "'s", "'LL", "'re", " the", "\r\n", "   ", " unreachable"]


def random_texts(count: int) -> list[str]:
    generator = random.Random(20240520)
    texts = []
    for _ in range(count):
        pools = generator.sample(ALPHABETS, 3)
        parts = []
        for _ in range(generator.randrange(2, 28)):
            parts.append(generator.choice(FRAGMENTS) if generator.random() < 0.07 else generator.choice(generator.choice(pools)))
        texts.append("".join(parts))
    return texts


def random_characters(count: int) -> list[str]:
    """Characters of all planes that Unicode has had for long; normalizers change many of them."""
    generator = random.Random(15)
    ranges = [(0xA0, 0x530), (0x600, 0x700), (0x900, 0xA00), (0x1100, 0x1200), (0x1E00, 0x2190), (0x2460, 0x2500), (0x3040, 0x3400), (0xAC00, 0xAD00), (0xF900, 0xFB50), (0xFE70, 0xFEFD), (0xFF01, 0xFF60), (0x1D15E, 0x1D800), (0x2F800, 0x2FA00)]
    texts = []
    for _ in range(count):
        texts.append("".join(chr(generator.randrange(*generator.choice(ranges))) + generator.choice(["", "", " ", "\u0301", "\u0327\u0301", "a"]) for _ in range(30)))
    return texts


def encoded(name: str, base: str, patch: dict | None, tokenizer: Tokenizer, texts: list[str]) -> dict:
    texts = texts if name in ALL_TEXTS else texts[:SOME]
    ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    decoded = [tokenizer.decode(some, skip_special_tokens=False) for some in ids]
    # null: the text itself
    return {"name": name, "file": base, "patch": patch, "ids": ids, "decoded": [None if a == b else a for a, b in zip(decoded, texts)]}


def main() -> None:
    trained = train()
    bases = {"tokenizer.json": with_added_tokens(trained), "characters.json": train_characters(), "word_piece.json": train_word_piece(), "unigram.json": unigram()}
    VARIANTS["unigram.json"] = unigram_variants(bases["unigram.json"]["normalizer"]["precompiled_charsmap"])
    texts = [bible("Psa23:1-Psa24:10"), WORLD] + random_characters(8) + HOSTILE + random_texts(150)
    variants = []
    for base, patches in VARIANTS.items():
        for name, patch in patches.items():
            tokenizer = Tokenizer.from_str(json.dumps(merge_patch(bases[base], patch)))
            variants.append(encoded(name, base, patch, tokenizer, texts))
    plain = Tokenizer.from_str(json.dumps(trained))  # the model of vocab.json and merges.txt
    variants.append(encoded("vocab_merges", "vocab.json", None, plain, texts))
    words = bases["word_piece.json"]["model"]["vocab"]
    (HERE / "vocab.txt").write_text("".join(word + "\n" for word in sorted(words, key=words.get)))
    variants.append(encoded("vocab_text", "vocab.txt", None, BertWordPieceTokenizer(str(HERE / "vocab.txt")), texts))

    for base, description in bases.items():
        write(base, description)
    write("vocab.json", trained["model"]["vocab"])
    merges = "".join(" ".join(merge) + "\n" for merge in trained["model"]["merges"])
    (HERE / "merges.txt").write_text("#version: 0.2\n" + merges)
    write("goldens.json", {"texts": texts, "variants": variants})
    write("splits.json", {"texts": PATTERN_TEXTS, "cases": splits()})


def write(name: str, value) -> None:
    (HERE / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
