// What the files of a BPE tokenizer say.
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

/// A token that is matched in the text before it is cut into words.
struct AddedToken {
  std::string content;
  uint32_t id = 0;
  bool normalized = false; ///< matched after the others, in normalized text
  bool stripLeft = false;  ///< takes the spaces before it along
  bool stripRight = false; ///< takes the spaces after it along
  bool singleWord = false; ///< does not match beside a letter, a number and the like
};

/// What a word is made of before tokens are merged.
enum class Units {
  kBytes,      ///< bytes; the vocabulary is written in the byte alphabet (byte_alphabet.h)
  kStandIns,   ///< characters of the byte alphabet, in which words come
  kCharacters, ///< characters
};

/// Vocabulary and merges as written in the files, and what is done before and after.
struct BpeDefinition {
  std::string file; ///< for messages
  std::vector<std::pair<std::string, uint32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges; ///< the first has the highest priority
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> preTokenizer;
  std::vector<DecoderStep> decoder;
  AroundText around;
  Units units = Units::kBytes;
  bool byteFallback = false; ///< a character without token becomes those of its bytes, <0x00> to <0xFF>
  std::optional<std::string> unknown; ///< the token for characters without one
  bool fuseUnknown = false;           ///< of several unknown characters in a row it is put once
  bool ignoreMerges = false; ///< a word that is in the vocabulary becomes that token whatever the merges
};

} // namespace trainc
