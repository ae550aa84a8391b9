// Which spaces a group of ops may have, and the choice among them.
#include "lib/Analysis/IterationSpace.h"

#include "dialects/NN/NN.h"
#include "lib/Analysis/SpaceSolver.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

using Shape = ArrayRef<int64_t>;
using Size = std::pair<int64_t, int64_t>; // rows, columns

static Shape shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static void addSplit(SmallVectorImpl<Size> &sizes, Shape shape, size_t rowRank) {
  Size size{1, 1};
  for (auto [dim, extent] : llvm::enumerate(shape))
    (dim < rowRank ? size.first : size.second) *= extent;
  if (size.first > 1 && !llvm::is_contained(sizes, size))
    sizes.push_back(size);
}

/// Every division of the ops' shapes that an op suggests, the preferred ones first: one flat row, then rows
/// of at least a few vectors (short ones first, so that there are many), then shorter rows.
static SmallVector<Size> candidates(ArrayRef<Operation *> ops) {
  SmallVector<Size> sizes;
  int64_t largest = 1;
  for (Operation *op : ops) {
    Shape shape = shapeOf(isa<nn::ReduceOp>(op) ? op->getOperand(0) : op->getResult(0));
    largest = std::max(largest, ShapedType::getNumElements(shape));
    if (auto gather = dyn_cast<nn::GatherOp>(op))
      addSplit(sizes, shape, shapeOf(gather.getIds()).size());
    else if (isa<nn::ReduceOp, nn::BroadcastOp>(op))
      for (size_t rank = 0; rank <= shape.size(); ++rank)
        addSplit(sizes, shape, rank);
  }
  constexpr int64_t kShortRow = 64;
  llvm::sort(sizes, [](Size a, Size b) {
    bool shortA = a.second < kShortRow, shortB = b.second < kShortRow;
    if (shortA != shortB)
      return shortB;
    return shortA ? a.second > b.second : a.second < b.second;
  });
  sizes.insert(sizes.begin(), Size{1, largest});
  return sizes;
}

std::optional<IterationSpace> IterationSpace::infer(ArrayRef<Operation *> ops, std::string *why) {
  std::string reason = "an op is not elementwise, reduce, broadcast, reshape or gather";
  bool placed = false;
  if (llvm::all_of(ops, isPrimitive))
    for (auto [rows, columns] : candidates(ops)) {
      SpaceSolver solver(ops, rows, columns);
      if (std::optional<IterationSpace> space = solver.solve())
        return space;
      if (!placed || solver.placedAll()) // the space that fits best says best what is wrong
        reason = solver.reason();
      placed |= solver.placedAll();
    }
  if (why)
    *why = reason;
  return std::nullopt;
}

FailureOr<IterationSpace> IterationSpace::of(nn::KernelOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!isPrimitive(&op))
      return op.emitOpError(
          "cannot stand in a kernel: expected elementwise, reduce, broadcast, reshape or gather ops");
    ops.push_back(&op);
  }
  SpaceSolver solver(ops, kernel.getRows(), kernel.getColumns());
  if (std::optional<IterationSpace> space = solver.solve())
    return std::move(*space);
  return kernel.emitOpError() << "does not fit " << kernel.getRows() << " rows x " << kernel.getColumns()
                              << " columns: " << solver.reason();
}

const Placement &IterationSpace::placement(Value value) const {
  auto found = placements.find(value);
  assert(found != placements.end() && "value of another group");
  return found->second;
}

bool IterationSpace::isReducedOverTiles(Value value) const { return reducedOverTiles.contains(value); }

int64_t IterationSpace::depth(Value value) const { return depths.lookup(value); }

bool IterationSpace::isPrimitive(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() > 0;
  };
  if (!llvm::all_of(op->getOperandTypes(), isStatic) || !llvm::all_of(op->getResultTypes(), isStatic))
    return false;
  return isa<ElementwiseOpInterface, nn::ReduceOp, nn::BroadcastOp, nn::ReshapeOp, nn::GatherOp>(op);
}
