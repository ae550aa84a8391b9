// What MLIR lets pass in a model's text, and nothing would look at, or no plan could hold.
#include "dialects/Train/Train.h"
#include "lib/Instantiate/Instantiate.h"
#include "runtime/schema/plain_text.h"

using namespace mlir;
using namespace trainc;

static LogicalResult checkName(Operation *op, StringRef attribute, Attribute value) {
  if (auto list = dyn_cast<ArrayAttr>(value))
    return success(
        llvm::all_of(list, [&](Attribute element) { return succeeded(checkName(op, attribute, element)); }));
  auto text = dyn_cast<StringAttr>(value);
  // Layers and scopes without a name add nothing to the path.
  bool mayBeEmpty = attribute == "name" || attribute == "scope";
  if (!text || isPlainText(text.getValue()) || (text.empty() && mayBeEmpty))
    return success();
  return op->emitOpError("'") << attribute << "' must be UTF-8 text without control characters, found "
                              << (text.empty() ? "nothing" : "other bytes");
}

/// An attribute that the op does not know is a setting that its author believes in.
static LogicalResult checkOp(Operation *op) {
  for (NamedAttribute unknown : op->getDiscardableAttrs())
    return op->emitOpError("has no setting '") << unknown.getName().getValue() << "'; remove it";
  for (NamedAttribute attribute : op->getAttrs())
    if (failed(checkName(op, attribute.getName(), attribute.getValue())))
      return failure();
  WalkResult names = op->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    return WalkResult(named ? checkName(op, "loc", named.getName()) : success());
  });
  return failure(names.wasInterrupted());
}

LogicalResult trainc::checkModelText(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    if (!isa<nn::BlockOp, nn::ModelOp, train::ProgramOp>(op))
      return op.emitOpError("cannot stand in a model's file; expected nn.block, nn.model and train.program");
    if (op.walk([](Operation *inner) { return WalkResult(checkOp(inner)); }).wasInterrupted())
      return failure();
  }
  return success();
}
