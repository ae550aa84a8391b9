#include "lib/Instantiate/OffloadChecks.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace trainc;

/// Says which words do nothing, unless a memory limit may yet decide what is kept outside.
static void warnOfIdleOffload(train::ProgramOp program) {
  DictionaryAttr given = program.getSourcesAttr();
  const bool mayBeChosen = program.getMemoryLimit() && !program.getOffload();
  if (!given || mayBeChosen || train::offloadOf(program).any())
    return;
  for (StringRef word : {"offload_to", "offload_group"})
    if (given.get(word))
      program.emitWarning() << word << " (" << StringRef(train::findProgramWord(word)->option)
                            << ") does nothing without offload (--offload); give that as well, or leave it "
                               "out";
}

LogicalResult trainc::checkOffload(train::ProgramOp program) {
  const StringRef words = program.getOffload().value_or("none");
  llvm::StringSet<> seen;
  for (StringRef word : llvm::split(words, ','))
    if (!seen.insert(word).second || (word == "none" && words != "none"))
      return program.emitError("offload (--offload): expected each word once, or none alone, found ")
             << words;
  if (seen.contains("activations") && seen.contains("hidden_activations"))
    return program.emitError("offload (--offload): expected activations (all that can go), or "
                             "hidden_activations (as far as copies hide), found both");
  warnOfIdleOffload(program);
  return success();
}
