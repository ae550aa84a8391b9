#include "dialects/Train/Adapters.h"

#include "base/name_pattern.h"
#include "dialects/Train/ProgramSettings.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

/// Returns the patterns of a setting; none if it is not set, or "none".
static SmallVector<StringRef> patternsOf(ProgramOp program, const Text &setting) {
  const std::string_view list = setting.of(program);
  SmallVector<StringRef> patterns;
  if (list != "none")
    for (std::string_view pattern : elementsOf(list))
      patterns.push_back(pattern);
  return patterns;
}

AdapterSettings train::adaptersOf(ProgramOp program) {
  return {patternsOf(program, kLora), patternsOf(program, kLoraModulesToSave),
          kLoraRank.of(program),      kLoraAlpha.of(program),
          kLoraRslora.of(program),    kLoraDropout.of(program)};
}

bool train::matchesLayer(StringRef pattern, StringRef layer) {
  return matchesPattern(pattern, layer) || matchesPattern(("*." + pattern).str(), layer);
}
