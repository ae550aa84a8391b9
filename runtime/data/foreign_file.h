// Recognition of files that must first be converted to training data, with advice.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace trainc {

/// A file format that users mistake for training data.
struct ForeignKind {
  std::string_view name;       ///< for messages, as in "found a NumPy array"
  std::string_view forTokens;  ///< how to convert it to a token file
  std::string_view forColumns; ///< how to convert it to a safetensors file
  bool isText = false;         ///< whether its bytes may serve as one-byte tokens, if the user says so
};

/// Format of a file that begins with `head`; nothing if the file may contain raw tokens. `extension` (".csv")
/// distinguishes kinds of text.
std::optional<ForeignKind> findForeignKind(std::string_view extension, std::span<const std::byte> head);

} // namespace trainc
