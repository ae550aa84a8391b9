// Options of other training programs (transformers' TrainingArguments, the launchers of DeepSpeed and
// Accelerate, torchrun), and what takes their place here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace trainc {

/// Place where the decision of a foreign option is made here.
enum class Home : uint8_t {
  kCompile,  ///< an option of `trainc compile`
  kTrainrun, ///< an option of `trainrun`
  kProgram,  ///< a line of the model's train.program
  kNobody,   ///< nobody: there is no such thing yet
  kNeedless, ///< nobody: it holds anyway, or another program takes it
};

struct ForeignOption {
  /// Without the leading dashes, with `-` for `_`. A `*` at the end stands for any text.
  std::string_view name;
  Home home;
  /// The option with its value, the line, or, for kNobody and kNeedless, a clause that says what to do or
  /// why. Empty: nothing to add.
  std::string_view advice;
};

/// The table, in the order of names; `name` occurs once.
std::span<const ForeignOption> foreignOptions();

/// The entry of an option in the spelling of ForeignOption::name: its own, or else the one with the longest
/// beginning; null if there is none.
const ForeignOption *findForeignOption(std::string_view name);

} // namespace trainc
