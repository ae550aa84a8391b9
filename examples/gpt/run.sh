#!/usr/bin/env bash
# From nothing to a trained GPT: installs, builds, compiles examples/gpt/small.mlir and trains it on the King James Bible,
# then lets it speak.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  echo "usage: examples/gpt/run.sh [--OPTION=VALUE...]"
  echo "Installs what is missing (as root or with sudo), builds, trains examples/gpt/small.mlir and lets it speak."
  echo "Options go to trainrun, such as --steps=500, which stops early; the next run goes on from there."
  echo "Plan, data, metrics and checkpoints are in build/examples/gpt; remove the folder checkpoints there to begin anew."
}
previous=
for argument in "$@"; do
  case "$argument" in
    -h | --help) usage; exit 0 ;;
    -*) ;;
    *)
      if [[ "$previous" != --* || "$previous" == *=* ]]; then
        { echo "run.sh: expected options such as --steps=500, found '$argument'"; usage; } >&2
        exit 2
      fi ;;
  esac
  previous=$argument
done
./scripts/build.sh --target trainc trainrun trainc-opt trainc-check trainc-lsp

out=build/examples/gpt
mkdir -p "$out"
if [ ! -s "$out/eval.bin" ]; then
  bible -f gen1:1-rev22:21 > "$out/bible.txt"
  # The last fiftieth is held out to evaluate on.
  lines=$(wc -l < "$out/bible.txt")
  head -n $((lines * 49 / 50)) "$out/bible.txt" > "$out/train.txt"
  tail -n +$((lines * 49 / 50 + 1)) "$out/bible.txt" > "$out/eval.txt"
  build/bin/trainc tokenize --tokenizer=bytes "$out/train.txt" -o "$out/train.bin"
  build/bin/trainc tokenize --tokenizer=bytes "$out/eval.txt" -o "$out/eval.bin"
fi
build/bin/trainc compile examples/gpt/small.mlir -o "$out/small.plan" --report="$out/report.json"
evaluate=(--eval-every=500)
[[ " $*" == *" --eval-every"* ]] && evaluate=()
build/bin/trainrun "$out/small.plan" --data "$out/train.bin" --eval-data "$out/eval.bin" "${evaluate[@]}" \
  --metrics="$out/metrics.jsonl" --checkpoint-dir="$out/checkpoints" --resume=auto "$@"
echo
build/bin/trainrun "$out/small.plan" --data "$out/train.bin" --checkpoint-dir="$out/checkpoints" --resume=latest \
  --generate="And God said" --max-tokens=200 --temperature=0.8
