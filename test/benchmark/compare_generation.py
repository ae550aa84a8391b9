#!/usr/bin/env python3
"""Greedy generation side by side with llama.cpp, in one run: the same weights in F32, prompt and threads.

  compare_generation.py SmolLM2-135M-Instruct.Q4_1.gguf --python venv/bin/python

The GGUF file is imported, and exported again in F32 for llama.cpp. Each round runs trainrun and llama.cpp in turn. Needs a Python with
xllamacpp for llama_cpp_peer.py, and build/bin/{trainc,trainrun,machine_peak}.
Exit codes: 0; 1 where a program failed, texts differ or, with --check, trainc is slower; 2 bad usage.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import compare
from compare import HERE, ProgramFailed, number, progress

PROMPTS = {
    "short": "And the king said",
    "long": "And the king said unto the people, Go ye up against the city, and take it. " * 18,
}


def prepare(arguments, folder):
    """The plan, the folder of the model, and the GGUF file in F32."""
    model, plan, gguf = folder / "model", folder / "model.plan", folder / "f32.gguf"
    compare.run([arguments.bin / "trainc", "import", arguments.model, "-o", model])
    compare.run([arguments.bin / "trainc", "compile", model / "model.mlir", "-o", plan, f"--seq-len={arguments.context}",
                 "--micro-batch=1", "--accumulate=1"])  # fmt: skip
    compare.run([arguments.bin / "trainc", "export", model, f"--like={arguments.model}", "--type=f32", "-o", gguf])
    return plan, model, gguf


def generate(arguments, files, prompt):
    plan, model, _ = files
    texts = plan.parent / "texts.jsonl"
    compare.run([arguments.bin / "trainrun", plan, f"--init={model}", f"--tokenizer={model}", f"--generate={prompt}", "--temperature=0",
                 f"--max-tokens={arguments.tokens}", f"--generated={texts}", f"--threads={arguments.threads}"])  # fmt: skip
    found = json.loads(texts.read_text())
    if len(found["tokens"]) < 2:
        raise ProgramFailed(f"the text ended after {len(found['tokens'])} tokens")
    rate = (len(found["tokens"]) - 1) / found["seconds"]
    return {"text": found["text"], "tokens": len(found["tokens"]), "rate": rate, "prompt_tokens": len(found["prompt_tokens"]),
            "prompt_seconds": found["prompt_seconds"]}  # fmt: skip


def generate_by_peer(arguments, files, prompt):
    out, _, _ = compare.run(
        [arguments.python, HERE / "llama_cpp_peer.py", files[2], f"--prompt={prompt}", f"--tokens={arguments.tokens}",
         f"--context={arguments.context}", f"--threads={arguments.threads}"])  # fmt: skip
    found = json.loads(out.splitlines()[-1])
    if found["tokens"] < 2:
        raise ProgramFailed(f"llama.cpp's text ended after {found['tokens']} tokens")
    return found | {"rate": (found["tokens"] - 1) / found["seconds"]}


PROGRAMS = {"trainc": generate, "llama.cpp": generate_by_peer}


def compare_prompt(arguments, name, files):
    runs = {program: [] for program in PROGRAMS}
    for index in range(arguments.rounds):
        for program, rounds in runs.items():
            progress(f"{name} prompt: round {index + 1} of {arguments.rounds}, {program}")
            rounds.append(PROGRAMS[program](arguments, files, PROMPTS[name]))
    texts = {rounds[0]["text"].strip() for rounds in runs.values()}
    if len(texts) > 1:
        raise ProgramFailed(f"different texts: {texts}")
    return runs


ROWS = [  # title, key, choice among the rounds
    ("tokens/s, median", "rate", statistics.median),
    ("tokens/s, best", "rate", max),
    ("prompt, s, median", "prompt_seconds", statistics.median),
    ("prompt, s, best", "prompt_seconds", min),
]


def ratios(runs):
    """Ours over llama.cpp's, by row."""
    chosen = {title: [choice(each[key] for each in rounds) for rounds in runs.values()] for title, key, choice in ROWS}
    return {title: ours / peer for title, (ours, peer) in chosen.items()}


def print_table(name, runs, bytes_of_weights, peak):
    print(f"\n{name} prompt, {runs['trainc'][0]['prompt_tokens']} tokens\n\n{'':30}" + "".join(f"{p:>10}" for p in runs) + f"{'ratio':>8}")
    for title, key, choice in ROWS:
        values = [choice(each[key] for each in rounds) for rounds in runs.values()]
        print(f"{title:30}" + "".join(f"{number(value):>10}" for value in values) + f"{ratios(runs)[title]:>8.2f}")
    best = max(each["rate"] for each in runs["trainc"])
    print(f"trainc reads weights at {bytes_of_weights * best / 1e9:.1f} GB/s at best; copies read and write "
          f"{peak['copy_bytes_per_second'] / 1e9:.1f} GB/s")  # fmt: skip


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="a GGUF file")
    parser.add_argument("--python", default=sys.executable, help="a Python that has xllamacpp")
    parser.add_argument("--bin", type=pathlib.Path, default=compare.ROOT / "build/bin", help="folder of trainc and trainrun")
    parser.add_argument("--json", type=pathlib.Path, help="where to write all figures")
    parser.add_argument("--prompt", choices=PROMPTS, help="one of the prompts")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true", help="exit with 1 where trainc generates fewer tokens a second")
    arguments = parser.parse_args()
    compare.find_tools(parser, arguments, compare.TOOLS)
    if arguments.rounds < 1 or arguments.tokens < 2:
        parser.error("--rounds must be at least 1, and --tokens at least 2")
    return arguments


def main():
    arguments = parse_arguments()
    results = {}
    try:
        peak = json.loads(compare.run([arguments.bin / "machine_peak", arguments.threads])[0])
        with tempfile.TemporaryDirectory() as folder:
            files = prepare(arguments, pathlib.Path(folder))
            for name in [arguments.prompt] if arguments.prompt else PROMPTS:
                results[name] = compare_prompt(arguments, name, files)
                print_table(name, results[name], files[2].stat().st_size, peak)
    except ProgramFailed as error:
        print(f"compare_generation: {error}", file=sys.stderr)
        return 1
    compare.write_figures(arguments, {name: {"runs": runs, "ratios": ratios(runs)} for name, runs in results.items()})
    slower = [name for name, runs in results.items() if not ratios(runs)["tokens/s, median"] >= 1]
    return 1 if arguments.check and slower else 0


if __name__ == "__main__":
    sys.exit(main())
