#!/usr/bin/env python3
"""llama.cpp's side of compare_generation.py: continues a prompt greedily and prints one JSON object (needs xllamacpp).

  llama_cpp_peer.py model.gguf --prompt "And the king said" --tokens 64
"""
import argparse
import json
import os

import xllamacpp


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--prompt", required=True)
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    settings = xllamacpp.CommonParams()
    settings.model.path = arguments.model
    settings.n_ctx, settings.n_parallel, settings.warmup = arguments.context, 1, False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = arguments.threads
    server = xllamacpp.Server(settings)
    answer = server.handle_completions({"prompt": arguments.prompt, "n_predict": arguments.tokens, "temperature": 0, "cache_prompt": False})
    timings = answer["timings"]
    print(json.dumps({"text": answer["choices"][0]["text"], "tokens": timings["predicted_n"], "prompt_tokens": timings["prompt_n"],
                      "prompt_seconds": timings["prompt_ms"] / 1000, "seconds": timings["predicted_ms"] / 1000,
                      "system": xllamacpp.get_system_info()}))  # fmt: skip


if __name__ == "__main__":
    main()
