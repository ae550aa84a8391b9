// Kinds of tokens in GGUF files, and the steps of byte-level tokenizers before the model by their names
// there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

namespace trainc {

/// Kinds of tokens in `tokenizer.ggml.token_type`.
enum class GgufTokenKind : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

enum class GgufStepsKind {
  kByteLevel,       ///< GPT-2's pattern
  kDigits,          ///< single digits, then GPT-2's pattern
  kFalcon,          ///< punctuation, GPT-2's pattern, three digits
  kBloom,           ///< spaces and punctuation end a word
  kThreeDigits,     ///< Llama 3's pattern: up to three digits
  kOneDigit,        ///< the same with single digits
  kOneDigitAndForm, ///< the same in Unicode's form NFC
};

/// Value of `tokenizer.ggml.pre`, which llama.cpp's converter found for a tokenizer.
struct GgufSteps {
  std::string_view name;
  GgufStepsKind kind;
  bool ignoresMerges = false; ///< a word that is a token is that token
  bool hasBegin = false;      ///< the token of a text's begin is added unless the file says otherwise
};

/// All steps that have a name, the usual name of equal ones first.
std::span<const GgufSteps> ggufSteps();

/// The steps as the `pre_tokenizer` of a tokenizer.json.
nlohmann::json ggufPreTokenizer(const GgufSteps &steps);
/// The steps' `normalizer`; null if there is none.
nlohmann::json ggufNormalizer(const GgufSteps &steps);

} // namespace trainc
