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
constexpr std::array<std::string_view, 4> kWordPatterns = {
    kGpt2,
    // Llama 3, and GPT-4's cl100k
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    // Qwen 2
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    // BLOOM
    R"( ?[^(\s|[.,!?…。，、।۔،])]+)"};

constexpr std::string_view kDecoders =
    "Replace by String, ByteFallback, Metaspace, WordPiece, Strip, Fuse, or a Sequence of these, "
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

/// A loader of steps of one type of a pipeline. An `isAlias` is another name of the type before it.
template <typename Pipeline> struct StepType {
  std::string_view name;
  Status (Pipeline::*add)(const Json &step);
  bool isAlias = false;
};

/// Loads a step by the table of its pipeline's types. Fails with kInvalidInput, naming all types, if there is
/// none of its name.
template <typename Pipeline>
Status addStep(Pipeline &pipeline, std::span<const StepType<Pipeline>> types, const std::string &file,
               const std::string &piece, const Json &step) {
  const std::string name = textOf(step, "type");
  std::string names;
  for (const StepType<Pipeline> &type : types) {
    if (type.name == name)
      return (pipeline.*type.add)(step);
    if (!type.isAlias)
      names += fmt::format("{}, ", type.name);
  }
  return unsupported(file, piece, step, names + "or a Sequence of these");
}

class Normalizers {
public:
  explicit Normalizers(TokenizerDefinition &definition) : definition_(definition) {}

  Status add(const Json &step) {
    static constexpr StepType<Normalizers> kTypes[] = {
        {"NFC", &Normalizers::addForm},
        {"NFD", &Normalizers::addForm},
        {"NFKC", &Normalizers::addForm},
        {"NFKD", &Normalizers::addForm},
        {"Lowercase", &Normalizers::addLowercase},
        {"StripAccents", &Normalizers::addStripAccents},
        {"Prepend", &Normalizers::addPrepend},
        {"Replace", &Normalizers::addReplace},
        {"Strip", &Normalizers::addStrip},
        {"Precompiled", &Normalizers::addPrecompiled},
        {"Nmt", &Normalizers::addNmt},
        {"BertNormalizer", &Normalizers::addBert},
    };
    return addStep<Normalizers>(*this, kTypes, definition_.file, "normalizer", step);
  }

private:
  Status addForm(const Json &step) {
    const std::string type = textOf(step, "type");
    steps_.emplace_back(UnicodeForm{.compose = type.ends_with('C'), .compatible = type.size() == 4});
    return {};
  }

  Status addLowercase(const Json &) {
    steps_.emplace_back(Lowercase{});
    return {};
  }

  Status addStripAccents(const Json &) {
    steps_.emplace_back(StripAccents{});
    return {};
  }

  Status addPrepend(const Json &step) {
    if (!field(step, "prepend").is_string())
      return unsupported(definition_.file, "normalizer", step, "a string 'prepend'");
    steps_.emplace_back(Prepend{textOf(step, "prepend")});
    return {};
  }

  Status addReplace(const Json &step) {
    if (!field(step, "content").is_string())
      return unsupported(definition_.file, "normalizer", step, "a string 'content'");
    TRAINC_ASSIGN_OR_RETURN(Regex pattern, readPattern(definition_.file, "normalizer", step));
    // At the begin of a text Hugging Face replaces an empty match twice.
    if (pattern.matchesEmpty())
      return unsupported(definition_.file, "normalizer", step,
                         "a pattern that does not match the empty text");
    const std::string content = textOf(step, "content");
    const bool isSpaceToMeta = content == kMeta && textOf(field(step, "pattern"), "String") == " ";
    steps_.emplace_back(Replace{std::move(pattern), content, isSpaceToMeta});
    return {};
  }

  Status addStrip(const Json &step) {
    steps_.emplace_back(
        StripSpaces{booleanOf(step, "strip_left", true), booleanOf(step, "strip_right", true)});
    return {};
  }

