#include "runtime/training/tokenizer_choice.h"

#include "runtime/data/file_patterns.h"
#include "runtime/schema/plain_text.h"

#include <charconv>

namespace trainc {

namespace {

constexpr const char *kName = "tokenizer", *kXxh3 = "tokenizer_xxh3";

} // namespace

std::optional<TokenizerRecord> recordedTokenizer(const TrainerState &position) {
  const auto name = position.environment.find(kName);
  const auto xxh3 = position.environment.find(kXxh3);
  if (name == position.environment.end() || xxh3 == position.environment.end())
    return std::nullopt;
  TokenizerRecord record{name->second, 0};
  const std::string &digits = xxh3->second;
  std::from_chars(digits.data(), digits.data() + digits.size(), record.xxh3, 16);
  return record;
}

Result<std::optional<TokenizerRecord>> tokenizerOfData(const RunOptions &options) {
  std::optional<TokenizerRecord> record;
  if (options.data.empty())
    return record;
  TRAINC_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> files, expandPatterns(options.data));
  std::filesystem::path first;
  for (const std::filesystem::path &file : files) {
    TRAINC_ASSIGN_OR_RETURN(const std::optional<TokenSidecar> sidecar, readTokenSidecar(file));
    if (!sidecar)
      continue;
    if (record && record->xxh3 != sidecar->tokenizer.xxh3)
      return invalidInput(
          "--data: {} was made with the tokenizer '{}', {} with '{}'; tokenize them with the same one",
          first.string(), printable(record->name), file.string(), printable(sidecar->tokenizer.name));
    if (!record) {
      record = sidecar->tokenizer;
      first = file;
    }
  }
  return record;
}

void recordTokenizer(const TokenizerRecord &tokenizer, TrainerState &position) {
  position.environment[kName] = tokenizer.name;
  position.environment[kXxh3] = fmt::format("{:016x}", tokenizer.xxh3);
}

Result<std::unique_ptr<Tokenizer>> chooseTokenizer(const RunOptions &options, const TrainerState &position) {
  if (!options.tokenizer.empty())
    return openTokenizer(options.tokenizer);
  TRAINC_ASSIGN_OR_RETURN(const std::optional<TokenizerRecord> ofData, tokenizerOfData(options));
  if (ofData)
    return openRecordedTokenizer(*ofData, "the JSON beside --data");
  if (const std::optional<TokenizerRecord> recorded = recordedTokenizer(position))
    return openRecordedTokenizer(*recorded, "the checkpoint");
  return invalidInput("--generate needs a tokenizer: give --tokenizer=bytes or =FILE; neither --data nor the "
                      "checkpoint names one");
}

} // namespace trainc
