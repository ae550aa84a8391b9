#include "test/programs/fault.h"

#include "dialects/NN/Builders.h"
#include "dialects/Plan/Plan.h"
#include "dialects/Train/Train.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringMap.h"

#include <random>

using namespace mlir;
using namespace trainc;
using namespace trainc::programs;

// --- Places ---

/// Computations of initial parameters are not compared.
static bool isCompared(Operation *op) {
  if (auto entry = op->getParentOfType<train::EntryOp>())
    return entry.getKind() != EntryKind::init;
  if (auto entry = op->getParentOfType<plan::EntryOp>())
    return entry.getKind() != EntryKind::init;
  return true;
}

template <typename Op> static SmallVector<Op> opsOf(ModuleOp module) {
  SmallVector<Op> ops;
  module.walk([&](Op op) {
    if (isCompared(op))
      ops.push_back(op);
  });
  return ops;
}

// --- Faults in tensor ops ---

static void changeConstants(ModuleOp module, Breakages &breakages) {
  for (nn::ConstantOp op : opsOf<nn::ConstantOp>(module))
    if (isa<FloatType>(nn::tensorType(op).getElementType()))
      breakages.push_back([op]() mutable {
        op.setValueAttr(Builder(op).getF64FloatAttr(op.getValue().convertToDouble() + 0.5));
      });
}

static void swapOperands(ModuleOp module, Breakages &breakages) {
  module.walk([&](Operation *op) {
    if (isCompared(op) && isa<nn::SubOp, nn::DivOp, nn::MatmulOp>(op) && op->getNumOperands() == 2 &&
        op->getOperand(0) != op->getOperand(1) && op->getOperand(0).getType() == op->getOperand(1).getType())
      breakages.push_back([op] {
        Value first = op->getOperand(0);
        op->setOperand(0, op->getOperand(1));
        op->setOperand(1, first);
      });
  });
}

static void transposeFactors(ModuleOp module, Breakages &breakages) {
  auto isSquare = [](Value value) {
    ArrayRef<int64_t> shape = nn::shapeOf(value);
    return shape.size() > 1 && shape.back() > 1 && shape.back() == shape[shape.size() - 2];
  };
  for (nn::MatmulOp op : opsOf<nn::MatmulOp>(module)) {
    if (isSquare(op.getLhs()))
      breakages.push_back([op]() mutable { op.setTransposeLhs(!op.getTransposeLhs()); });
    if (isSquare(op.getRhs()))
      breakages.push_back([op]() mutable { op.setTransposeRhs(!op.getTransposeRhs()); });
  }
}

static void moveSlices(ModuleOp module, Breakages &breakages) {
  for (nn::SliceOp op : opsOf<nn::SliceOp>(module))
    for (int64_t offset : {int64_t(op.getOffset()) - 1, int64_t(op.getOffset()) + 1})
      if (offset >= 0 && offset + int64_t(op.getSize()) <= nn::shapeOf(op.getX())[op.getDim()])
        breakages.push_back([op, offset]() mutable { op.setOffset(offset); });
  for (nn::PadOp op : opsOf<nn::PadOp>(module))
    for (int64_t step : {-1, 1})
      if (int64_t(op.getLow()) + step >= 0 && int64_t(op.getHigh()) - step >= 0)
        breakages.push_back([op, step]() mutable {
          op.setLow(op.getLow() + step);
          op.setHigh(op.getHigh() - step);
        });
}

static void changeReductions(ModuleOp module, Breakages &breakages) {
  for (nn::ReduceOp op : opsOf<nn::ReduceOp>(module))
    if (nn::tensorType(op.getX()).getNumElements() > nn::tensorType(op).getNumElements())
      breakages.push_back([op]() mutable {
        op.setKind(op.getKind() == nn::ReduceKind::sum ? nn::ReduceKind::max : nn::ReduceKind::sum);
      });
}

static void leaveOutTerms(ModuleOp module, Breakages &breakages) {
  for (nn::AddOp op : opsOf<nn::AddOp>(module))
    breakages.push_back([op]() mutable { op->getResult(0).replaceAllUsesWith(op->getOperand(0)); });
}

