#include "lib/Pipelines/Settings.h"

#include "dialects/Train/ProgramSettings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace trainc {

bool isDecided(train::ProgramOp program, StringRef word) {
  DictionaryAttr sources = program.getSourcesAttr();
  return sources && sources.contains(word);
}

bool isGiven(train::ProgramOp program, StringRef word) {
  return isDecided(program, word) && !train::isDerived(program, word);
}

void decide(train::ProgramOp program, const Settings &settings, StringRef source) {
  std::vector<train::GivenSetting> chosen;
  for (const auto &[word, value] : settings)
    chosen.push_back({word, value});
  train::setDerived(program, chosen, source);
}

std::string asOptions(ArrayRef<SettingValue> settings) {
  std::string text;
  for (const auto &[word, value] : settings)
    text += llvm::formatv("{0}{1}={2}", text.empty() ? "" : " ", train::findSetting(word)->option(), value);
  return text;
}

bool isOfOffload(const SettingValue &setting) {
  return train::findSetting(setting.word)->theme == train::Theme::Offload;
}

bool isOfCheckpoints(const SettingValue &setting) {
  return train::findSetting(setting.word)->theme == train::Theme::Checkpointing;
}

bool isLate(const SettingValue &setting) {
  constexpr StringRef kOfGathers[] = {"max_reuse_distance", "prefetch", "reshard_after_forward"};
  return isOfOffload(setting) || isOfCheckpoints(setting) || llvm::is_contained(kOfGathers, setting.word);
}

} // namespace trainc
