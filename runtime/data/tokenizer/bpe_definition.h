// Content of the files of a BPE tokenizer.
#pragma once

#include "runtime/data/tokenizer/around_text.h"
#include "runtime/data/tokenizer/decoder.h"
#include "runtime/data/tokenizer/normalizer.h"
#include "runtime/data/tokenizer/pre_tokenizer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainc {

/// A token that is matched in the text before it is split into words.
struct AddedToken {
  std::string content;
  uint32_t id = 0;
  bool normalized = false; ///< matched after the others, in normalized text
  bool stripLeft = false;  ///< includes the spaces before it
  bool stripRight = false; ///< includes the spaces after it
  bool singleWord = false; ///< does not match next to a letter, digit, mark or connector
};

/// Initial units of a word before merges.
enum class Units {
  kBytes,      ///< bytes; the vocabulary is written in the byte alphabet (byte_alphabet.h)
  kStandIns,   ///< characters of the byte alphabet; words are already converted to it
  kCharacters, ///< characters
};

/// Vocabulary and merges as in the files, and the steps before and after.
struct BpeDefinition {
  std::string file; ///< for messages
  std::vector<std::pair<std::string, uint32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges; ///< descending priority
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> preTokenizer;
  std::vector<DecoderStep> decoder;
  AroundText around;
  Units units = Units::kBytes;
  bool byteFallback = false; ///< a character without a token is encoded as its bytes, <0x00> to <0xFF>
  std::optional<std::string> unknown; ///< token for characters without one
  bool fuseUnknown = false;           ///< consecutive unknown characters give one token
  /// A word that is in the vocabulary is encoded as that token, whatever the merges.
  bool ignoreMerges = false;
};

} // namespace trainc
