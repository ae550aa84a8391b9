// Pass `autodiff`: reverse mode.
#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/NoTraining.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Autodiff/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

// --- Which values lead from trained parameters to the loss ---

namespace {

/// Values that depend on a trained parameter and have a differentiable type; integers do not.
class Activity {
public:
  /// Analyses `entry`; its states are looked up in the enclosing module.
  explicit Activity(train::EntryOp entry);

  bool isActive(Value value) const { return active.contains(value); }
  /// Reads of trained parameters by the parameter's name, in program order.
  using Reads = llvm::MapVector<StringAttr, SmallVector<train::GetOp>>;
  const Reads &parameterReads() const { return reads; }
  /// Returns the trained parameters that `value` depends on, in program order.
  SmallVector<StringAttr> parametersOf(Value value) const;

private:
  void visit(Operation &op, SymbolTableCollection &symbols);

  llvm::DenseSet<Value> active;
  Reads reads;
};

} // namespace

/// Whether values of this type have gradients.
static bool hasGradient(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

/// Whether the state is a parameter with a gradient.
static bool isTrained(train::StateOp state) {
  return state.getRole() == train::StateRole::parameter && !state.getFrozen() && hasGradient(state.getType());
}

Activity::Activity(train::EntryOp entry) {
  SymbolTableCollection symbols;
  for (Operation &op : entry.getBody().front())
    visit(op, symbols);
}

void Activity::visit(Operation &op, SymbolTableCollection &symbols) {
  if (auto get = dyn_cast<train::GetOp>(op)) {
    auto state = symbols.lookupNearestSymbolFrom<train::StateOp>(get, get.getStateAttr());
    if (!state || !isTrained(state))
      return;
    active.insert(get.getResult());
    reads[get.getStateAttr().getAttr()].push_back(get);
    return;
  }
  if (llvm::none_of(op.getOperands(), [&](Value operand) { return isActive(operand); }))
    return;
  for (Value result : op.getResults())
    if (hasGradient(result.getType()))
      active.insert(result);
}

SmallVector<StringAttr> Activity::parametersOf(Value value) const {
  llvm::SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t i = 0; i < ops.size(); ++i) // the loop appends to `ops`
    for (Value operand : ops[i]->getOperands())
      if (isActive(operand))
        ops.insert(operand.getDefiningOp());
  SmallVector<StringAttr> names;
  for (auto &[name, gets] : reads)
    if (llvm::any_of(gets, [&](train::GetOp get) { return ops.contains(get); }))
      names.push_back(name);
  return names;
}

// --- Reverse mode ---

namespace {

/// Builds the backward of an entry from its train.minimize. Griewank and Walther, "Evaluating Derivatives",
/// 2nd ed., ch. 3.2.
class ReverseMode {
public:
  /// `minimize` must be in the block of `entry`, after all ops that the loss depends on.
  ReverseMode(train::EntryOp entry, train::MinimizeOp minimize);

  /// Replaces the minimize op by the backward ops and a train.gradient per parameter; by nothing, with a
  /// warning, if the loss depends on no trained parameter. Fails with an error at the op if an op between a
  /// parameter and the loss has no gradient.
  LogicalResult run();

private:
  /// Adds a contribution to the cotangent of `value`.
  void accumulate(Value value, Value contribution);
  LogicalResult differentiate(Operation *op);
  /// Reports an error if an operand that is treated as a constant depends on a parameter.
  LogicalResult reportConstant(Operation *op, unsigned operand);
  void emitGradients();
  /// Warns about trained parameters that the entry does not read.
  void warnOfUnread();

  train::MinimizeOp minimize;
  Activity activity;
  OpBuilder builder;
  DenseMap<Value, Value> cotangents;
};

} // namespace

ReverseMode::ReverseMode(train::EntryOp entry, train::MinimizeOp minimize)
    : minimize(minimize), activity(entry), builder(minimize) {}

LogicalResult ReverseMode::run() {
  Value loss = minimize.getLoss();
  if (!hasGradient(loss.getType()) || nn::tensorType(loss).getRank() != 0)
    return minimize.emitOpError("needs a floating-point scalar, found ") << loss.getType();
  if (!activity.isActive(loss)) {
    for (auto program : minimize->getParentOfType<ModuleOp>().getOps<train::ProgramOp>())
      noteNoTraining(program, minimize.getLoc(),
                     "the loss does not depend on any trained parameter, or only through integers and "
                     "comparisons, which have no gradient");
    minimize.erase();
    return success();
  }
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
    return op->emitOpError("has no gradient, but is on the path from a trained parameter to the loss");
  for (auto [index, isNeeded] : llvm::enumerate(needed))
    if (isNeeded && differentiable.isConstantOperand(index))
      return reportConstant(op, index);
  // An op that cannot build its gradient reports its own error.
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

LogicalResult ReverseMode::reportConstant(Operation *op, unsigned operand) {
  InFlightDiagnostic error = op->emitOpError("operand #")
                             << operand << " has no gradient, but depends on the trained parameter ";
  llvm::interleaveComma(activity.parametersOf(op->getOperand(operand)), error,
                        [&](StringAttr name) { error << name; });
  return error << "; compute it from constants and data, or freeze the parameter: group \"NAME\" frozen";
}

static void warnUntrained(Operation *op, StringRef parameter, size_t alike = 1) {
  InFlightDiagnostic warning = op->emitWarning("parameter @") << parameter;
  if (alike > 1)
    warning << " (and " << alike - 1 << " more from this location)";
  warning << " does not lead to the loss and is not trained";
}

/// A repeated block declares a parameter many times at one location; one warning is enough.
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

// --- The pass ---

namespace trainc {

#define GEN_PASS_DEF_AUTODIFF
#include "lib/Autodiff/Passes.h.inc"

namespace {

struct Autodiff : impl::AutodiffBase<Autodiff> {
  void runOnOperation() override {
    if (failed(requireConcrete(getOperation())))
      return signalPassFailure();
    for (auto entry : getOperation().getOps<train::EntryOp>())
      if (failed(differentiate(entry)))
        return signalPassFailure();
  }

  LogicalResult differentiate(train::EntryOp entry) {
    auto minimized = llvm::to_vector(entry.getBody().front().getOps<train::MinimizeOp>());
    if (minimized.size() > 1)
      return minimized[1]
                 .emitOpError("an entry minimises one loss; add the losses")
                 .attachNote(minimized[0].getLoc())
             << "the other one";
    return minimized.empty() ? success() : ReverseMode(entry, minimized.front()).run();
  }
};

} // namespace
} // namespace trainc
