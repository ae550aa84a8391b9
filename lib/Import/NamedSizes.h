// Names of a model's sizes in its text: `let width = 576`, and `$width` in place of 576.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::importer {

/// Constants, and the places of a text at which they stand.
class NamedSizes {
public:
  /// Defines a constant by the right side of its `let`.
  void define(std::string name, std::string value) {
    constants_.push_back({std::move(name), std::move(value)});
  }
  void define(std::string name, int64_t value) { define(std::move(name), std::to_string(value)); }

  /// In lines with `marker`, the number `value` after the text `before` is `expression`: the name of a
  /// constant, or arithmetic on constants.
  void place(std::string marker, std::string before, int64_t value, std::string expression) {
    places_.push_back({std::move(marker), std::move(before), std::to_string(value), std::move(expression)});
  }

  /// Returns `text` with constants at the places that have their values. The `let` lines of the constants in
  /// use follow the comment at the begin of `text`, which ends with an empty line.
  std::string apply(std::string_view text) const;

private:
  struct Constant {
    std::string name, value;
  };
  struct Place {
    std::string marker, before, number, expression;
  };

  bool replaceIn(std::string &line, const Place &place) const;
  std::string lines(const std::vector<std::string> &expressions) const;

  std::vector<Constant> constants_; ///< each before the constants that use it
  std::vector<Place> places_;
};

} // namespace trainc::importer
