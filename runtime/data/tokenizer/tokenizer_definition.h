// Content of the files of a tokenizer.
#pragma once

#include "runtime/data/tokenizer/around_text.h"
#include "runtime/data/tokenizer/decoder.h"
#include "runtime/data/tokenizer/normalizer.h"
#include "runtime/data/tokenizer/pre_tokenizer.h"
#include "runtime/data/tokenizer/token_model.h"

#include <cstdint>
#include <memory>
#include <string>
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

/// Units of the words that a model gets.
enum class Units {
  kBytes,      ///< bytes; the vocabulary is written in the byte alphabet (byte_alphabet.h)
  kStandIns,   ///< characters of the byte alphabet; words are already converted to it
  kCharacters, ///< characters
};

/// The model, and the steps before and after it.
struct TokenizerDefinition {
  std::string file; ///< for messages
  std::unique_ptr<TokenModel> model;
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> preTokenizer;
  std::vector<DecoderStep> decoder;
  AroundText around;
  Units units = Units::kBytes;
};

} // namespace trainc
