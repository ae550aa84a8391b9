// Words of train.program that are not settings of the table in plan/settings. Free of MLIR.
#pragma once

#include "base/constant_text.h"
#include "plan/facts/schedules.h"

#include <array>
#include <string_view>

namespace trainc::train {

/// Words of the registry of optimizers.
inline constexpr std::string_view kOptimizerWords[] = {
#define TRAINC_OPTIMIZER(source, kind, rule, moments, ...) #kind,
#include "dialects/Train/Optimizers.def"
#undef TRAINC_OPTIMIZER
};

/// Words of the table of schedules.
inline constexpr auto kScheduleWords = [] {
  std::array<std::string_view, std::size(kSchedules)> words;
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = kSchedules[i].name;
  return words;
}();

inline constexpr ConstantText kHelpOfOptimizer = ConstantText()
                                                     .add("How gradients change parameters: ")
                                                     .addWords(kOptimizerWords, "or")
                                                     .add(", with their settings in brackets");

inline constexpr ConstantText kHelpOfSchedule = ConstantText()
                                                    .add("How the learning rate goes with the steps: ")
                                                    .addWords(kScheduleWords, "or")
                                                    .add("; default: ")
                                                    .add(kScheduleWords[0]);

/// A word that begins a line, how the line goes on, and what it says.
struct ProgramLine {
  std::string_view word, form, help;
};

inline constexpr ProgramLine kProgramLines[] = {
    {"model", "@NAME", "The nn.model that is trained"},
    {"optimizer", "adamw(lr 6e-4, weight_decay 0.1)", kHelpOfOptimizer},
    {"schedule", "cosine(warmup 700, minimum 6e-5)", kHelpOfSchedule},
    {"clip", "1.0", "The norm of all gradients that a step has at most; default: none"},
    {"batch", "B x T",
     "Samples per micro-batch and rank, and tokens per sample of models that have a length"},
    {"group", "\"PATTERN\" WORDS",
     "Parameters whose names match (* is any text): frozen, trained, lr_scale X or weight_decay X"},
    {"export", "\"FILE\" {name = value, ...}", "A JSON file beside each checkpoint, such as config.json"},
};

/// A word that looks like a setting's line but is none, and what takes its place.
struct FormerWord {
  std::string_view word;
  /// Name of the setting that says it now, with its value if that is another one; empty if there is none.
  std::string_view setting = {}, value = {};
  std::string_view remark = {}; ///< what holds, or what to write; after a setting and its value, an aim
};

/// Names that settings had until their options' names became theirs, settings that were removed, and those
/// that have a line of another form.
inline constexpr FormerWord kFormerWords[] = {
    {.word = "micro_batch", .remark = "write `batch B`, or `batch B x T` with tokens per sample"},
    {.word = "seq_len", .remark = "write `batch B x T`, with T tokens per sample"},
    {.word = "persist_below", .setting = "param_persistence_threshold"},
    {.word = "max_live", .setting = "max_live_parameters"},
    {.word = "gathers_in_flight", .setting = "limit_all_gathers"},
    {.word = "reduce_bucket", .setting = "reduce_bucket_size"},
    {.word = "gather_bucket", .setting = "allgather_bucket_size"},
    {.word = "sync", .setting = "sync_gradients"},
    {.word = "params", .setting = "param_type"},
    {.word = "compute", .setting = "precision"},
    {.word = "reduce", .setting = "reduce_type"},
    {.word = "keep", .setting = "keep_f32"},
    {.word = "products", .setting = "product_type"},
    {.word = "buffers", .remark = "data columns have the type of their file; round them there"},
    {.word = "buffer_type", .remark = "data columns have the type of their file; round them there"},
    {.word = "checkpoint_stride",
     .setting = "checkpoint_keep",
     .value = "0,100,0,100",
     .remark = " to recompute every second use"},
    {.word = "loss_scale_window", .remark = "the scale doubles after 2000 steps without overflow"},
    {.word = "loss_scale_min", .remark = "the scale stays at least 1"},
    {.word = "loss_scale_hysteresis", .remark = "the scale halves after each step with overflow"},
};

/// Returns the entry of a former word; null if it is none.
constexpr const FormerWord *findFormerWord(std::string_view word) {
  for (const FormerWord &each : kFormerWords)
    if (each.word == word)
      return &each;
  return nullptr;
}

} // namespace trainc::train
