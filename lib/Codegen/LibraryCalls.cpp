#include "lib/Codegen/LibraryCalls.h"

#include "dialects/NN/Builders.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Codegen/AttentionSizes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

/// Builds the summary of a library call.
class CallBuilder {
public:
  CallBuilder(Operation *op, StringRef instruction) : op_(op), builder_(op->getContext()) {
    summary_.library = LibraryCall{instruction, {}, {}};
  }

  /// Operands are identified by number, so that equal ops can share a summary.
  void operand(StringRef name, OpOperand &operand) {
    add(name, operandParam(op_, operand.getOperandNumber()));
  }
  void operandIfAny(StringRef name, MutableOperandRange operands) {
    for (OpOperand &each : operands)
      operand(name, each);
  }
  void result(StringRef name, Value value) {
    add(name, resultParam(op_, cast<OpResult>(value).getResultNumber()));
  }

  void size(StringRef name, int64_t value) {
    summary_.library->sizes.set(name, builder_.getI64IntegerAttr(value));
  }
  void flag(StringRef name, bool value) {
    if (value)
      summary_.library->sizes.set(name, builder_.getUnitAttr());
  }
  void typeUnlessF32(StringRef name, Value value) {
    if (Type element = getElementTypeOrSelf(value); !element.isF32())
      attribute(name, TypeAttr::get(element));
  }
  void attribute(StringRef name, Attribute value) { summary_.library->sizes.set(name, value); }
  Builder &builder() { return builder_; }

  KernelSummary finish(int64_t workspaceBytes) {
    if (workspaceBytes > 0) {
      summary_.scratchBytes.push_back(workspaceBytes);
      add("workspace", scratchParam(summary_, 0, plan::Access::write, builder_.getF32Type()));
      size("workspace_bytes", workspaceBytes);
    }
    return std::move(summary_);
  }

private:
  void add(StringRef name, const KernelParam &param) { summary_.library->operands.push_back({name, param}); }

  Operation *op_;
  Builder builder_;
  KernelSummary summary_;
};

bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

/// Adds the common operands and sizes of attention and its gradient.
template <typename Op> void describeAttention(CallBuilder &call, Op op, double scale) {
  const AttentionSizes sizes(op);
  call.operand("query", op.getQMutable());
  call.operand("key", op.getKMutable());
  call.operand("value", op.getVMutable());
  call.operandIfAny("segments", op.getSegmentsMutable());
  call.size("batch", sizes.batch);
  call.size("queries", sizes.queries);
  call.size("keys", sizes.keys);
  call.size("heads", sizes.heads);
  call.size("key_heads", sizes.keyHeads);
  call.size("head_size", sizes.depth);
  call.size("value_size", sizes.valueWidth);
  call.flag("causal", op.getCausal());
  call.attribute("scale", call.builder().getF64FloatAttr(scale));
  call.typeUnlessF32("values", op.getQ());
}

} // namespace

bool trainc::codegen::canBeLibraryProduct(GemmOpInterface op, bool takesShort) {
  if (op.getGemmScales())
    return takesShort;
  Type factor = getElementTypeOrSelf(op->getOperand(0)), result = getElementTypeOrSelf(op->getResult(0));
  const bool fits = takesShort && nn::isLowPrecision(factor) ? result.isF32() || result == factor
                                                             : factor.isF32() && result.isF32();
  return fits && factor == getElementTypeOrSelf(op->getOperand(1)) && !op.getGemmShape().sumsBatch();
}

/// Whether libraries have the form of the scores and weights.
template <typename Op> static bool hasLibraryForm(Op op, bool takesShort) {
  return (takesShort || isF32(op.getQ())) && !op.getWindow() && !op.getSoftcap() && !op.getAlibi() &&
         !op.getDropout() && !op.getBias();
}

/// Whether a library can compute the op. Libraries have one limit for all sequences.
bool trainc::codegen::canBeLibraryAttention(nn::AttentionOp op, bool takesShort) {
  const bool hasLimits = op.getLimit() && !nn::shapeOf(op.getLimit()).empty();
  return hasLibraryForm(op, takesShort) && !op.getSinks() && !hasLimits;
}

/// Whether a library can compute the gradient, which needs no sinks.
bool trainc::codegen::canBeLibraryAttention(nn::AttentionGradOp op, bool takesShort) {
  return hasLibraryForm(op, takesShort) && !op.getDlse();
}

