#include "lib/Instantiate/ModelChecksum.h"

#include "base/hash.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace trainc;

uint64_t trainc::modelChecksum(nn::ModelOp model) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  SymbolTableCollection symbols;
  llvm::SetVector<Operation *> used;
  used.insert(model);
  for (size_t next = 0; next < used.size(); ++next) {
    Operation *op = used[next];
    // In local scope, because otherwise each print numbers the values of the whole module.
    op->print(stream, OpPrintingFlags().printGenericOpForm().enableDebugInfo(false).useLocalScope());
    const std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(op);
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *block = symbols.lookupNearestSymbolFrom(op->getParentOp(), use.getSymbolRef()))
        used.insert(block);
  }
  return std::max<uint64_t>(1, xxh3(std::as_bytes(std::span(text))));
}
