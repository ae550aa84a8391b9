#include "runtime/training/tokenizer_choice.h"

#include "base/plain_text.h"
#include "runtime/data/file_patterns.h"

#include <charconv>

namespace trainc {

namespace {

constexpr const char *kName = "tokenizer", *kXxh3 = "tokenizer_xxh3", *kEndToken = "end_token";
constexpr std::string_view kBytes = "bytes";

} // namespace

std::optional<TokenizerRecord> recordedTokenizer(const std::map<std::string, std::string> &environment) {
  const auto name = environment.find(kName);
  const auto xxh3 = environment.find(kXxh3);
  if (name == environment.end() || xxh3 == environment.end())
    return std::nullopt;
  TokenizerRecord record{name->second, 0};
  const std::string &digits = xxh3->second;
  std::from_chars(digits.data(), digits.data() + digits.size(), record.xxh3, 16);
  if (const auto endToken = environment.find(kEndToken); endToken != environment.end())
    record.endToken = endToken->second;
  return record;
}

Result<std::optional<DataTokenizer>> tokenizerOfData(const RunOptions &options) {
  std::optional<DataTokenizer> found;
  std::filesystem::path first;
  for (const auto &[option, patterns] :
       {std::pair("--data", &options.data), std::pair("--eval-data", &options.evalData)}) {
    if (patterns->empty())
      continue;
    TRAINC_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> files, expandPatterns(*patterns));
    for (const std::filesystem::path &file : files) {
      TRAINC_ASSIGN_OR_RETURN(const std::optional<TokenSidecar> sidecar, readTokenSidecar(file));
      if (!sidecar)
        continue;
      if (found && found->record.xxh3 != sidecar->tokenizer.xxh3)
        return invalidInput(
            "{}: {} was made with the tokenizer '{}', {} with '{}'; tokenize them with the same one", option,
            first.string(), printable(found->record.name), file.string(), printable(sidecar->tokenizer.name));
      if (!found) {
        found = {sidecar->tokenizer, option};
        first = file;
      }
      if (found->record.endToken.empty())
        found->record.endToken = sidecar->tokenizer.endToken;
    }
  }
  return found;
}

void recordTokenizer(const TokenizerRecord &tokenizer, TrainerState &position) {
  position.environment[kName] = tokenizer.name;
  position.environment[kXxh3] = fmt::format("{:016x}", tokenizer.xxh3);
  position.environment.erase(kEndToken);
  if (!tokenizer.endToken.empty())
    position.environment[kEndToken] = tokenizer.endToken;
}

/// A model trained with one kind of tokenizer produces nonsense with the other. Different files of the same
/// kind may hold the same ids, so these are accepted.
static Status checkKind(const std::string &given, const TokenizerRecord &recorded, const std::string &by) {
  if ((given == kBytes) == (recorded.name == kBytes))
    return {};
  return invalidInput(
      "--tokenizer={}: {} names the tokenizer '{}', and the model knows no other ids; leave --tokenizer "
      "out, or name that one",
      given, by, printable(recorded.name));
}

Result<ChosenTokenizer> chooseTokenizer(const RunOptions &options, const TrainerState &position) {
  TRAINC_ASSIGN_OR_RETURN(const std::optional<DataTokenizer> ofData, tokenizerOfData(options));
  const std::optional<TokenizerRecord> recorded =
      ofData ? std::optional(ofData->record) : recordedTokenizer(position.environment);
  const std::string by = ofData ? "the JSON beside " + ofData->option : "the checkpoint";
  ChosenTokenizer chosen;
  if (recorded) {
    chosen.name = recorded->name;
    chosen.endToken = recorded->endToken;
  }
  if (!options.tokenizer.empty()) {
    if (recorded)
      TRAINC_RETURN_IF_ERROR(checkKind(options.tokenizer, *recorded, by));
    chosen.name = options.tokenizer;
    TRAINC_ASSIGN_OR_RETURN(chosen.tokenizer, openTokenizer(options.tokenizer));
    return chosen;
  }
  if (!recorded)
    return invalidInput(
        "--generate needs a tokenizer: give --tokenizer=bytes or =FILE; neither --data nor the "
        "checkpoint names one");
  TRAINC_ASSIGN_OR_RETURN(chosen.tokenizer, openRecordedTokenizer(*recorded, by));
  return chosen;
}

} // namespace trainc