// --- Faults in gradients ---

static void leaveOutGradients(ModuleOp module, Breakages &breakages) {
  for (train::GradientOp op : opsOf<train::GradientOp>(module))
    breakages.push_back([op]() mutable {
      OpBuilder builder(op);
      op.getValueMutable().assign(
          nn::TensorBuilder(builder, op.getLoc()).zero(nn::tensorType(op.getValue())));
    });
}

static void scaleGradients(ModuleOp module, Breakages &breakages) {
  for (train::GradientOp op : opsOf<train::GradientOp>(module))
    breakages.push_back([op]() mutable {
      OpBuilder builder(op);
      nn::TensorBuilder b(builder, op.getLoc());
      Value factor = b.constant(1.01, nn::tensorType(op.getValue()));
      op.getValueMutable().assign(b.create<nn::MulOp>(op.getValue(), factor));
    });
}

static void swapParameters(ModuleOp module, Breakages &breakages) {
  const SmallVector<train::GradientOp> ops = opsOf<train::GradientOp>(module);
  for (train::GradientOp a : ops)
    for (train::GradientOp b : ops)
      if (a.getParameter() < b.getParameter() && a.getValue().getType() == b.getValue().getType())
        breakages.push_back([a, b]() mutable {
          FlatSymbolRefAttr parameter = a.getParameterAttr();
          a.setParameterAttr(b.getParameterAttr());
          b.setParameterAttr(parameter);
        });
}

// --- Faults in plans ---

/// The instruction's operands with one moved.
static plan::OperandAttr moved(plan::OperandAttr operand, int64_t bytes) {
  return plan::OperandAttr::get(operand.getContext(), operand.getBuffer(), operand.getOffset() + bytes,
                                operand.getLoopStride(), operand.getRankStride(), operand.getAxes());
}

static void moveArguments(ModuleOp module, Breakages &breakages) {
  constexpr int64_t kElement = 4;
  for (plan::LaunchOp op : opsOf<plan::LaunchOp>(module))
    for (size_t index = 0; index < op.getArgs().size(); ++index)
      breakages.push_back([op, index]() mutable {
        SmallVector<Attribute> args(op.getArgs().getValue());
        auto operand = cast<plan::OperandAttr>(args[index]);
        args[index] = moved(operand, operand.getOffset() >= kElement ? -kElement : kElement);
        op.setArgsAttr(ArrayAttr::get(op.getContext(), args));
      });
}

static void leaveOutInstructions(ModuleOp module, Breakages &breakages) {
  for (plan::InstructionOpInterface op : opsOf<plan::InstructionOpInterface>(module))
    breakages.push_back([op] { op->erase(); });
}

static void swapInstructions(ModuleOp module, Breakages &breakages) {
  for (plan::InstructionOpInterface op : opsOf<plan::InstructionOpInterface>(module))
    if (Operation *next = op->getNextNode())
      breakages.push_back([op, next] { op->moveAfter(next); });
}

/// Swaps two ranges of collectives with each other.
static void swapCollectives(ModuleOp module, Breakages &breakages) {
  struct Place {
    plan::CollectiveOp op;
    size_t index;
    plan::RangeAttr range() const { return cast<plan::RangeAttr>(plan::CollectiveOp(op).getRanges()[index]); }
    void setSource(plan::OperandAttr source) {
      SmallVector<Attribute> ranges(op.getRanges().getValue());
      ranges[index] = plan::RangeAttr::get(
          op.getContext(), source, range().getDestination(), range().getElements(), range().getElement(),
          range().getInto(), range().getSum(), range().getWorkspace(), range().getWorkspaceBytes());
      op.setRangesAttr(ArrayAttr::get(op.getContext(), ranges));
    }
  };
  SmallVector<Place> places;
  for (plan::CollectiveOp op : opsOf<plan::CollectiveOp>(module))
    for (size_t index = 0; index < op.getRanges().size(); ++index)
      places.push_back({op, index});
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t j = i + 1; j < places.size(); ++j)
      if (places[i].op->getBlock() == places[j].op->getBlock() &&
          places[i].range().getElements() == places[j].range().getElements() &&
          places[i].range().getSource() != places[j].range().getSource())
        breakages.push_back([a = places[i], b = places[j]]() mutable {
          plan::OperandAttr source = a.range().getSource();
          a.setSource(b.range().getSource());
          b.setSource(source);
        });
}

