// Declaration of one setting of a program, and typed keys that read it from a source: a program in the
// compiler, a plan in the runtime. A source has three functions beside its type:
//   bool hasSetting(const Source &, const Setting &);                            whether it is set
//   std::optional<int64_t> settingNumber(const Source &, const Setting &);       of a Number or Bytes
//   std::optional<std::string_view> settingText(const Source &, const Setting &); of any other kind
// The functions return only valid values.
#pragma once

#include "plan/schema/targets.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::train {

/// Kind of a setting's value.
enum class ValueKind {
  Number,  ///< a whole number from `min` to `max`
  Bytes,   ///< a number of bytes above 0, such as 16GiB
  Choice,  ///< one of `values`
  Words,   ///< a comma-separated subset of `values`
  Names,   ///< comma-separated names of blocks or parameters
  Shares,  ///< comma-separated percentages, each with an optional count: 48x15,30
  Wrap,    ///< units of parameters: words, names of blocks, or one number
  Fraction ///< a decimal number from 0 on and below 1, such as 0.05
};

/// Subject of a setting. train.program has an attribute for each; --help and the docs have a heading.
enum class Theme { Step, Memory, Checkpointing, Offload, Sharding, Precision, LossScale, Target, Adapters };

/// Names of a theme.
struct ThemeNames {
  Theme theme;
  std::string_view attribute; ///< of train.program
  std::string_view heading;
};

/// All themes, in the order of their enumerators.
inline constexpr ThemeNames kThemes[] = {{Theme::Step, "step", "Step"},
                                         {Theme::Memory, "memory", "Memory"},
                                         {Theme::Checkpointing, "checkpointing", "Activation checkpointing"},
                                         {Theme::Offload, "offload", "Offload"},
                                         {Theme::Sharding, "sharding", "Sharding"},
                                         {Theme::Precision, "precision", "Precision"},
                                         {Theme::LossScale, "loss_scale", "Loss scale"},
                                         {Theme::Target, "target", "Target"},
                                         {Theme::Adapters, "adapters", "Adapters"}};

constexpr std::string_view attributeOf(Theme theme) { return kThemes[size_t(theme)].attribute; }
constexpr std::string_view headingOf(Theme theme) { return kThemes[size_t(theme)].heading; }

/// Condition under which a setting has an effect.
enum class Condition {
  Always,
  SeveralRanks,      ///< ranks above 1
  FlatStates,        ///< several ranks, or states in units for another reason
  ShardedStates,     ///< zero_stage from 1 on
  ShardedParameters, ///< zero_stage 3
  Fp16,              ///< precision fp16
  DynamicScale,      ///< precision fp16 without a fixed loss_scale
  Recomputation,     ///< activation_checkpointing full or budget
  FullRecomputation, ///< activation_checkpointing full; budget chooses the value
  Offloading,        ///< any offloading
  OffloadedMoments,  ///< offloading of the optimizer's moments
  Adapters,          ///< lora
  DeviceMemory,      ///< a target whose device is not the host; other targets reject the setting
  ComputeCapability  ///< a target with compute capabilities; other targets reject the setting
};

inline constexpr ConstantText kForDeviceMemory =
    ConstantText().add("--target=").add(namesOfTargets(hasDeviceMemory));
inline constexpr ConstantText kForComputeCapability =
    ConstantText().add("--target=").add(namesOfTargets(&TargetTraits::hasComputeCapability));

/// Returns the condition as options, for help; empty if the heading says it.
constexpr std::string_view optionsOf(Condition condition) {
  switch (condition) {
  case Condition::Always:
  case Condition::SeveralRanks:
  case Condition::FlatStates:
    return "";
  case Condition::ShardedStates:
    return "--zero-stage=1, 2 or 3";
  case Condition::ShardedParameters:
    return "--zero-stage=3";
  case Condition::Fp16:
  case Condition::DynamicScale:
    return "--precision=fp16";
  case Condition::Recomputation:
    return "--activation-checkpointing=full or budget";
  case Condition::FullRecomputation:
    return "--activation-checkpointing=full";
  case Condition::Offloading:
    return "--offload";
  case Condition::OffloadedMoments:
    return "--offload=optimizer in host memory";
  case Condition::Adapters:
    return "--lora";
  case Condition::DeviceMemory:
    return kForDeviceMemory;
  case Condition::ComputeCapability:
    return kForComputeCapability;
  }
  return "";
}

