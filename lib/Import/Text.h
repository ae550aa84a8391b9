// Text of the model language, line by line.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainc::importer {

/// Returns a number as a person writes it: 0.02, 1e-6, 500000.
std::string numberText(double value);

/// Returns the body of an `export "config.json" {...}`: `config` with MLIR's syntax, each line indented by
/// `indent` spaces and at most 100 columns wide.
std::string exportText(const nlohmann::json &config, size_t indent);

/// Collects lines.
class Text {
public:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    text_.append(indent_, ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void blank() { text_ += '\n'; }
  void raw(std::string_view text) { text_ += text; }
  void indent() { indent_ += 2; }
  void dedent() { indent_ -= 2; }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
  size_t indent_ = 0;
};

} // namespace trainc::importer
