#include "dialects/Plan/Plan.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace trainc::plan;

Operation *LibraryCallSpecAttr::build(OpBuilder &builder, Location loc, StringRef source,
                                      llvm::function_ref<OperandAttr(int64_t)> operand) const {
  OperationState state(loc, getCall());
  state.addAttributes(getSizes().getValue());
  for (NamedAttribute each : getOperands())
    state.addAttribute(each.getName(), operand(cast<IntegerAttr>(each.getValue()).getInt()));
  state.addAttribute("op", builder.getStringAttr(source));
  return builder.create(state);
}
