// A config.json in Hugging Face's form, and the use of each of its keys.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::importer {

/// Use of a key by an importer.
enum class Use {
  Taken,     ///< the model's text has the value
  Defaulted, ///< the config lacks the key; the text has the default of the family
  Derived,   ///< the config lacks the key; the text has a value that follows from others
  Ignored,   ///< the value does not change what the model computes
  LeftOut,   ///< the value is of a part of the model that the text does not have
};

/// Uses of the keys that were read, in this order.
class KeyUses {
public:
  /// `value` as JSON. The first use of a key counts. Inner keys have the enclosing object before a point, as
  /// "rope_scaling.factor".
  void add(std::string_view key, const nlohmann::json &value, Use use);
  bool contains(std::string_view key) const;
  /// Whether a key of the object `key` is contained.
  bool containsInner(std::string_view key) const;
  /// The keys with their values, in a group for each use, within 100 columns.
  std::string describe() const;

private:
  struct Line {
    std::string key, value;
    Use use;
  };
  std::vector<Line> lines_;
  std::set<std::string, std::less<>> keys_; ///< of all lines
};

/// Forms of a text that a user chooses.
struct Reading {
  bool keepsDropout = true;    ///< whether the text has the config's dropout
  bool isForLongTexts = false; ///< whether it is for longer texts than those of pretraining
};

/// Reads the keys of a config. The first invalid value is kept as an error, and the reader goes on with a
/// value of the right type, so that families read all keys first and ask for the status once. A key that
/// nothing has read is an error of finish().
class Config {
public:
  /// Parses `text`. `file` is for messages. Of a model of pictures and texts, it is the config of the decoder
  /// of texts.
  static Result<Config> parse(std::string file, std::string_view text, Reading reading);

  // A key that is missing or null has the default of the family's class (base/config_defaults.h), or else
  // `fallback`. If there is neither, the key must be there.

  /// Whole numbers of at least `minimum`.
  int64_t size(std::string_view key, std::optional<int64_t> fallback = std::nullopt, int64_t minimum = 1);
  /// Finite numbers.
  double number(std::string_view key, std::optional<double> fallback = std::nullopt);
  /// A probability below 1; 0 if the text gets no dropout.
  double dropout(std::string_view key, std::optional<double> fallback = std::nullopt);
  bool flag(std::string_view key, std::optional<bool> fallback = std::nullopt);
  std::string word(std::string_view key, std::optional<std::string_view> fallback = std::nullopt);
  /// The whole number of `key`, or `derived` if the key is null, or is missing and the class has no default.
  int64_t sizeOr(std::string_view key, int64_t derived);
  /// Numbers; nothing if the key is null, or is missing and the class has no default.
  std::optional<int64_t> sizeIfAny(std::string_view key);
  std::optional<double> numberIfAny(std::string_view key);
  /// A list of words; nothing if the key is missing or null.
  std::optional<std::vector<std::string>> words(std::string_view key);
  /// A list of whole numbers; nothing if the key is missing or null.
  std::optional<std::vector<int64_t>> wholes(std::string_view key);
  /// A list of finite numbers.
  std::vector<double> numbers(std::string_view key);

  /// The number of keys of an object; nothing if the key is missing or null.
  std::optional<int64_t> entries(std::string_view key);

  /// Whether the key is there and not null.
  bool has(std::string_view key) const;
  /// Whether the key is there and null, which some classes distinguish from a missing key.
  bool isNull(std::string_view key) const;
  /// Whether the family's class has a default for the key.
  bool hasDefault(std::string_view key) const { return defaultOf(key) != nullptr; }
  /// Whether the key is there and not null, or the class has a default.
  bool isKnown(std::string_view key) const { return has(key) || hasDefault(key); }

  /// Fails unless the key has `expected`, is null or is missing: no other value is carried over. `reason`
  /// says what is not supported, as "parallel attention is not supported".
  void require(std::string_view key, const nlohmann::json &expected, std::string_view reason);
  /// Marks keys whose values do not change what the model computes; `*` stands for any text.
  void ignore(std::initializer_list<std::string_view> patterns);

  /// Whether the key, or the class's default for it, is an object, whose keys are read by names such as
  /// "rope_scaling.factor". Fails if the key is neither an object nor missing nor null.
  bool isObject(std::string_view key);

  /// Gives a key another value, as if the file had it.
  void set(const std::string &key, nlohmann::json value) { json_[key] = std::move(value); }
  void erase(const std::string &key) { json_.erase(key); }

  /// Keeps `message` as the error, unless there is one.
  void fail(const std::string &message);

  /// Marks all keys that no model's computation depends on, and fails if a key is left that nothing has read.
  Status finish();

  const KeyUses &uses() const { return uses_; }
  const Reading &reading() const { return reading_; }
  /// The class of the model of pictures and texts that the decoder is a part of; empty: none.
  const std::string &composite() const { return composite_; }
  const std::string &file() const { return file_; }
  /// The whole config, as read.
  const nlohmann::json &json() const { return json_; }

private:
  Config(std::string file, nlohmann::json json, Reading reading);

  /// The class's default; null if there is none. An object of the config has no defaults for inner keys.
  const nlohmann::json *defaultOf(std::string_view key) const;
  /// The value of `key`, noted as taken; else the class's default or `fallback`, noted as a default; null,
  /// with an error, if there is none.
  const nlohmann::json *take(std::string_view key, const nlohmann::json *fallback);
  /// Whether an optional number is to be read: neither null nor missing without a default.
  bool isGiven(std::string_view key) const { return !isNull(key) && isKnown(key); }
  template <typename Element, typename Read>
  std::optional<std::vector<Element>> list(std::string_view key, std::string_view expected, Read read);
  void wrong(std::string_view key, const nlohmann::json &value, std::string_view expected);

  std::string file_, composite_;
  nlohmann::json json_, defaults_;
  Reading reading_;
  KeyUses uses_;
  Status status_;
};

} // namespace trainc::importer
