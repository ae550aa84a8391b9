#include "test/programs/trial.h"

#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"
#include "lib/Instantiate/Forward.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::programs;

namespace {
/// Numbers that are compared are no larger.
constexpr double kLargest = 1e3;
/// Maximum change of a number, relative to its tensor's largest, if every op's results are perturbed by
/// kChange.
constexpr Change kChange{1e-6};
constexpr double kMaxMoved = 1e-3;
} // namespace

double Change::apply(double number, std::mt19937 &random) const {
  const double sign = random() % 2 == 0 ? 1 : -1;
  return number == 0 ? 0 : number * (1 + sign * relative) + sign * absolute;
}

static void perturb(reference::Tensor &tensor, const Change &change, std::mt19937 &random) {
  for (double &number : tensor.reals)
    number = change.apply(number, random);
}

static bool onlyMoves(Operation &op) {
  return isa<train::GetOp, train::SetOp, train::InputOp, nn::BroadcastOp, nn::ReshapeOp, nn::TransposeOp,
             nn::SliceOp, nn::PadOp, nn::ConcatOp, nn::SplitOp, nn::GatherOp>(op);
}

FailureOr<reference::Tensors> programs::runChanged(Operation &op, reference::Frame &frame,
                                                   const Change &change, std::mt19937 &random) {
  if (onlyMoves(op))
    return reference::runOp(op, frame);
  SmallVector<std::pair<Value, reference::Tensor>> saved;
  if (!isa<ElementwiseOpInterface>(op))
    for (Value operand : op.getOperands()) {
      reference::Tensor changed = saved.emplace_back(operand, frame[operand]).second;
      perturb(changed, change, random);
      frame.define(operand, std::move(changed));
    }
  frame.setRounding([&](double number) { return change.apply(number, random); });
  FailureOr<reference::Tensors> results = reference::runOp(op, frame);
  frame.setRounding(nullptr);
  // The last first, in case an operand stands there twice.
  for (auto &[operand, tensor] : llvm::reverse(saved))
    frame.define(operand, std::move(tensor));
  if (succeeded(results))
    for (reference::Tensor &tensor : *results)
      perturb(tensor, change, random);
  return results;
}

Trial::Trial(MLIRContext &context, unsigned seed, int64_t maxElements)
    : random_(seed), maxElements_(maxElements), module_(ModuleOp::create(UnknownLoc::get(&context))),
      exact_(nullptr), changed_(nullptr) {
  OpBuilder builder(module_->getBodyRegion());
  auto function = func::FuncOp::create(builder, module_->getLoc(), "f", builder.getFunctionType({}, {}));
  block_ = function.addEntryBlock();
}

RankedTensorType Trial::typeOf(Value value) const { return nn::tensorType(concrete_.lookup(value)); }

void Trial::defineLeaf(Value value, RankedTensorType type) {
  Value argument = block_->addArgument(type, value.getLoc());
  concrete_.map(value, argument);
  reference::Tensor tensor(type);
  for (double &number : tensor.reals)
    number = std::uniform_real_distribution<double>(-1, 1)(random_);
  for (int64_t &number : tensor.integers)
    number = int64_t(random_() % 3);
  exact_.define(argument, tensor);
  changed_.define(argument, std::move(tensor));
}

bool Trial::comparable(Value value) const {
  const reference::Tensor &exact = exact_[value], &changed = changed_[value];
  if (!exact.isFloat())
    return exact.integers == changed.integers;
  double largest = 0, moved = 0;
  for (auto [a, b] : llvm::zip(exact.reals, changed.reals)) {
    if (!std::isfinite(a) || !std::isfinite(b))
      return false;
    largest = std::max(largest, std::abs(a));
    moved = std::max(moved, std::abs(a - b));
  }
  return largest <= kLargest && moved <= kMaxMoved * largest;
}

/// Runs the ops after `before`, or all.
bool Trial::runSince(Operation *before) {
  for (Operation &op :
       llvm::make_range(before ? std::next(before->getIterator()) : block_->begin(), block_->end())) {
    if (failed(reference::runAndDefine(op, exact_)))
      return false;
    FailureOr<reference::Tensors> results = runChanged(op, changed_, kChange, random_);
    if (failed(results))
      return false;
    for (auto [value, tensor] : llvm::zip(op.getResults(), *results)) {
      changed_.define(value, std::move(tensor));
      if (!comparable(value))
        return false;
    }
  }
  return true;
}

/// Infers the op's result types from the operands' static types, as when a model is instantiated.
LogicalResult Trial::inferTypes(Operation *op) const {
  OpBuilder builder(op);
  auto typed = cast<InferTypeOpInterface>(op);
  SmallVector<Type> types;
  if (isa<ElementwiseOpInterface>(op) && failed(broadcastOperands(builder, op)))
    return failure();
  if (failed(typed.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                    op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
                                    types)))
    return failure();
  for (auto [result, type] : llvm::zip(op->getResults(), types)) {
    auto tensor = cast<RankedTensorType>(type);
    Type element = tensor.getElementType();
    if (tensor.getNumElements() > maxElements_ ||
        !(element.isF32() || element.isInteger(1) || element.isInteger(32) || element.isInteger(64)))
      return failure();
    result.setType(type);
  }
  return success();
}

bool Trial::accept(Operation *op) {
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  if (failed(verify(op)))
    return false;
  Operation *before = block_->empty() ? nullptr : &block_->back();
  Operation *clone = OpBuilder::atBlockEnd(block_).clone(*op, concrete_);
  if (succeeded(inferTypes(clone)) && runSince(before))
    return true;
  while (!block_->empty() && &block_->back() != before)
    block_->back().erase();
  return false;
}
