// Options of other training programs (transformers' TrainingArguments and run_clm.py, DeepSpeed, Accelerate,
// torchrun, nanoGPT), and what takes their place here.
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

/// ForeignOption::value of an option that is given without one.
inline constexpr std::string_view kNoValue = "(none)";

struct ForeignOption {
  /// Without the leading dashes, with `-` for `_`. A `*` stands for any text.
  std::string_view name;
  Home home;
  /// The option with its value, and in parentheses how the values differ; the line; or, for kNobody and
  /// kNeedless, a clause that says what to do or why.
  std::string_view advice;
  /// The value for which this is the answer, in lower case, or kNoValue. A `*` stands for any text; "*" is
  /// any value. Empty: the answer where no entry has the value. An option of ours has entries only for values
  /// that it does not take.
  std::string_view value = {};
};

/// The table, in the order of names and values; each pair occurs once.
std::span<const ForeignOption> foreignOptions();

/// The entry of an option in the spelling of ForeignOption::name, given with `value` (empty: without one).
/// Prefers the longest name, then the longest value, that fit; null if there is none.
const ForeignOption *findForeignOption(std::string_view name, std::string_view value = {});

/// Whether `value` is how other programs say that an option is off, such as False.
bool isOff(std::string_view value);

} // namespace trainc
