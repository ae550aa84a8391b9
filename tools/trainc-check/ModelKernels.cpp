// Extracts each op of a model's scheduled entries that runs kernels or calls a library as a function.
#include "Modes.h"

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Train/Train.h"
#include "lib/Codegen/EqualOps.h"
#include "lib/Pipelines/Pipeline.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::check;

/// Size of the smallest table that the op indexes; 2 if there is none.
static int64_t indexLimit(Operation *root) {
  std::optional<int64_t> minimum;
  root->walk([&](LookupOpInterface lookup) {
    for (unsigned operand = 0; operand < lookup->getNumOperands(); ++operand)
      if (std::optional<IndexLimit> limit = lookup.getIndexLimit(operand))
        minimum = std::min(minimum.value_or(limit->limit), limit->limit);
  });
  return minimum.value_or(2);
}

/// The op, after the producers of operands that must be consistent: the backward of attention reads results
/// of the forward, which cannot be random.
static SmallVector<Operation *> withProducers(ExecutableOpInterface op) {
  SmallVector<Operation *> ops;
  if (op.getKernelClass() == KernelClass::AttentionGrad)
    for (Value operand : op->getOperands())
      if (auto producer = operand.getDefiningOp<ExecutableOpInterface>();
          producer && producer.getKernelClass() == KernelClass::Attention &&
          !llvm::is_contained(ops, producer))
        ops.push_back(producer);
  ops.push_back(op);
  return ops;
}

/// Draws integer arguments as valid indices.
static void drawIndices(func::FuncOp function, int64_t limit) {
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments()) {
    const Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    if (element.isInteger())
      function.setArgAttr(argument.getArgNumber(), "check.integers",
                          builder.getI64ArrayAttr({0, element.isInteger(1) ? 2 : limit}));
  }
}

static func::FuncOp functionOf(ExecutableOpInterface op, StringRef name) {
  OpBuilder builder(op->getContext());
  auto function =
      func::FuncOp::create(builder, op->getLoc(), name, builder.getFunctionType({}, op->getResultTypes()));
  Block &body = *function.addEntryBlock();
  builder.setInsertionPointToEnd(&body);
  IRMapping values;
  Operation *copy = nullptr;
  for (Operation *each : withProducers(op)) {
    for (Value operand : each->getOperands())
      if (!values.contains(operand))
        values.map(operand, body.addArgument(operand.getType(), op->getLoc()));
    copy = builder.clone(*each, values);
  }
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  function.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), op->getResultTypes()));
  function->setAttr("check.finite", builder.getUnitAttr());
  drawIndices(function, indexLimit(op));
  return function;
}

FailureOr<OwningOpRef<ModuleOp>> check::kernelsOf(ModuleOp model, KernelTarget target, StringRef precision) {
  model.getContext()->loadDialect<func::FuncDialect>(); // models contain no functions
  OwningOpRef<ModuleOp> module = model.clone(), result = ModuleOp::create(model.getLoc());
  CompileOptions options;
  options.settings = {{"target", target == KernelTarget::Cuda ? "cuda" : "cpu"},
                      {"precision", precision.str()}};
  options.compileTo = Phase::Scheduled;
  if (failed(runPhases(*module, options)))
    return failure();
  llvm::DenseSet<Operation *, codegen::EqualOps> known;
  for (auto entry : module->getOps<train::EntryOp>())
    entry.walk([&](ExecutableOpInterface op) {
      if (!isGenerated(op.getKernelClass()) || !known.insert(op).second)
        return;
      const std::string name = (stringifyEntryKind(entry.getKind()) + "." + op->getName().stripDialect() +
                                "." + Twine(known.size()))
                                   .str();
      result->push_back(functionOf(op, name));
    });
  return result;
}
