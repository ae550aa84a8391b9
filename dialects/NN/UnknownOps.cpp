// Names that nothing bears, and what was probably meant.
#include "dialects/NN/Syntax.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;

StringRef trainc::nearestName(StringRef name, ArrayRef<StringRef> names) {
  StringRef nearest;
  unsigned best = name.size() / 2 + 1; // from here on the two have little in common
  for (StringRef known : names)
    if (unsigned distance = name.edit_distance_insensitive(known); distance < best) {
      best = distance;
      nearest = known;
    }
  return nearest;
}

ParseResult trainc::refuseUnknownOp(OpAsmParser &parser, OperationState &state) {
  StringRef dialect = state.name.getDialectNamespace();
  SmallVector<StringRef> names;
  for (RegisteredOperationName op : parser.getContext()->getRegisteredOperations())
    if (op.getDialectNamespace() == dialect)
      names.push_back(op.stripDialect());
  InFlightDiagnostic error = parser.emitError(parser.getNameLoc(), "is unknown");
  StringRef nearest = nearestName(state.name.stripDialect(), names);
  if (nearest.empty())
    return error << "; docs/reference/" << dialect << ".md lists those that there are";
  return error << "; did you mean '" << dialect << "." << nearest << "'?";
}
