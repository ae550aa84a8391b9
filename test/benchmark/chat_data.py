#!/usr/bin/env python3
"""Tokens per second of `trainc-data chat`, and the share of positions that packing uses.

  chat_data.py --tokenizer=FOLDER [--chats=20000] [--workers=2] [--pack=1024]

Writes chats of about 20 to 800 tokens of text from the King James Bible (package bible-kjv), or from docs/, to a temporary folder. Run it
with a Python that has trainc-data's packages (scripts/python.sh: build/python/bin/python).
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def words_of_docs():
    return " ".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))).split()


def write_chats(path, count):
    """Chats whose lengths are log-uniform, with one to four questions each."""
    draw, words = random.Random(1), words_of_docs()

    def text(size):
        begin = draw.randrange(len(words) - size)
        return " ".join(words[begin:begin + size])

    with path.open("w") as file:
        for _ in range(count):
            size = int(10 * 32 ** draw.random())
            turns = draw.randint(1, min(4, 1 + size // 20))
            messages = []
            for _ in range(turns):
                messages += [{"role": "user", "content": text(max(size // turns // 3, 1))}, {"role": "assistant", "content": text(max(size // turns * 2 // 3, 1))}]
            file.write(json.dumps({"messages": messages}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--chats", type=int, default=20000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pack", type=int, default=1024)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows, output = Path(folder, "rows.jsonl"), Path(folder, "chats.safetensors")
        write_chats(rows, options.chats)
        done = subprocess.run([sys.executable, "-m", "trainc_data", "chat", rows, f"--tokenizer={options.tokenizer}", f"--pack={options.pack}", "--json",
                               f"--workers={options.workers}", "-o", output], cwd=ROOT / "python", check=True, capture_output=True, text=True)
        summary = json.loads(done.stdout)
        print(f"{summary['tokens']:,} tokens of {summary['kept']:,} chats in {summary['seconds']:.1f} s: {summary['tokens'] / summary['seconds']:,.0f} tokens/s; "
              f"{summary['used_share']:.2%} of all positions used, longest {summary['longest']}, {sum(summary['dropped'].values())} dropped")


if __name__ == "__main__":
    main()
