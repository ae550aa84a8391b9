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

/// How an importer used a key.
enum class Use {
  Taken,     ///< the model's text has the value
  Defaulted, ///< the config lacks the key; the text has the default of the family
  Derived,   ///< the config lacks the key; the text has a value that follows from other keys
  Ignored,   ///< the value does not change what the model computes
  LeftOut,   ///< the value belongs to a part of the model that the text lacks
};

/// Uses of the keys that were read, in the order of reading.
class KeyUses {
public:
  /// Notes the use of a key, unless one has been noted before. The name of an inner key begins with the
  /// enclosing object and a point, as in "rope_scaling.factor".
  void add(std::string_view key, const nlohmann::json &value, Use use);
  bool contains(std::string_view key) const;
  /// Whether an inner key of the object `key` is contained.
  bool containsInner(std::string_view key) const;
  /// Lists the keys with their values, in a group for each use, within 100 columns.
  std::string describe() const;

private:
  struct Line {
    std::string key, value;
    Use use;
  };
  std::vector<Line> lines_;
  std::set<std::string, std::less<>> keys_; ///< of all lines
};

/// Choices of the user that change the text.
struct Reading {
  bool keepsDropout = true; ///< whether the text has the config's dropout
};

/// Reads the keys of a config. In place of an invalid value, a method returns one of the right type. The
/// first such error is kept until finish(), so that families read all keys and check the status once. A key
/// that nothing has read is an error, too.
class Config {
public:
  /// Parses `text`. `file` is for messages. For a model of pictures and texts, returns the config of its text
  /// decoder.
  static Result<Config> parse(std::string file, std::string_view text, Reading reading);

  // A key that is missing or null has the default of the family's class (base/config_defaults.h), or else
  // `fallback`. If there is neither default nor fallback, a missing key is an error.

  /// Reads a whole number of at least `minimum`.
  int64_t size(std::string_view key, std::optional<int64_t> fallback = std::nullopt, int64_t minimum = 1);
  /// Reads a finite number.
  double number(std::string_view key, std::optional<double> fallback = std::nullopt);
  /// Reads a probability below 1. Returns 0 if the text gets no dropout.
  double dropout(std::string_view key, std::optional<double> fallback = std::nullopt);
  bool flag(std::string_view key, std::optional<bool> fallback = std::nullopt);
  std::string word(std::string_view key, std::optional<std::string_view> fallback = std::nullopt);
  /// Reads a whole number. Returns `derived` if the key is null, or is missing and the class has no default.
  int64_t sizeOr(std::string_view key, int64_t derived);
  /// Reads a number. Returns none if the key is null, or is missing and the class has no default.
  std::optional<int64_t> sizeIfAny(std::string_view key);
  std::optional<double> numberIfAny(std::string_view key);
  /// Reads a list of strings. Returns none if the key is missing or null.
  std::optional<std::vector<std::string>> words(std::string_view key);
  /// Reads a list of whole numbers. Returns none if the key is missing or null.
  std::optional<std::vector<int64_t>> wholes(std::string_view key);
  /// Reads a list of finite numbers. A missing key is an error.
  std::vector<double> numbers(std::string_view key);

  /// Returns the number of keys of an object; none if the key is missing or null.
  std::optional<int64_t> entries(std::string_view key);

  /// Whether the key is there and not null.
  bool has(std::string_view key) const;
  /// Whether the key is there and null, which some classes distinguish from a missing key.
  bool isNull(std::string_view key) const;
  /// Whether the family's class has a default for the key.
  bool hasDefault(std::string_view key) const { return defaultOf(key) != nullptr; }
  /// Whether the key is there and not null, or the class has a default.
  bool isKnown(std::string_view key) const { return has(key) || hasDefault(key); }

  /// Fails if the key has another value than `expected` and is not null, because the text cannot have another
  /// value. `reason` says why, as in "parallel attention is not supported".
  void require(std::string_view key, const nlohmann::json &expected, std::string_view reason);
  /// Marks keys whose values do not change what the model computes; `*` stands for any text.
  void ignore(std::initializer_list<std::string_view> patterns);

  /// Whether the key, or the class's default for it, is an object, whose keys are read by names such as
  /// "rope_scaling.factor". Fails if the key has another value, except null.
  bool isObject(std::string_view key);

  /// Gives a key another value, as if the file had it.
  void set(const std::string &key, nlohmann::json value) { json_[key] = std::move(value); }
  void erase(const std::string &key) { json_.erase(key); }

  /// Keeps `message` as the error, unless there is one.
  void fail(const std::string &message);

  /// Marks the keys on which no model's computation depends as ignored. Fails if an error was kept, or if a
  /// key is left that nothing has read.
  Status finish();

  const KeyUses &uses() const { return uses_; }
  const Reading &reading() const { return reading_; }
  /// Class of the model of pictures and texts to which the decoder belongs; empty: none.
  const std::string &composite() const { return composite_; }
  const std::string &file() const { return file_; }
  /// The whole config, as read.
  const nlohmann::json &json() const { return json_; }

private:
  Config(std::string file, nlohmann::json json, Reading reading);

  /// Returns the class's default; null if there is none. If the config has an object, its inner keys have no
  /// defaults.
  const nlohmann::json *defaultOf(std::string_view key) const;
  /// Returns the value of `key` and notes it as taken. If there is none, returns the class's default or
  /// `fallback` and notes it as defaulted. If these are missing, too, keeps an error and returns null.
  const nlohmann::json *take(std::string_view key, const nlohmann::json *fallback);
  /// Whether an optional number has a value: the key is not null, and is there or has a default.
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