/// Returns the product's shape with row and matrix strides in memory, including padding.
static GemmShape shapeInMemory(GemmOpInterface op) {
  GemmShape gemm = op.getGemmShape();
  auto spread = [](int64_t &row, int64_t &matrix, int64_t padding) {
    matrix += matrix / row * padding;
    row += padding;
  };
  spread(gemm.lda, gemm.strideA, operandPadding(op, 0));
  spread(gemm.ldb, gemm.strideB, operandPadding(op, 1));
  spread(gemm.ldc, gemm.strideC, resultPadding(op, 0));
  return gemm;
}

/// Factors may have padding, and so may results that do not accumulate and have no second tensor of the same
/// layout.
bool trainc::codegen::libraryProductTakesPadding(GemmOpInterface op, Value value) {
  const GemmEpilogue epilogue = op.getGemmEpilogue();
  const bool isPlain = !op.getGemmShape().accumulate && !epilogue.auxiliary && !epilogue.keepsActivationInput;
  auto takes = [&](OpOperand &operand) { return operand.get() != value || operand.getOperandNumber() < 2; };
  return llvm::all_of(op->getOpOperands(), takes) &&
         (value.getDefiningOp() != op || (isPlain && value == op->getResult(0)));
}

KernelSummary trainc::codegen::libraryProduct(GemmOpInterface op, int64_t workspaceBytes, bool tf32) {
  const GemmShape gemm = shapeInMemory(op);
  const GemmEpilogue epilogue = op.getGemmEpilogue();
  CallBuilder call(op, plan::MatrixProductOp::getOperationName());
  call.operand("a", op->getOpOperand(0));
  call.operand("b", op->getOpOperand(1));
  call.result("result", op->getResult(0));
  if (std::optional<GemmScales> scales = op.getGemmScales()) {
    call.operand("a_scale", op->getOpOperand(scales->a));
    call.operand("b_scale", op->getOpOperand(scales->b));
  }
  if (epilogue.bias)
    call.operand("bias", op->getOpOperand(*epilogue.bias));
  if (epilogue.auxiliary)
    call.operand("auxiliary", op->getOpOperand(*epilogue.auxiliary));
  if (epilogue.keepsActivationInput)
    call.result("auxiliary", op->getResult(1));
  if (epilogue.sideSum != SideSum::none) {
    call.result("side", op->getResults().back());
    call.attribute("side_sum", SideSumAttr::get(op->getContext(), epilogue.sideSum));
  }
  call.size("m", gemm.m);
  call.size("n", gemm.n);
  call.size("k", gemm.k);
  call.size("batch", gemm.batch);
  call.size("row_a", gemm.lda);
  call.size("row_b", gemm.ldb);
  call.size("row_result", gemm.ldc);
  call.size("matrix_a", gemm.strideA);
  call.size("matrix_b", gemm.strideB);
  call.size("matrix_result", gemm.strideC);
  call.flag("transpose_a", gemm.transposeA);
  call.flag("transpose_b", gemm.transposeB);
  call.flag("adds", gemm.accumulate);
  call.attribute("activation", ActivationAttr::get(op->getContext(), epilogue.activation));
  call.typeUnlessF32("factors", op->getOperand(0));
  if (Type ofB = getElementTypeOrSelf(op->getOperand(1)); ofB != getElementTypeOrSelf(op->getOperand(0)))
    call.attribute("factors_b", TypeAttr::get(ofB));
  call.typeUnlessF32("product", op->getResult(0));
  call.flag("tf32", tf32 && isF32(op->getOperand(0)));
  return call.finish(workspaceBytes);
}

KernelSummary trainc::codegen::libraryAttention(nn::AttentionOp op, int64_t workspaceBytes) {
  CallBuilder call(op, plan::AttentionOp::getOperationName());
  call.attribute("pass", plan::AttentionPassAttr::get(op.getContext(), plan::AttentionPass::forward));
  describeAttention(call, op, op.scoreScale());
  call.operandIfAny("limit", op.getLimitMutable());
  call.result("out", op.getOut());
  call.result("log_sum_exp", op.getLse());
  return call.finish(workspaceBytes);
}

KernelSummary trainc::codegen::libraryAttention(nn::AttentionGradOp op, int64_t workspaceBytes) {
  CallBuilder call(op, plan::AttentionOp::getOperationName());
  call.attribute("pass", plan::AttentionPassAttr::get(op.getContext(), plan::AttentionPass::backward));
  describeAttention(call, op, op.getScale().convertToDouble());
  call.operand("out", op.getOutMutable());
  call.operand("log_sum_exp", op.getLseMutable());
  call.operand("out_gradient", op.getDoutMutable());
  call.result("query_gradient", op.getDq());
  call.result("key_gradient", op.getDk());
  call.result("value_gradient", op.getDv());
  return call.finish(workspaceBytes);
}
