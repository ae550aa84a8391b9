#include "runtime/data/tokenizer/pipeline_json.h"

#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/unicode.h"
#include "runtime/data/tokenizer/unicode_classes.h"

#include <algorithm>
#include <array>

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// Patterns that cut between a letter and a space, whatever comes before and after.
constexpr std::array<std::string_view, 3> kWordPatterns = {
    kGpt2,
    // Llama 3, and GPT-4's cl100k
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    // Qwen 2
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

constexpr std::string_view kNormalizers =
    "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Prepend, Replace, or a Sequence of these";
constexpr std::string_view kPreTokenizers =
    "ByteLevel, Split, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits, "
    "CharDelimiterSplit, BertPreTokenizer, or a Sequence of these";
constexpr std::string_view kDecoders =
    "Replace by String, ByteFallback, Metaspace, Strip, Fuse, or a Sequence of these, "
    "with ByteFallback after Replace and nothing but Strip after it and after Fuse";

/// Reads a pattern {"Regex": ...} or {"String": ...}.
Result<Regex> readPattern(const std::string &file, const std::string &piece, const Json &step) {
  const Json &pattern = field(step, "pattern");
  const std::string where = file + ": " + piece + ": " + textOf(step, "type");
  if (const Json &regex = field(pattern, "Regex"); regex.is_string())
    return Regex::compileOniguruma(where, regex.get_ref<const std::string &>());
  if (const std::string text = textOf(pattern, "String"); !text.empty())
    return Regex::literal(where, text);
  return unsupported(file, piece, step, "a 'pattern' with a 'Regex' or a 'String' that is not empty");
}

class Normalizers {
public:
  explicit Normalizers(BpeDefinition &definition) : definition_(definition) {}

  Status add(const Json &step) {
    const std::string type = textOf(step, "type");
    std::vector<NormalizerStep> &steps = definition_.normalizer;
    if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
      steps.emplace_back(UnicodeForm{.compose = type.ends_with('C'), .compatible = type.size() == 4});
    } else if (type == "Lowercase") {
      steps.emplace_back(Lowercase{});
    } else if (type == "StripAccents") {
      steps.emplace_back(StripAccents{});
    } else if (type == "Prepend" && field(step, "prepend").is_string()) {
      steps.emplace_back(Prepend{textOf(step, "prepend")});
    } else if (type == "Replace" && field(step, "content").is_string()) {
      TRAINC_ASSIGN_OR_RETURN(Regex pattern, readPattern(definition_.file, "normalizer", step));
      const std::string content = textOf(step, "content");
      const bool isSpaceToMeta = content == kMeta && textOf(field(step, "pattern"), "String") == " ";
      steps.emplace_back(Replace{std::move(pattern), content, isSpaceToMeta});
    } else {
      return unsupported(definition_.file, "normalizer", step, kNormalizers);
    }
    return {};
  }

private:
  BpeDefinition &definition_;
};

class PreTokenizers {
public:
  explicit PreTokenizers(BpeDefinition &definition)
      : definition_(definition), steps_(definition.preTokenizer) {}

  Status add(const Json &step, bool last) {
    const std::string type = textOf(step, "type");
    if (type == "ByteLevel")
      return addByteLevelStep(step, last);
    if (type == "Split")
      return addSplit(step);
    if (type == "Metaspace")
      return addMetaspace(step);
    // Rust's character classes, which may differ from PCRE2's of the same name.
    if (type == "Whitespace")
      return addPattern(
          R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{wspace}]+)",
          SplitBehavior::kRemoved, SplitReach::kWord, /*invert=*/true);
    if (type == "WhitespaceSplit")
      return addPattern(R"(\p{wspace})", SplitBehavior::kRemoved, SplitReach::kWord);
    if (type == "Digits")
      return addPattern(R"(\p{N})", booleanOf(step, "individual_digits") ? SplitBehavior::kIsolated
                                                                         : SplitBehavior::kContiguous);
    if (type == "Punctuation")
      return addPunctuation(step);
    if (type == "CharDelimiterSplit" || type == "Delimiter")
      return addDelimiter(step);
    if (type == "BertPreTokenizer") {
      TRAINC_RETURN_IF_ERROR(addPattern(R"(\p{wspace})", SplitBehavior::kRemoved, SplitReach::kWord));
      return addPunctuationPattern(SplitBehavior::kIsolated);
    }
    return unsupported(definition_.file, "pre_tokenizer", step, kPreTokenizers);
  }

