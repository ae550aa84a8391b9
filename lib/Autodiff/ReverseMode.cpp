// Reverse-mode differentiation of one entry.
#include "lib/Autodiff/ReverseMode.h"

#include "dialects/NN/Builders.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace trainc;

ReverseMode::ReverseMode(train::EntryOp entry, train::MinimizeOp minimize)
    : minimize(minimize), activity(entry), builder(minimize) {}

LogicalResult ReverseMode::run() {
  Value loss = minimize.getLoss();
  if (!hasGradient(loss.getType()) || nn::tensorType(loss).getRank() != 0)
    return minimize.emitOpError("needs a floating-point scalar, found ") << loss.getType();
  if (!activity.isActive(loss))
    return minimize.emitOpError("the loss does not depend on any trained parameter");
  nn::TensorBuilder build(builder, minimize.getLoc());
  accumulate(loss, build.constantLike(loss, 1));
  for (Operation *op = minimize->getPrevNode(), *next; op; op = next) {
    next = op->getPrevNode();
    if (failed(differentiate(op)))
      return failure();
  }
  emitGradients();
  warnOfUnread();
  minimize.erase();
  return success();
}

void ReverseMode::accumulate(Value value, Value contribution) {
  Value &total = cotangents[value];
  total = total ? nn::TensorBuilder(builder, contribution.getLoc()).add(total, contribution) : contribution;
}

LogicalResult ReverseMode::differentiate(Operation *op) {
  auto results =
      llvm::map_to_vector(op->getResults(), [&](Value result) { return cotangents.lookup(result); });
  auto needed =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return activity.isActive(operand); });
  if (llvm::none_of(results, [](Value cotangent) { return bool(cotangent); }) ||
      !llvm::is_contained(needed, true))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("has no gradient, but lies on the way from a trained parameter to the loss");
  for (auto [index, isNeeded] : llvm::enumerate(needed))
    if (isNeeded && differentiable.isConstantOperand(index))
      return refuseConstant(op, index);
  // An op reports what it cannot differentiate as an error of its own.
  bool reported = false;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    reported |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure();
  });
  SmallVector<Value> operands(op->getNumOperands());
  differentiable.buildVjp(builder, results, needed, operands);
  if (reported)
    return failure();
  for (auto [operand, isNeeded, cotangent] : llvm::zip(op->getOperands(), needed, operands))
    if (isNeeded && cotangent)
      accumulate(operand, cotangent);
  return success();
}

LogicalResult ReverseMode::refuseConstant(Operation *op, unsigned operand) {
  InFlightDiagnostic error = op->emitOpError("operand #")
                             << operand << " has no gradient, but depends on the trained parameter ";
  llvm::interleaveComma(activity.parametersOf(op->getOperand(operand)), error,
                        [&](StringAttr name) { error << name; });
  return error << "; compute it from constants and data, or freeze the parameter: group \"NAME\" frozen";
}

static void warnUntrained(Operation *op, StringRef parameter, size_t alike = 1) {
  InFlightDiagnostic warning = op->emitWarning("parameter @") << parameter;
  if (alike > 1)
    warning << " (and " << alike - 1 << " more from this place)";
  warning << " does not lead to the loss and is not trained";
}

/// A block that is repeated declares a parameter many times in one place, of which one warning is enough.
void ReverseMode::warnOfUnread() {
  llvm::MapVector<Attribute, SmallVector<train::StateOp>> unread;
  for (auto state : minimize->getParentOfType<ModuleOp>().getOps<train::StateOp>())
    if (isTrained(state) && !activity.parameterReads().contains(state.getSymNameAttr())) {
      Attribute place = state.getLoc()->findInstanceOf<FileLineColLoc>();
      unread[place ? place : Attribute(state.getLoc())].push_back(state);
    }
  for (auto &[place, states] : unread)
    warnUntrained(states.front(), states.front().getSymName(), states.size());
}

void ReverseMode::emitGradients() {
  for (auto &[parameter, reads] : activity.parameterReads()) {
    Value gradient;
    for (train::GetOp get : reads)
      if (Value part = cotangents.lookup(get.getResult()))
        gradient = gradient ? nn::TensorBuilder(builder, get.getLoc()).add(gradient, part) : part;
    train::GetOp first = reads.front();
    if (gradient)
      train::GradientOp::create(builder, first.getLoc(), FlatSymbolRefAttr::get(parameter), gradient);
    else
      warnUntrained(first, parameter);
  }
}