static void dropOrder(ModuleOp module, Breakages &breakages) {
  for (plan::InstructionOpInterface op : opsOf<plan::InstructionOpInterface>(module))
    for (size_t index = 0; index < op.getAfterOrNone().size(); ++index)
      breakages.push_back([op, index]() mutable {
        SmallVector<int64_t> after(op.getAfterOrNone());
        after.erase(after.begin() + index);
        op.comeAfter(after);
      });
}

/// Returns the functions that compute compared numbers: kernels that instructions of compared entries name,
/// and all that these call. A call names no level; each level's variant is named "FUNCTION.LEVEL".
static SmallVector<func::FuncOp> comparedFunctions(ModuleOp module) {
  llvm::StringMap<SmallVector<func::FuncOp>> named;
  module.walk(
      [&](func::FuncOp function) { named[function.getSymName().split('.').first].push_back(function); });
  SmallVector<func::FuncOp> functions;
  auto addNamedIn = [&](Operation *user) {
    user->getAttrDictionary().walk([&](FlatSymbolRefAttr symbol) {
      const auto found = named.find(symbol.getValue());
      if (found == named.end())
        return;
      llvm::append_range(functions, found->second);
      named.erase(found);
    });
  };
  for (plan::InstructionOpInterface op : opsOf<plan::InstructionOpInterface>(module))
    addNamedIn(op);
  for (size_t index = 0; index < functions.size(); ++index)
    func::FuncOp(functions[index]).walk(addNamedIn);
  return functions;
}

static void changeCode(ModuleOp module, Breakages &breakages) {
  for (func::FuncOp function : comparedFunctions(module))
    function.walk([&](arith::AddFOp op) {
      breakages.push_back([op]() mutable {
        OpBuilder builder(op);
        op.replaceAllUsesWith(
            arith::SubFOp::create(builder, op.getLoc(), op.getLhs(), op.getRhs()).getResult());
      });
    });
}

// --- All ---

std::span<const FaultKind> programs::faultKinds() {
  static constexpr FaultKind kKinds[] = {{"constant", "autodiff", changeConstants},
                                         {"operands", "autodiff", swapOperands},
                                         {"transpose", "autodiff", transposeFactors},
                                         {"slice", "decompose", moveSlices},
                                         {"reduction", "decompose", changeReductions},
                                         {"term", "autodiff", leaveOutTerms},
                                         {"gradient", "autodiff", leaveOutGradients},
                                         {"scale", "autodiff", scaleGradients},
                                         {"parameter", "autodiff", swapParameters},
                                         {"argument", "plan-memory", moveArguments},
                                         {"instruction", "plan-memory", leaveOutInstructions},
                                         {"swap", "plan-memory", swapInstructions},
                                         {"collective", "plan-memory", swapCollectives},
                                         {"order", "order-streams", dropOrder},
                                         {"code", "generate-kernels", changeCode}};
  return kKinds;
}

FaultInCompiler::FaultInCompiler(MLIRContext &context, Fault &fault) : context_(context) {
  context.registerActionHandler([&fault](llvm::function_ref<void()> run, const tracing::Action &action) {
    run();
    const auto *pass = dyn_cast<PassExecutionAction>(&action);
    auto module = pass ? dyn_cast<ModuleOp>(pass->getOp()) : ModuleOp();
    if (!module || pass->getPass().getArgument() != fault.kind.pass)
      return;
    Breakages breakages;
    fault.kind.find(module, breakages);
    if (!breakages.empty())
      breakages[std::mt19937(fault.seed)() % breakages.size()]();
    fault.wasMade |= !breakages.empty();
  });
}

FaultInCompiler::~FaultInCompiler() { context_.registerActionHandler(nullptr); }
