#include "lib/Offload/KernelPieces.h"

#include "lib/Support/Retype.h"

#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;

namespace trainc {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether a tensor varies along the slowest positions.
static bool isCutBy(const nn::RepeatPattern &pattern) {
  return !pattern.getRuns().empty() && pattern.getRuns().front().kept;
}

std::optional<KernelPieces> KernelPieces::of(nn::KernelOp kernel) {
  KernelPieces pieces(kernel);
  return pieces.find() ? std::optional(pieces) : std::nullopt;
}

bool KernelPieces::find() {
  if (kernel_.getRows() > 1) // rows are not split
    granule_ = int64_t(kernel_.getColumns());
  Block &body = kernel_.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (kernel_.isTable(argument) || !addValue(argument))
      return false;
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    return op.getNumResults() == 1 && addValue(op.getResult(0)) && computesPieces(op);
  });
}

/// A piece has some steps of the slowest run; for a split tensor these are ranges of dimension 0.
bool KernelPieces::addValue(Value inner) {
  const nn::RepeatPattern pattern = patternOf(inner);
  if (pattern.getRuns().empty())
    return false;
  granule_ = std::lcm(granule_, positions_ / pattern.getRuns().front().size);
  if (!isCutBy(pattern))
    return true;
  const RankedTensorType type = typeOf(inner);
  if (type.getRank() == 0 || type.getDimSize(0) == 1)
    return false;
  const int64_t perElement = positions_ / pattern.elements();
  granule_ = std::lcm(granule_, type.getNumElements() / type.getDimSize(0) * perElement);
  return true;
}

/// Whether the op's elements depend on its operands' elements at the same index of dimension 0 only.
bool KernelPieces::computesPieces(Operation &op) const {
  const bool isCut = isCutBy(patternOf(op.getResult(0)));
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  if (!indexing)
    return false;
  const IndexingRule rule = indexing.getIndexingRule();
  const auto leading = [](ArrayRef<int> labels) { return labels.empty() ? -1 : labels.front(); };
  const int label = leading(rule.results.front());
  bool readsCut = false;
  for (auto [operand, labels] : llvm::zip(op.getOperands(), rule.operands)) {
    const bool isCutToo = isCutBy(patternOf(operand));
    if (isCutToo && (!isCut || leading(labels) != label || label == -1))
      return false;
    readsCut |= isCutToo;
  }
  // Without a split operand, elements are all equal or depend on their position.
  const bool repeats = !isa<ElementwiseOpInterface>(op) || op.hasTrait<OpTrait::ConstantLike>();
  return !isCut || (label != -1 && (readsCut || repeats));
}

nn::RepeatPattern KernelPieces::patternOf(Value inner) const {
  return nn::KernelOp(kernel_).patternOf(inner);
}

bool KernelPieces::isCut(Value inner) const { return isCutBy(patternOf(inner)); }

int64_t KernelPieces::elementsIn(Value inner, int64_t positions) const {
  return positions / (positions_ / typeOf(inner).getNumElements());
}

RankedTensorType KernelPieces::pieceType(Value inner, int64_t positions) const {
  const RankedTensorType type = typeOf(inner);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = elementsIn(inner, positions) / (type.getNumElements() / shape.front());
  return type.clone(shape);
}

nn::RepeatPattern KernelPieces::patternIn(const nn::RepeatPattern &pattern, int64_t positions) const {
  nn::RepeatPattern piece;
  for (auto [index, run] : llvm::enumerate(pattern.getRuns()))
    piece.append({index == 0 ? positions / (positions_ / run.size) : run.size, run.kept});
  return piece;
}

void KernelPieces::retypeBody(nn::KernelOp piece, int64_t positions) const {
  Block &whole = nn::KernelOp(kernel_).getBody().front(), &body = piece.getBody().front();
  const auto retypeValue = [&](Value inner, Value pieced) {
    if (isCut(inner))
      pieced.setType(pieceType(inner, positions));
  };
  for (auto [inner, pieced] : llvm::zip(whole.getArguments(), body.getArguments()))
    retypeValue(inner, pieced);
  for (auto [op, cloned] : llvm::zip(whole.without_terminator(), body.without_terminator())) {
    Value inner = op.getResult(0);
    if (isCut(inner))
      retype(&cloned, typeOf(inner), pieceType(inner, positions));
    retypeValue(inner, cloned.getResult(0));
    cloned.removeAttr(nn::KernelOp::kPatternAttr);
    nn::KernelOp::setPattern(&cloned, patternIn(patternOf(inner), positions));
  }
}

nn::KernelOp KernelPieces::build(OpBuilder &builder, int64_t positions, ValueRange operands) const {
  auto piece = cast<nn::KernelOp>(builder.clone(*nn::KernelOp(kernel_).getOperation()));
  piece->setOperands(operands);
  const bool isOneRow = piece.getRows() == 1;
  piece.setRows(isOneRow ? 1 : positions / int64_t(piece.getColumns()));
  piece.setColumns(isOneRow ? positions : int64_t(piece.getColumns()));
  SmallVector<Attribute> patterns;
  for (auto pattern : piece.getPatterns().getAsRange<nn::RepeatPatternAttr>())
    patterns.push_back(
        nn::RepeatPatternAttr::get(builder.getContext(), patternIn(pattern.getPattern(), positions)));
  piece.setPatternsAttr(builder.getArrayAttr(patterns));
  retypeBody(piece, positions);
  for (auto [result, yielded] :
       llvm::zip(piece.getResults(), piece.getBody().front().getTerminator()->getOperands()))
    result.setType(yielded.getType());
  return piece;
}

} // namespace trainc
