#include "tools/common/option_homes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

namespace trainc {

namespace {

/// All options of trainc compile; a test compares them with --help.
constexpr auto kOfCompile = std::to_array<std::string_view>({
    "accumulate",
    "activation-checkpointing",
    "allgather-bucket-size",
    "buffer-type",
    "checkpoint-blocks",
    "checkpoint-keep",
    "checkpoint-rest",
    "checkpoint-stride",
    "compile-to",
    "cpu",
    "dump-ir",
    "eval-batch",
    "eval-precision",
    "fp32-products",
    "gpu",
    "gpu-levels",
    "host-memory",
    "hybrid-shard",
    "keep-f32",
    "largest-batch",
    "library-calls",
    "limit-all-gathers",
    "loss-scale",
    "loss-scale-hysteresis",
    "loss-scale-init",
    "loss-scale-min",
    "loss-scale-window",
    "max-live-parameters",
    "max-reuse-distance",
    "memory-limit",
    "micro-batch",
    "offload",
    "offload-group",
    "offload-to",
    "offload-update",
    "optimizer-states",
    "output",
    "param-persistence-threshold",
    "param-type",
    "precision",
    "prefetch",
    "product-type",
    "ranks",
    "reduce-bucket-size",
    "reduce-type",
    "report",
    "reproducible",
    "reserve-memory",
    "reshard-after-forward",
    "seq-len",
    "skipped-steps",
    "sync-gradients",
    "target",
    "wrap",
    "zero-stage",
});
constexpr auto kOfTrainrun = std::to_array<std::string_view>({
    "allow-changes",
    "checkpoint-dir",
    "checkpoint-every",
    "comm",
    "comm-timeout",
    "data",
    "data-dtype",
    "device",
    "device-seed",
    "eval-data",
    "eval-every",
    "generate",
    "init",
    "init-missing",
    "keep-last",
    "log-level",
    "log-level-replica",
    "log-on-each-node",
    "max-tokens",
    "metrics",
    "no-shuffle",
    "nproc-per-node",
    "offload-dir",
    "on-nonfinite",
    "peak-flops",
    "profile",
    "resume",
    "seed",
    "steps",
    "temperature",
    "threads",
    "tokenizer",
    "top-k",
    "trace",
    "trace-steps",
    "trust",
});

struct Pair {
  std::string_view name, meaning;
};

/// Settings that only a line of train.program has.
constexpr Pair kLines[] = {
    {"beta1", "optimizer adamw(beta1 0.9)"},
    {"beta2", "optimizer adamw(beta2 0.95)"},
    {"clip", "clip 1.0"},
    {"eps", "optimizer adamw(eps 1e-8)"},
    {"frozen", "group \"wte.*\" frozen"},
    {"lr", "optimizer adamw(lr 1e-3)"},
    {"minimum", "schedule cosine(minimum 1e-5)"},
    {"model", "model @gpt"},
    {"momentum", "optimizer sgd(momentum 0.9)"},
    {"optimizer", "optimizer adamw(lr 1e-3)"},
    {"schedule", "schedule cosine(warmup 100)"},
    {"warmup", "schedule cosine(warmup 100)"},
    {"weight-decay", "optimizer adamw(weight_decay 0.1)"},
};

/// Names of the same settings in other programs.
constexpr Pair kSynonyms[] = {
    {"batch", "micro-batch"},
    {"batch-size", "micro-batch"},
    {"context-length", "seq-len"},
    {"grad-clip", "clip"},
    {"gradient-accumulation-steps", "accumulate"},
    {"learning-rate", "lr"},
    {"max-grad-norm", "clip"},
    {"memory", "memory-limit"},
    {"max-steps", "steps"},
    {"min-lr", "minimum"},
    {"per-device-train-batch-size", "micro-batch"},
    {"seq-length", "seq-len"},
    {"wd", "weight-decay"},
};

std::optional<std::string_view> find(std::span<const Pair> pairs, std::string_view name) {
  const auto found = std::ranges::find(pairs, name, &Pair::name);
  return found == pairs.end() ? std::nullopt : std::optional(found->meaning);
}

/// Normalises an option's name: `-` for `_`.
std::string ownName(std::string_view option) {
  std::string name(option);
  std::ranges::replace(name, '_', '-');
  return std::string(find(kSynonyms, name).value_or(name));
}

} // namespace

std::optional<std::string> homeOutsideTrainrun(std::string_view option) {
  const std::string name = ownName(option);
  if (const auto line = find(kLines, name))
    return fmt::format(
        "the plan has decided it. Write it in the model's train.program, as in `{}`, and compile "
        "again",
        *line);
  if (std::ranges::find(kOfCompile, name) != kOfCompile.end())
    return fmt::format("the plan has decided it. Give --{} to trainc compile, and run the new plan", name);
  if (name != option && std::ranges::find(kOfTrainrun, name) != kOfTrainrun.end())
    return fmt::format("it is called --{} here", name);
  return std::nullopt;
}

std::optional<std::string> homeOutsideCompile(std::string_view option) {
  const std::string name = ownName(option);
  if (const auto line = find(kLines, name))
    return fmt::format("it has no option. Write it in the model's train.program, as in `{}`", *line);
  if (std::ranges::find(kOfTrainrun, name) != kOfTrainrun.end())
    return fmt::format("trainrun decides it. Give --{} to trainrun, with the plan", name);
  if (name != option && std::ranges::find(kOfCompile, name) != kOfCompile.end())
    return fmt::format("it is called --{} here", name);
  return std::nullopt;
}

} // namespace trainc
