#!/usr/bin/env python3
"""Counts the machine instructions of a plan's costliest kernels, as Markdown. Nothing is run.

    trainc compile MODEL.mlir -o gpt.plan --target=cuda ... --report=gpt.json
    trainc dump gpt.plan --code > gpt.ptx
    ptxas -v -arch=sm_90 gpt.ptx -o gpt.cubin 2> gpt.log
    nvdisasm -c gpt.cubin > gpt.sass
    test/benchmark/gpu_instructions.py gpt.json gpt.log gpt.sass
"""
import json
import re
import sys

INTEGER = re.compile(r"U?(IMAD(?!\.MOV)|IADD3|LEA|LOP3|SHF|ISETP|SEL|IMNMX)")
WIDE = re.compile(r".*(\.WIDE|\.X$|\.HI|\.64)")
MEMORY = re.compile(r"(LD|ST)[GS]")


def kernels(sass):
    parts = re.split(r"//-+ \.text\.(\w+) -+", sass)
    for name, text in zip(parts[1::2], parts[2::2]):
        found = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", text)
        yield name, [each for each in found if each not in ("NOP", "BRA")]


def main():
    report, log, sass = (open(path).read() for path in sys.argv[1:])
    used = dict(re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", log, re.S))
    found = dict(kernels(sass))
    print("| kernel | first op | registers | instructions | integer | 64-bit among these | memory |\n|---|---|---|---|---|---|---|")
    for row in [row for row in json.loads(report)["costs"] if row["what"] in found][:24]:
        code = found[row["what"]]
        integer = [each for each in code if INTEGER.match(each)]
        counts = [len(code), len(integer), sum(bool(WIDE.match(each)) for each in integer), sum(bool(MEMORY.match(each)) for each in code)]
        print(f"| `{row['what']}` | {row['source'][:50]} | {used[row['what']]} | " + " | ".join(map(str, counts)) + " |")


if __name__ == "__main__":
    main()
