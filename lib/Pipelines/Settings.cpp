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

std::string asOptions(ArrayRef<train::GivenSetting> settings) {
  std::string text;
  for (const auto &[word, value] : settings)
    text += llvm::formatv("{0}{1}={2}", text.empty() ? "" : " ", train::findSetting(word)->option(), value);
  return text;
}

Settings only(const Settings &settings, llvm::function_ref<bool(const train::GivenSetting &)> isWanted) {
  Settings wanted;
  llvm::copy_if(settings, std::back_inserter(wanted), isWanted);
  return wanted;
}

bool isOfOffload(const train::GivenSetting &setting) {
  return train::findSetting(setting.word)->theme == train::Theme::Offload;
}

bool isOfCheckpoints(const train::GivenSetting &setting) {
  return train::findSetting(setting.word)->theme == train::Theme::Checkpointing;
}

bool isLate(const train::GivenSetting &setting) {
  constexpr StringRef kOfGathers[] = {"max_reuse_distance", "prefetch", "reshard_after_forward"};
  return isOfOffload(setting) || isOfCheckpoints(setting) || llvm::is_contained(kOfGathers, setting.word);
}

} // namespace trainc
