// Files that are no training data yet: what they are, and how to make data of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace trainc {

/// A kind of file that people take for training data.
struct ForeignKind {
  std::string_view name;       ///< as in "found a NumPy array"
  std::string_view forTokens;  ///< how to make a token file of it
  std::string_view forColumns; ///< how to make a safetensors file of it
  bool isText = false;         ///< its bytes may serve as tokens of one byte, if the user says so
};

/// The kind of a file of which `head` is the beginning; nothing where it may hold raw tokens. `extension`
/// (".csv") tells kinds of text apart.
std::optional<ForeignKind> findForeignKind(std::string_view extension, std::span<const std::byte> head);

} // namespace trainc
