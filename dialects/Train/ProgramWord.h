// Declaration of one setting of compilation. Free of MLIR.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainc::train {

/// Kind of a setting's value.
enum class ValueKind {
  Number, ///< a whole number from `min` to `max`
  Bytes,  ///< a number of bytes above 0, such as 16GiB
  Choice, ///< one of `values`
  Words,  ///< a comma-separated subset of `values`
  Names,  ///< comma-separated names of blocks or parameters
  Shares, ///< comma-separated percentages, each with an optional count: 48x15,30
  Truth,  ///< true or false
  Wrap    ///< units of parameters; see #train.sharding
};

/// Subject of a setting, by which --help groups options.
enum class Theme { Step, Memory, Ranks, Precision, Target };

/// One setting. `batch B x T` in train.program sets `micro_batch` and `seq_len`.
struct ProgramWord {
  std::string_view word = {};
  std::string_view option = {}; ///< of `trainc compile`; empty if there is none
  Theme theme = Theme::Step;
  ValueKind kind = ValueKind::Number;
  bool ofSharding = false; ///< whether it is a word of `sharding(...)`
  std::string_view values =
      {}; ///< placeholder of the option's value in the help; for a choice, its words separated by |
  int64_t min = 0, max = INT64_MAX;
  std::string_view defaultValue = {}; ///< default value; empty if there is none
  std::string_view derived = {};      ///< source of the default value if that is not a constant
  std::string_view help = {};
  /// For words of `sharding`: `fromStage` is the minimum zero_stage at which the word has an effect, and
  /// `whyNoEffect` a phrase about lower stages.
  int64_t fromStage = 0;
  std::string_view whyNoEffect = {};
  bool ofFp16 = false;        ///< whether it has an effect in fp16 only
  bool ofPrecision = false;   ///< whether it is a word of `precision bf16 (...)`
  bool ofCheckpoints = false; ///< whether it has an effect with activation_checkpointing full and budget only
  bool ofOffload = false;     ///< whether it has an effect with offload only

  /// Whether the value is a size of memory, for which any number of bytes is valid. Other sizes have a
  /// minimum of some KiB.
  constexpr bool isMemory() const { return kind == ValueKind::Bytes && min == 1; }
};

/// A setting that was given: its word, and its value in the syntax of options.
struct GivenSetting {
  std::string word, value;
};

} // namespace trainc::train
