#include "runtime/data/tokenizer/gguf_steps.h"

#include <fmt/format.h>

namespace trainc {

namespace {

using Json = nlohmann::json;
using enum GgufStepsKind;

constexpr GgufSteps kSteps[] = {
    {"gpt-2", kByteLevel},
    {"phi-2", kByteLevel},
    {"olmo", kByteLevel},
    {"mpt", kByteLevel},
    {"jais", kByteLevel},
    {"roberta-bpe", kByteLevel},
    {"smollm", kDigits},
    {"starcoder", kDigits},
    {"refact", kDigits},
    {"codeshell", kDigits},
    {"exaone", kDigits},
    {"falcon", kFalcon},
    {"bloom", kBloom},
    {"poro-chat", kBloom},
    {"gpt3-finnish", kBloom},
    {"llama-bpe", kThreeDigits, true, true},
    {"llama-v3", kThreeDigits, true, true},
    {"llama3", kThreeDigits, true, true},
    {"falcon3", kThreeDigits, true},
    {"pixtral", kThreeDigits, true},
    {"dbrx", kThreeDigits},
    {"smaug-bpe", kThreeDigits},
    {"qwen2", kOneDigitAndForm},
    {"deepseek-r1-qwen", kOneDigitAndForm},
    {"stablelm2", kOneDigit},
};

Json sequenceOf(Json steps) { return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}}; }

Json byteLevelStep(bool usesPattern) {
  return {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", usesPattern}};
}

Json digitsStep(bool individual) { return {{"type", "Digits"}, {"individual_digits", individual}}; }

Json isolatedStep(const std::string &pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

/// Llama 3's pattern with `digits` for numbers: contractions; letters after one other character; numbers;
/// other characters; ends of lines; spaces.
std::string wordPattern(std::string_view digits) {
  return fmt::format(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*)"
      R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
      digits);
}

} // namespace

std::span<const GgufSteps> ggufSteps() { return kSteps; }

Json ggufPreTokenizer(const GgufSteps &steps) {
  switch (steps.kind) {
  case kByteLevel:
    return byteLevelStep(true);
  case kDigits:
    return sequenceOf(Json::array({digitsStep(true), byteLevelStep(true)}));
  case kFalcon:
    return sequenceOf(Json::array({{{"type", "Punctuation"}, {"behavior", "Contiguous"}},
                                   byteLevelStep(true),
                                   digitsStep(false),
                                   isolatedStep("[0-9][0-9][0-9]")}));
  case kBloom:
    return sequenceOf(Json::array({isolatedStep(R"( ?[^(\s|[.,!?…。，、।۔،])]+)"), byteLevelStep(false)}));
  case kThreeDigits:
    return sequenceOf(Json::array({isolatedStep(wordPattern(R"(\p{N}{1,3})")), byteLevelStep(false)}));
  case kOneDigit:
  case kOneDigitAndForm:
    return sequenceOf(Json::array({isolatedStep(wordPattern(R"(\p{N})")), byteLevelStep(false)}));
  }
  return nullptr;
}

Json ggufNormalizer(const GgufSteps &steps) {
  return steps.kind == kOneDigitAndForm ? Json({{"type", "NFC"}}) : Json();
}

} // namespace trainc