/// One setting, without the type of its value. `name` is its word in train.program; with dashes it is the
/// option of `trainc compile`.
struct Setting {
  std::string_view name = {};
  Theme theme = Theme::Step;
  ValueKind kind = ValueKind::Number;
  /// Placeholder of the value in the help; for Choice and Words, the words separated by |.
  std::string_view values = {};
  int64_t min = 0, max = INT64_MAX;
  std::string_view defaultValue = {}; ///< default value; empty if it is not a constant
  std::string_view derived = {};      ///< source of the default value if that is not a constant
  std::string_view help = {};         ///< without the condition and a constant default, which are added
  Condition condition = Condition::Always;
  bool hasOption = true; ///< whether `trainc compile` has an option for it
  /// Whether the numbers of a step depend on the value, other than by the order of sums. A run that is
  /// resumed with another value says so.
  bool changesNumbers = false;

  /// Whether the value is a size of memory, for which any number of bytes is valid. Other sizes have a
  /// minimum of some KiB.
  constexpr bool isMemory() const { return kind == ValueKind::Bytes && min == 1; }
  /// Whether the value is a comma-separated list.
  constexpr bool isList() const {
    return kind == ValueKind::Words || kind == ValueKind::Names || kind == ValueKind::Shares ||
           kind == ValueKind::Wrap;
  }
  /// Whether the value is true or false.
  constexpr bool isTruth() const { return values == "false|true"; }
  /// Whether the value consists of words of `values`.
  constexpr bool hasWords() const { return kind == ValueKind::Choice || kind == ValueKind::Words; }

  /// Number of words in `values`.
  constexpr size_t wordCount() const { return size_t(std::ranges::count(values, '|')) + 1; }
  /// Returns a word of `values`; empty beyond the last.
  constexpr std::string_view word(size_t index) const {
    std::string_view rest = values;
    for (; index > 0; --index)
      rest.remove_prefix(std::min(rest.find('|'), rest.size() - 1) + 1);
    return rest.substr(0, rest.find('|'));
  }
  /// Returns the index of a word in `values`; wordCount() if it is unknown.
  constexpr size_t indexOf(std::string_view text) const {
    size_t index = 0;
    while (index < wordCount() && word(index) != text)
      ++index;
    return index;
  }
  std::vector<std::string> words() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < wordCount(); ++i)
      all.emplace_back(word(i));
    return all;
  }

  /// Returns e.g. "--zero-stage".
  std::string option() const {
    std::string option = "--" + std::string(name);
    std::ranges::replace(option, '_', '-');
    return option;
  }
  /// Whether the default is a value. Otherwise the help says what holds without one.
  constexpr bool saysDefault() const {
    return !defaultValue.empty() && (defaultValue != "none" || indexOf("none") < wordCount());
  }
  /// Returns the help with condition and default, in one line.
  std::string description() const;

  /// Whether the program's text, an option or the compiler sets the setting.
  template <typename Source> bool isSet(const Source &source) const { return hasSetting(source, *this); }
  /// Returns the value of a Number or Bytes; none if it is not set.
  template <typename Source> std::optional<int64_t> numberIn(const Source &source) const {
    return settingNumber(source, *this);
  }
  /// Returns the value of any other kind; none if it is not set.
  template <typename Source> std::optional<std::string_view> textIn(const Source &source) const {
    return settingText(source, *this);
  }
};

inline std::string Setting::description() const {
  std::string text(help);
  if (const std::string_view options = optionsOf(condition); !options.empty())
    text = "With " + std::string(options) + ": " + text;
  return saysDefault() ? text + "; default: " + std::string(defaultValue) : text;
}

/// Returns the elements of a list without surrounding blanks.
inline std::vector<std::string_view> elementsOf(std::string_view list) {
  std::vector<std::string_view> elements;
  for (size_t begin = 0, end = 0; begin <= list.size(); begin = end + 1) {
    end = std::min(list.find(',', begin), list.size());
    std::string_view element = list.substr(begin, end - begin);
    element.remove_prefix(std::min(element.find_first_not_of(" \t"), element.size()));
    elements.push_back(element.substr(0, element.find_last_not_of(" \t") + 1)); // npos + 1 is 0
  }
  return elements;
}

/// A setting with a value: its name, and the value in the syntax of options.
struct GivenSetting {
  std::string word, value;
  auto operator<=>(const GivenSetting &) const = default;
};

/// A setting whose value is a whole number.
struct Number : Setting {
  constexpr explicit Number(Setting setting) : Setting(setting) {}

