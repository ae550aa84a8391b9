#include "lib/Planner/Space.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace trainc {

SearchSpace::SearchSpace() {
  for (std::vector<Value> &each : values)
    each.resize(1);
}

bool SearchSpace::hasChoice() const {
  return any_of(values, [](const auto &each) { return each.size() > 1; });
}

bool SearchSpace::copies(const Strategy &strategy) const {
  return copiesAnyway || strategy[kStates] > 0 || strategy[kActivations] > 0;
}

size_t SearchSpace::lastLevel(const Strategy &strategy) const {
  const bool gathersAhead = values[kSharding][strategy[kSharding]].gathersAhead;
  return size(kRecomputation) - (lastGathersNothing && !gathersAhead ? 2 : 1);
}

Settings SearchSpace::settingsOf(const Strategy &strategy) const {
  Settings settings;
  for (const Dimension dimension : {kSharding, kStates, kActivations, kMicroBatches, kRecomputation})
    for (const train::GivenSetting &setting : values[dimension][strategy[dimension]].settings) {
      const auto same =
          find_if(settings, [&](const train::GivenSetting &each) { return each.word == setting.word; });
      if (same == settings.end())
        settings.push_back(setting);
      else
        same->value += "," + setting.value;
    }
  return settings;
}

std::vector<Settings> combine(const std::vector<Settings> &ways, ArrayRef<train::GivenSetting> values) {
  std::vector<Settings> result;
  for (const Settings &way : ways)
    for (const train::GivenSetting &value : values) {
      result.push_back(way);
      result.back().push_back(value);
    }
  return result;
}

} // namespace trainc
