#include "lib/Support/SourceName.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace trainc {

StringRef scopeName(Location loc) {
  StringRef name;
  loc->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName().getValue();
    return WalkResult::interrupt();
  });
  return name;
}

FileLineColLoc fileLocation(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    found = dyn_cast<FileLineColLoc>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

std::string sourceName(Operation *op) {
  StringRef kind = op->getName().getStringRef(), scope = scopeName(op->getLoc());
  return scope.empty() ? kind.str() : (scope + ": " + kind).str();
}

} // namespace trainc