  template <typename Source> std::optional<int64_t> given(const Source &source) const {
    return numberIn(source);
  }
  GivenSetting as(int64_t value) const { return {std::string(name), std::to_string(value)}; }
  /// Returns the value, or the default, which must be a number.
  template <typename Source> int64_t of(const Source &source) const {
    return numberIn(source).value_or(defaultNumber());
  }
  constexpr int64_t defaultNumber() const {
    assert(!defaultValue.empty() && "a setting without a default is read by given()");
    int64_t number = 0;
    for (const char digit : defaultValue) {
      assert(digit >= '0' && digit <= '9' && "a setting without a default is read by given()");
      number = 10 * number + (digit - '0');
    }
    return number;
  }
};

/// A setting whose value is a number of bytes. Defaults depend on other settings.
struct Bytes : Setting {
  constexpr explicit Bytes(Setting setting) : Setting(setting) { kind = ValueKind::Bytes; }

  template <typename Source> std::optional<int64_t> given(const Source &source) const {
    return numberIn(source);
  }
};

/// Fails the compilation if it is called in a constant expression: a table's words do not match its
/// enumerators.
void wordsDifferFromEnumerators();

/// A setting whose value is one of several words. The enumerators of `Enum` are in the order of the words.
template <typename Enum> struct Choice : Setting {
  constexpr Choice(Enum last, Setting setting) : Setting(setting) {
    kind = ValueKind::Choice;
    if (wordCount() != size_t(last) + 1)
      wordsDifferFromEnumerators();
  }

  template <typename Source> std::optional<Enum> given(const Source &source) const {
    const std::optional<std::string_view> text = textIn(source);
    return text ? std::optional(Enum(indexOf(*text))) : std::nullopt;
  }
  /// Returns the value, or a constant default.
  template <typename Source> Enum of(const Source &source) const {
    return given(source).value_or(Enum(indexOf(defaultValue)));
  }
  std::string_view wordFor(Enum value) const { return word(size_t(value)); }
  GivenSetting as(Enum value) const { return {std::string(name), std::string(wordFor(value))}; }
};

/// Parses a decimal number from 0 on and below 1 in digits, such as 0.05; none for any other text.
inline std::optional<double> fractionIn(std::string_view text) {
  double number = 0;
  const bool isPlain = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return isPlain && error == std::errc() && end == text.data() + text.size() && number < 1
             ? std::optional(number)
             : std::nullopt;
}

/// Description of a valid fraction, for errors.
inline constexpr std::string_view kExpectedFraction = "a decimal number from 0 on and below 1, such as 0.05";

/// A setting whose value is a decimal number below 1. Its default is a number, too.
struct Fraction : Setting {
  constexpr explicit Fraction(Setting setting) : Setting(setting) { kind = ValueKind::Fraction; }

  /// Returns the value, or the default.
  template <typename Source> double of(const Source &source) const {
    return fractionIn(textIn(source).value_or(defaultValue)).value_or(0);
  }
};

/// A setting whose value is a set of words. The enumerators of `Enum` are in the order of the words.
template <typename Enum> struct Words : Setting {
  constexpr Words(Enum last, Setting setting) : Setting(setting) {
    kind = ValueKind::Words;
    if (wordCount() != size_t(last) + 1)
      wordsDifferFromEnumerators();
  }

  template <typename Source> std::vector<Enum> of(const Source &source) const {
    std::vector<Enum> values;
    for (const std::string_view each : elementsOf(textIn(source).value_or(defaultValue)))
      values.push_back(Enum(indexOf(each)));
    return values;
  }
  template <typename Source> bool has(const Source &source, Enum value) const {
    return std::ranges::count(of(source), value) > 0;
  }
  std::string_view wordFor(Enum value) const { return word(size_t(value)); }
  GivenSetting as(const std::vector<Enum> &values) const {
    std::string text;
    for (const Enum value : values)
      text.append(text.empty() ? "" : ",").append(wordFor(value));
    return {std::string(name), text};
  }
};

/// A setting whose value is a text: a list, or a word that the compiler looks up in a table of its own.
struct Text : Setting {
  constexpr Text(ValueKind kindOfText, Setting setting) : Setting(setting) { kind = kindOfText; }

  template <typename Source> std::optional<std::string_view> given(const Source &source) const {
    return textIn(source);
  }
  GivenSetting as(std::string text) const { return {std::string(name), std::move(text)}; }
  /// Returns the value, or a constant default.
  template <typename Source> std::string_view of(const Source &source) const {
    return textIn(source).value_or(defaultValue);
  }
};

} // namespace trainc::train