  Status addPrecompiled(const Json &step) {
    const Json &map = field(step, "precompiled_charsmap");
    if (!map.is_string())
      return unsupported(definition_.file, "normalizer", step, "a string 'precompiled_charsmap'");
    TRAINC_ASSIGN_OR_RETURN(CharacterMap read, CharacterMap::read(definition_.file + ": normalizer",
                                                                  map.get_ref<const std::string &>()));
    steps_.emplace_back(std::move(read));
    return {};
  }

  Status addNmt(const Json &) {
    steps_.emplace_back(CleanNmt{});
    return {};
  }

  Status addBert(const Json &step) {
    const bool lowercase = booleanOf(step, "lowercase", true);
    if (booleanOf(step, "clean_text", true))
      steps_.emplace_back(CleanBert{});
    if (booleanOf(step, "handle_chinese_chars", true))
      steps_.emplace_back(SeparateHan{});
    if (booleanOf(step, "strip_accents", lowercase)) {
      steps_.emplace_back(UnicodeForm{.compose = false, .compatible = false});
      steps_.emplace_back(StripNonspacing{});
    }
    if (lowercase)
      steps_.emplace_back(Lowercase{});
    return {};
  }

  TokenizerDefinition &definition_;
  std::vector<NormalizerStep> &steps_ = definition_.normalizer;
};

class PreTokenizers {
public:
  explicit PreTokenizers(TokenizerDefinition &definition)
      : definition_(definition), steps_(definition.preTokenizer) {}

