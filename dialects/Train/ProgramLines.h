// Words of train.program that are no settings of the table in Settings.h. Free of MLIR.
#pragma once

#include <string_view>

namespace trainc::train {

/// A word that begins a line, how the line goes on, and what it says.
struct ProgramLine {
  std::string_view word, form, help;
};

inline constexpr ProgramLine kProgramLines[] = {
    {"model", "@NAME", "The nn.model that is trained"},
    {"optimizer", "adamw(lr 6e-4, weight_decay 0.1)",
     "How gradients change parameters: sgd, adam or adamw, with their settings in brackets"},
    {"schedule", "cosine(warmup 700, minimum 6e-5)",
     "How the learning rate goes with the steps: constant, linear or cosine; default: constant"},
    {"clip", "1.0", "The norm of all gradients that a step has at most; default: none"},
    {"batch", "B x T",
     "Samples per micro-batch and rank, and tokens per sample of models that have a length"},
    {"group", "\"PATTERN\" WORDS",
     "Parameters whose names match (* is any text): frozen, trained, lr_scale X or weight_decay X"},
    {"export", "\"FILE\" {name = value, ...}", "A JSON file beside each checkpoint, such as config.json"},
};

/// A word that looks like a setting's line but is none, and what to write.
struct FormerWord {
  std::string_view word, instead;
};

/// Names that settings had until their options' names became theirs, settings that were removed, and those
/// that have a line of another form.
inline constexpr FormerWord kFormerWords[] = {
    {"micro_batch", "write `batch B`, or `batch B x T` with tokens per sample"},
    {"seq_len", "write `batch B x T`, with T tokens per sample"},
    {"persist_below", "write `param_persistence_threshold`"},
    {"max_live", "write `max_live_parameters`"},
    {"gathers_in_flight", "write `limit_all_gathers`"},
    {"reduce_bucket", "write `reduce_bucket_size`"},
    {"gather_bucket", "write `allgather_bucket_size`"},
    {"sync", "write `sync_gradients`"},
    {"params", "write `param_type`"},
    {"compute", "write `precision`"},
    {"reduce", "write `reduce_type`"},
    {"keep", "write `keep_f32`"},
    {"products", "write `product_type`"},
    {"buffers", "data columns have the type of their file; round them there"},
    {"buffer_type", "data columns have the type of their file; round them there"},
    {"checkpoint_stride", "write `checkpoint_keep \"0,100,0,100\"` to recompute every second use"},
    {"loss_scale_window", "the scale doubles after 2000 steps without overflow"},
    {"loss_scale_min", "the scale stays at least 1"},
    {"loss_scale_hysteresis", "the scale halves after each step with overflow"},
};

} // namespace trainc::train