private:
  Status addPunctuationPattern(SplitBehavior behavior) {
    std::string characters;
    for (const auto &[first, last] : punctuationRanges())
      characters += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", first, last);
    return addPattern("[" + characters + "]", behavior);
  }

  Status addPattern(const std::string &pattern, SplitBehavior behavior,
                    SplitReach reach = SplitReach::kCharacter, bool invert = false) {
    TRAINC_ASSIGN_OR_RETURN(Regex regex,
                            Regex::compile(definition_.file + ": pre_tokenizer", pattern, pattern));
    steps_.emplace_back(Split{std::move(regex), behavior, invert, reach});
    return {};
  }

  Status addByteLevelStep(const Json &step, bool last) {
    if (definition_.units != Units::kCharacters)
      return unsupported(definition_.file, "pre_tokenizer", step, "one ByteLevel");
    TRAINC_RETURN_IF_ERROR(addByteLevel(booleanOf(step, "add_prefix_space", true),
                                        booleanOf(step, "use_regex", true), definition_));
    if (!last) {
      steps_.emplace_back(ToByteAlphabet{});
      definition_.units = Units::kStandIns;
    }
    return {};
  }

  Status addSplit(const Json &step) {
    const std::optional<SplitBehavior> behavior = behaviorOf(textOf(step, "behavior"));
    if (!behavior)
      return unsupported(definition_.file, "pre_tokenizer", step, kBehaviors);
    TRAINC_ASSIGN_OR_RETURN(Regex regex, readPattern(definition_.file, "pre_tokenizer", step));
    const Json &pattern = field(step, "pattern");
    const bool words = *behavior == SplitBehavior::kIsolated &&
                       std::ranges::find(kWordPatterns, textOf(pattern, "Regex")) != kWordPatterns.end();
    const SplitReach reach = words                                       ? SplitReach::kWord
                             : isOneCharacter(textOf(pattern, "String")) ? SplitReach::kCharacter
                                                                         : SplitReach::kWhole;
    steps_.emplace_back(Split{std::move(regex), *behavior, booleanOf(step, "invert"), reach});
    return {};
  }

  Status addMetaspace(const Json &step) {
    const std::string replacement =
        field(step, "replacement").is_null() ? std::string(kMeta) : textOf(step, "replacement");
    const std::string scheme = !booleanOf(step, "add_prefix_space", true) ? "never"
                               : field(step, "prepend_scheme").is_null()  ? "always"
                                                                          : textOf(step, "prepend_scheme");
    if (!isOneCharacter(replacement) || (scheme != "never" && scheme != "first" && scheme != "always"))
      return unsupported(definition_.file, "pre_tokenizer", step,
                         "a 'replacement' of one character and the 'prepend_scheme' always, first or never");
    steps_.emplace_back(Metaspace{replacement, scheme == "never"   ? Metaspace::Before::kNever
                                               : scheme == "first" ? Metaspace::Before::kFirst
                                                                   : Metaspace::Before::kAlways});
    if (!booleanOf(step, "split", true))
      return {};
    TRAINC_ASSIGN_OR_RETURN(Regex regex,
                            Regex::literal(definition_.file + ": pre_tokenizer: Metaspace", replacement));
    steps_.emplace_back(Split{std::move(regex), SplitBehavior::kMergedWithNext, false,
                              replacement == kMeta ? SplitReach::kMeta : SplitReach::kCharacter});
    return {};
  }

  Status addPunctuation(const Json &step) {
    const Json &name = field(step, "behavior");
    const std::optional<SplitBehavior> behavior =
        name.is_null() ? SplitBehavior::kIsolated : behaviorOf(textOf(step, "behavior"));
    if (!behavior)
      return unsupported(definition_.file, "pre_tokenizer", step, kBehaviors);
    return addPunctuationPattern(*behavior);
  }

  Status addDelimiter(const Json &step) {
    const std::string delimiter = textOf(step, "delimiter");
    if (!isOneCharacter(delimiter))
      return unsupported(definition_.file, "pre_tokenizer", step, "a 'delimiter' of one character");
    TRAINC_ASSIGN_OR_RETURN(
        Regex regex, Regex::literal(definition_.file + ": pre_tokenizer: CharDelimiterSplit", delimiter));
    steps_.emplace_back(Split{std::move(regex), SplitBehavior::kRemoved, false, SplitReach::kCharacter});
    return {};
  }

  static constexpr std::string_view kBehaviors =
      "the behavior Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous";
  static std::optional<SplitBehavior> behaviorOf(const std::string &name) {
    constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kNames = {
        {{"Removed", SplitBehavior::kRemoved},
         {"Isolated", SplitBehavior::kIsolated},
         {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
         {"MergedWithNext", SplitBehavior::kMergedWithNext},
         {"Contiguous", SplitBehavior::kContiguous}}};
    for (const auto &[known, behavior] : kNames)
      if (known == name)
        return behavior;
    return std::nullopt;
  }

  BpeDefinition &definition_;
  std::vector<PreTokenizerStep> &steps_;
};

