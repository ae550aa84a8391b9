// What the files of a byte-level BPE tokenizer say.
#pragma once

#include "runtime/data/tokenizer/split_pattern.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainc {

/// A token that is matched in the text as it stands, before any splitting.
struct AddedToken {
  std::string content;
  uint32_t id = 0;
  bool normalized = false; ///< matched after the others
  bool stripLeft = false;  ///< takes the spaces before it along
  bool stripRight = false; ///< takes the spaces after it along
};

/// Vocabulary and merges as written in the files, that is in the byte alphabet.
struct BpeDefinition {
  std::string file; ///< for messages
  std::vector<std::pair<std::string, uint32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges; ///< the first has the highest priority
  std::vector<AddedToken> added;
  SplitPattern split = SplitPattern::kGpt2;
  bool addPrefixSpace = false; ///< a space goes before each stretch of text that has none
  bool ignoreMerges = false;   ///< a word that is in the vocabulary becomes that token whatever the merges
};

} // namespace trainc