  Status add(const Json &step, bool last) {
    static constexpr StepType<PreTokenizers> kTypes[] = {
        {"ByteLevel", &PreTokenizers::addByteLevelStep},
        {"Split", &PreTokenizers::addSplit},
        {"Metaspace", &PreTokenizers::addMetaspace},
        {"Whitespace", &PreTokenizers::addWhitespace},
        {"WhitespaceSplit", &PreTokenizers::addWhitespaceSplit},
        {"Punctuation", &PreTokenizers::addPunctuation},
        {"Digits", &PreTokenizers::addDigits},
        {"CharDelimiterSplit", &PreTokenizers::addDelimiter},
        {"Delimiter", &PreTokenizers::addDelimiter, /*isAlias=*/true},
        {"BertPreTokenizer", &PreTokenizers::addBert},
    };
    isLast_ = last;
    return addStep<PreTokenizers>(*this, kTypes, definition_.file, "pre_tokenizer", step);
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

  // Rust's character classes, which may differ from PCRE2's of the same name.
  Status addWhitespace(const Json &) {
    return addPattern(
        R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{wspace}]+)",
        SplitBehavior::kRemoved, SplitReach::kSpace, /*invert=*/true);
  }

  Status addWhitespaceSplit(const Json &) {
    return addPattern(R"(\p{wspace})", SplitBehavior::kRemoved, SplitReach::kSpace);
  }

  Status addDigits(const Json &step) {
    TRAINC_ASSIGN_OR_RETURN(
        Regex regex, Regex::compileOniguruma(definition_.file + ": pre_tokenizer: Digits", R"(\p{N})"));
    const bool individual = booleanOf(step, "individual_digits");
    steps_.emplace_back(Split{std::move(regex),
                              individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous, false,
                              SplitReach::kCharacter});
    return {};
  }

  Status addBert(const Json &step) {
    TRAINC_RETURN_IF_ERROR(addWhitespaceSplit(step));
    return addPunctuationPattern(SplitBehavior::kIsolated);
  }

  Status addByteLevelStep(const Json &step) {
    if (definition_.units != Units::kCharacters)
      return unsupported(definition_.file, "pre_tokenizer", step, "one ByteLevel");
    TRAINC_RETURN_IF_ERROR(addByteLevel(booleanOf(step, "add_prefix_space", true),
                                        booleanOf(step, "use_regex", true), definition_));
    if (!isLast_) {
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

  TokenizerDefinition &definition_;
  std::vector<PreTokenizerStep> &steps_;
  bool isLast_ = false; ///< whether the step that is being added is the last one
};

class Decoders {
public:
  explicit Decoders(TokenizerDefinition &definition) : definition_(definition), steps_(definition.decoder) {}

  Status add(const Json &step) {
    constexpr std::pair<std::string_view, bool (Decoders::*)(const Json &)> kTypes[] = {
        {"Replace", &Decoders::addReplace},     {"ByteFallback", &Decoders::addByteFallback},
        {"Metaspace", &Decoders::addMetaspace}, {"WordPiece", &Decoders::addWordPiece},
        {"Strip", &Decoders::addStrip},         {"Fuse", &Decoders::addFuse},
    };
    const std::string name = textOf(step, "type");
    for (const auto &[type, add] : kTypes)
      if (type == name && (this->*add)(step))
        return {};
    return unsupported(definition_.file, "decoder", step, kDecoders);
  }

private:
  bool isPerToken() const { return !fused_ && !fallen_; }

  // Each adds a step, or returns false if the step is not supported at its position.

  bool addReplace(const Json &step) {
    const std::string pattern = textOf(field(step, "pattern"), "String");
    if (!isPerToken() || pattern.empty())
      return false;
    steps_.emplace_back(ReplaceInToken{pattern, textOf(step, "content")});
    return true;
  }

  bool addByteFallback(const Json &) {
    if (!isPerToken())
      return false;
    steps_.emplace_back(FallbackBytes{});
    return fallen_ = true;
  }

  bool addMetaspace(const Json &step) {
    const std::string replacement =
        field(step, "replacement").is_null() ? std::string(kMeta) : textOf(step, "replacement");
    if (!isPerToken() || replacement.empty())
      return false;
    steps_.emplace_back(MetaspaceToSpace{replacement, booleanOf(step, "add_prefix_space", true) &&
                                                          textOf(step, "prepend_scheme") != "never"});
    return true;
  }

  bool addWordPiece(const Json &step) {
    if (!isPerToken())
      return false;
    steps_.emplace_back(JoinWordPieces{textOf(step, "prefix"), booleanOf(step, "cleanup", true)});
    return true;
  }

  bool addStrip(const Json &step) {
    const StripFrom strip{textOf(step, "content"), countOf(step, "start"), countOf(step, "stop"), fused_};
    if (!isOneCharacter(strip.content) || !(fused_ ? strip.stop == 0 : isPerToken()))
      return false;
    steps_.emplace_back(strip);
    return true;
  }

  bool addFuse(const Json &) { return fused_ = true; }

  static uint64_t countOf(const Json &step, const char *key) {
    const Json &value = field(step, key);
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  }

  TokenizerDefinition &definition_;
  std::vector<DecoderStep> &steps_;
  bool fused_ = false;  ///< after Fuse: the tokens are one text
  bool fallen_ = false; ///< after ByteFallback: consecutive bytes are one text
};

} // namespace

Status readNormalizer(const Json &json, TokenizerDefinition &definition) {
  Normalizers normalizers(definition);
  TRAINC_ASSIGN_OR_RETURN(const std::vector<const Json *> steps,
                          stepsOf(definition.file, "normalizer", json, "normalizers"));
  for (const Json *step : steps)
    TRAINC_RETURN_IF_ERROR(normalizers.add(*step));
  return {};
}

Status readPreTokenizer(const Json &json, TokenizerDefinition &definition) {
  definition.units = Units::kCharacters;
  PreTokenizers preTokenizers(definition);
  TRAINC_ASSIGN_OR_RETURN(const std::vector<const Json *> steps,
                          stepsOf(definition.file, "pre_tokenizer", json, "pretokenizers"));
  for (const Json *step : steps)
    TRAINC_RETURN_IF_ERROR(preTokenizers.add(*step, step == steps.back()));
  return {};
}

Status addByteLevel(bool prefixSpace, bool ownPattern, TokenizerDefinition &definition) {
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

Status readDecoder(const Json &json, TokenizerDefinition &definition) {
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
