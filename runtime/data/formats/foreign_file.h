// Files of other formats that people take for tokens or for texts: what they are, and how to make data of
// them.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

/// A kind of file that is given where tokens, columns or a text are expected.
struct ForeignKind {
  std::string_view name;       ///< as in "found a NumPy array"
  std::string_view forTokens;  ///< how to make a token file of it
  std::string_view forColumns; ///< how to make a safetensors file of it
  std::string_view forText;    ///< how to make a text of it; empty if it is one
  bool isText = false;         ///< its bytes may serve as tokens of one byte, if the user says so
  std::string_view forWeights =
      "name the .safetensors file of the weights"; ///< how to get weights from
                                                   ///< it; empty: it is one of weights
};

/// The byte-order mark with which a text in UTF-8 may begin.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Bytes at the start of a file that tell its kind.
inline constexpr size_t kForeignHeadBytes = size_t{64} << 10;

/// Whether a file that begins with `head` has llm.c's header of tokens.
bool hasLlmcTokenHeader(std::span<const std::byte> head);

/// The kind of a file of which `head` (kForeignHeadBytes, or all) is the beginning; nothing if it may hold
/// raw tokens. `nameEnd` (".csv") tells kinds of text apart.
std::optional<ForeignKind> findForeignKind(std::string_view nameEnd, std::span<const std::byte> head);

/// The kind of the file `path`, which is no safetensors file; nothing if it cannot be read, or if it may hold
/// raw tokens or begins like a safetensors file.
std::optional<ForeignKind> findForeignKind(const std::filesystem::path &path);

/// Returns an error that names the kind of the file `path`, if it is of a foreign kind, or else `status`,
/// with which its weights could not be opened.
Status explainUnreadWeights(const std::filesystem::path &path, const Status &status);

/// The kind of a file that is no text in UTF-8; nothing if it may be one, as far as `head` shows. JSON,
/// HTML, XML and tables are texts only if `anyText`.
std::optional<ForeignKind> findNonText(std::string_view nameEnd, std::span<const std::byte> head,
                                       bool anyText);

/// Returns, for messages, the likely kind of a file that is not UTF-8 around `bytes`, and advice.
std::string describeNonUtf8(std::span<const std::byte> bytes);

} // namespace trainc
