#!/usr/bin/env python3
"""Speed of `trainc tokenize` beside Hugging Face's tokenizers, each on one thread, as Markdown.

    pip install tokenizers==0.23.3
    test/benchmark/tokenizers_peer.py TOKENIZER.json TEXT

The library encodes the text line by line and as a whole; trainc reads the file, encodes it and writes its tokens, start and loading included.
The best of three runs counts. The ids of the whole must be equal.
Exit codes: 0; 1 if ids differ.
"""
import argparse
import array
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402 (it reads the setting)

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 3


def best(work):
    """Seconds of the fastest run, and its result."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tokenizer")
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("--trainc", default=ROOT / "build/bin/trainc", help="the program to measure (default: build/bin/trainc)")
    args = parser.parse_args()
    text = args.text.read_bytes().decode()
    lines = text.splitlines(keepends=True)
    library = lambda: Tokenizer.from_file(args.tokenizer)  # a fresh one has no words in its cache
    whole, ids = best(lambda: library().encode(text).ids)
    by_lines, _ = best(lambda: sum(len(one.ids) for one in library().encode_batch_fast(lines, add_special_tokens=False)))
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "tokens.bin")
        command = [args.trainc, "tokenize", f"--tokenizer={args.tokenizer}", "--any-text", "-q", args.text, "-o", output]
        own, _ = best(lambda: subprocess.run(command, check=True))
        tokens = array.array("H" if library().get_vocab_size() <= 65536 else "I", output.read_bytes())
    megabytes = len(text.encode()) / 1e6
    print(f"| {pathlib.Path(args.tokenizer).stem} | {megabytes / whole:.1f} | {megabytes / by_lines:.1f} | {megabytes / own:.1f} | {min(whole, by_lines) / own:.1f} |")
    if tokens.tolist() != ids:
        raise SystemExit(f"{args.tokenizer}: the ids differ")


if __name__ == "__main__":
    main()