class Decoders {
public:
  explicit Decoders(BpeDefinition &definition) : definition_(definition), steps_(definition.decoder) {}

  Status add(const Json &step) {
    const std::string type = textOf(step, "type");
    const bool perToken = !fused_ && !fallen_;
    if (type == "Fuse" || (type == "ByteFallback" && perToken)) {
      if (type == "ByteFallback")
        steps_.emplace_back(FallbackBytes{});
      (type == "Fuse" ? fused_ : fallen_) = true;
    } else if (const std::string pattern = textOf(field(step, "pattern"), "String");
               type == "Replace" && perToken && !pattern.empty()) {
      steps_.emplace_back(ReplaceInToken{pattern, textOf(step, "content")});
    } else if (type == "Metaspace" && perToken) {
      const std::string replacement =
          field(step, "replacement").is_null() ? std::string(kMeta) : textOf(step, "replacement");
      if (replacement.empty())
        return unsupported(definition_.file, "decoder", step, "a 'replacement'");
      steps_.emplace_back(MetaspaceToSpace{replacement, booleanOf(step, "add_prefix_space", true) &&
                                                            textOf(step, "prepend_scheme") != "never"});
    } else if (const StripFrom strip{textOf(step, "content"), countOf(step, "start"), countOf(step, "stop"),
                                     fused_};
               type == "Strip" && isOneCharacter(strip.content) && (fused_ ? strip.stop == 0 : perToken)) {
      steps_.emplace_back(strip);
    } else {
      return unsupported(definition_.file, "decoder", step, kDecoders);
    }
    return {};
  }

private:
  static uint64_t countOf(const Json &step, const char *key) {
    const Json &value = field(step, key);
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  }

  BpeDefinition &definition_;
  std::vector<DecoderStep> &steps_;
  bool fused_ = false;  ///< after Fuse: the tokens are one text
  bool fallen_ = false; ///< after ByteFallback: consecutive bytes are one text
};

} // namespace

Status readNormalizer(const Json &json, BpeDefinition &definition) {
  Normalizers normalizers(definition);
  TRAINC_ASSIGN_OR_RETURN(const std::vector<const Json *> steps,
                          stepsOf(definition.file, "normalizer", json, "normalizers"));
  for (const Json *step : steps)
    TRAINC_RETURN_IF_ERROR(normalizers.add(*step));
  return {};
}

Status readPreTokenizer(const Json &json, BpeDefinition &definition) {
  definition.units = Units::kCharacters;
  PreTokenizers preTokenizers(definition);
  TRAINC_ASSIGN_OR_RETURN(const std::vector<const Json *> steps,
                          stepsOf(definition.file, "pre_tokenizer", json, "pretokenizers"));
  for (const Json *step : steps)
    TRAINC_RETURN_IF_ERROR(preTokenizers.add(*step, step == steps.back()));
  return {};
}

Status addByteLevel(bool prefixSpace, bool ownPattern, BpeDefinition &definition) {
  definition.units = Units::kBytes;
  if (prefixSpace)
    definition.preTokenizer.emplace_back(PrefixSpace{});
  if (!ownPattern)
    return {};
  TRAINC_ASSIGN_OR_RETURN(Regex regex, Regex::compileOniguruma(definition.file, std::string(kGpt2)));
  definition.preTokenizer.emplace_back(
      Split{std::move(regex), SplitBehavior::kIsolated, false, SplitReach::kWord});
  return {};
}

Status readDecoder(const Json &json, BpeDefinition &definition) {
  TRAINC_ASSIGN_OR_RETURN(const std::vector<const Json *> steps,
                          stepsOf(definition.file, "decoder", json, "decoders"));
  if (definition.units != Units::kCharacters) {
    for (const Json *step : steps)
      if (textOf(*step, "type") != "ByteLevel" && textOf(*step, "type") != "Fuse")
        return unsupported(definition.file, "decoder", *step, "ByteLevel, as in pre_tokenizer");
    definition.decoder.emplace_back(FromByteAlphabet{});
    return {};
  }
  if (steps.empty())
    definition.decoder.emplace_back(JoinWithSpaces{});
  Decoders decoders(definition);
  for (const Json *step : steps)
    TRAINC_RETURN_IF_ERROR(decoders.add(*step));
  return {};
}

} // namespace trainc
