#include "lib/Pipelines/Settings.h"

#include "dialects/Train/ProgramSettings.h"
#include "plan/settings/settings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace trainc {

bool isDecided(train::ProgramOp program, const train::Setting &setting) {
  DictionaryAttr sources = program.getSourcesAttr();
  return sources && sources.contains(setting.name);
}

bool isGiven(train::ProgramOp program, const train::Setting &setting) {
  return isDecided(program, setting) && !train::isDerived(program, setting.name);
}

const train::Setting &settingOf(const train::GivenSetting &given) { return *train::findSetting(given.word); }

std::string asOptions(ArrayRef<train::GivenSetting> settings) {
  std::string text;
  for (const train::GivenSetting &each : settings)
    text += llvm::formatv("{0}{1}={2}", text.empty() ? "" : " ", settingOf(each).option(), each.value);
  return text;
}

Settings only(const Settings &settings, llvm::function_ref<bool(const train::GivenSetting &)> isWanted) {
  Settings wanted;
  llvm::copy_if(settings, std::back_inserter(wanted), isWanted);
  return wanted;
}

bool isOfOffload(const train::GivenSetting &setting) {
  return settingOf(setting).theme == train::Theme::Offload;
}

bool isOfCheckpoints(const train::GivenSetting &setting) {
  return settingOf(setting).theme == train::Theme::Checkpointing;
}

bool isLate(const train::GivenSetting &setting) {
  constexpr std::string_view kOfGathers[] = {train::kMaxReuseDistance.name, train::kPrefetch.name,
                                             train::kReshardAfterForward.name};
  return isOfOffload(setting) || isOfCheckpoints(setting) ||
         llvm::is_contained(kOfGathers, std::string_view(setting.word));
}

} // namespace trainc
