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

} // namespace trainc::train
