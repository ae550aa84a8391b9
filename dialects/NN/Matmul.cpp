// nn.matmul: result type, sizes and strides, gradient and simplifications.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

namespace {

/// Shape of one side of the product after transposition.
struct Matrix {
  int64_t rows, columns;
  ArrayRef<int64_t> batch;
};

} // namespace

static Matrix matrixOf(Value value, bool transposed) {
  ArrayRef<int64_t> shape = shapeOf(value), last = shape.take_back(2);
  return {last[transposed], last[!transposed], shape.drop_back(2)};
}

static bool hasFp8(Value value) { return nn::isFp8(tensorType(value).getElementType()); }

template <typename Adaptor> static LogicalResult checkOperands(Adaptor op, InferError error) {
  RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs());
  const bool isScaled = hasFp8(op.getLhs()) && hasFp8(op.getRhs());
  if (!isScaled && (!isa<FloatType>(lhs.getElementType()) || lhs.getElementType() != rhs.getElementType()))
    return error() << "operands lhs and rhs must have the same floating-point element type, found " << lhs
                   << " and " << rhs;
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return error() << "operands lhs and rhs must have two dimensions or more, found " << lhs << " and "
                   << rhs;
  return success();
}

/// Returns the type of a product with this element type, with or without an epilogue.
template <typename Adaptor>
static FailureOr<RankedTensorType> productType(Adaptor op, Type element, InferError error) {
  Matrix lhs = matrixOf(op.getLhs(), op.getTransposeLhs()), rhs = matrixOf(op.getRhs(), op.getTransposeRhs());
  if (lhs.columns != rhs.rows)
    return error() << "the inner dimensions differ: lhs, " << op.getLhs().getType()
                   << (op.getTransposeLhs() ? " transposed" : "") << ", has " << lhs.columns
                   << " columns and rhs, " << op.getRhs().getType()
                   << (op.getTransposeRhs() ? " transposed" : "") << ", has " << rhs.rows << " rows";
  bool shared = rhs.batch.empty() && !op.getReduceBatch();
  if (!shared && lhs.batch != rhs.batch)
    return error() << "the leading dimensions of lhs, " << op.getLhs().getType() << ", and rhs, "
                   << op.getRhs().getType() << ", differ";
  SmallVector<int64_t> shape;
  if (!op.getReduceBatch())
    shape.assign(lhs.batch.begin(), lhs.batch.end());
  shape.append({lhs.rows, rhs.columns});
  const auto result = RankedTensorType::get(shape, element);
  if (op.getAccumulate() && op.getAccumulate().getType() != result)
    return error() << "operand accumulate must have the product's type " << result << ", found "
                   << op.getAccumulate().getType();
  return result;
}

/// Returns the result's element type: the factors' type, or `to`. fp8 factors require `to`.
template <typename Adaptor> static FailureOr<Type> resultElement(Adaptor op, InferError error) {
  Type factors = tensorType(op.getLhs()).getElementType();
  if (nn::isFp8(factors)) {
    if (op.getTo() && (op.getTo()->isBF16() || op.getTo()->isF32()))
      return *op.getTo();
    auto message = error() << "expected `to bf16` or `to f32` with factors of fp8, found ";
    return op.getTo() ? message << "`to " << *op.getTo() << "`" : message << "neither";
  }
  if (!op.getTo() || (isLowPrecision(factors) && op.getTo()->isF32()))
    return op.getTo().value_or(factors);
  return error() << "factors of " << factors << " cannot have a product of type " << *op.getTo()
                 << "; expected no `to`, or `to f32` with factors of bf16 or f16";
}

/// Reports an error unless scales are given exactly for fp8 factors.
static LogicalResult checkScales(MatmulOp::Adaptor op, InferError error) {
  const auto scalar = RankedTensorType::get({}, Float32Type::get(op.getLhs().getContext()));
  const bool isScaled = hasFp8(op.getLhs());
  for (Value scale : {op.getLhsScale(), op.getRhsScale()})
    if (bool(scale) != isScaled)
      return error()
             << "fp8 factors need `scaled` with two scalars, and other factors must not have it; found "
             << op.getLhs().getType() << (scale ? " with" : " without") << " a scale";
    else if (scale && scale.getType() != scalar)
      return error() << "a scale must be " << scalar << ", found " << scale.getType();
  return success();
}

/// Layout that tensor cores require of fp8: the summed dimension is contiguous in both factors, and rows are
/// multiples of 16 bytes.
static LogicalResult checkFp8Layout(MatmulOp::Adaptor op, InferError error) {
  if (!hasFp8(op.getLhs()))
    return success();
  RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs());
  if (isa<Float8E5M2Type>(lhs.getElementType()) && isa<Float8E5M2Type>(rhs.getElementType()))
    return error() << "has no product of two factors of f8E5M2; expected one of f8E4M3FN, found " << lhs
                   << " and " << rhs;
  if (op.getTransposeLhs() || !op.getTransposeRhs() || op.getReduceBatch())
    return error() << "factors of fp8 have the summed dimension in rows: expected lhs as it is, rhs "
                      "transposed, and no sum over a batch; use nn.transpose";
  const int64_t k = lhs.getShape().back(), n = matrixOf(op.getRhs(), true).columns;
  if (k % MatmulOp::kFp8Multiple != 0 || n % MatmulOp::kFp8Multiple != 0)
    return error() << "sizes k and n of a product of fp8 must be multiples of " << MatmulOp::kFp8Multiple
                   << ", found k " << k << " and n " << n;
  return success();
}

Inferred MatmulOp::inferTypes(Adaptor op, InferError error) {
  if (failed(checkOperands(op, error)) || failed(checkScales(op, error)) || failed(checkFp8Layout(op, error)))
    return failure();
  FailureOr<Type> element = resultElement(op, error);
  if (failed(element))
    return failure();
  auto result = productType(op, *element, error);
  if (failed(result))
    return failure();
  return SmallVector<Type>{*result};
}

/// Labels are the leading dimensions, then m, k, n. The summed dimension cannot be partitioned if the product
/// accumulates.
IndexingRule MatmulOp::getIndexingRule() {
  int batch = shapeOf(getLhs()).size() - 2, m = batch, k = batch + 1, n = batch + 2;
  int summed = getAccumulate() ? -1 : k;
  SmallVector<int> leading = llvm::to_vector(llvm::seq<int>(0, batch));
  SmallVector<int> product = getReduceBatch() ? SmallVector<int>() : leading;
  if (getReduceBatch() && getAccumulate())
    llvm::fill(leading, -1);
  auto labels = [](SmallVector<int> front, int rows, int columns, bool transposed) {
    front.append({transposed ? columns : rows, transposed ? rows : columns});
    return front;
  };
  bool sharedRhs = shapeOf(getRhs()).size() == 2;
  IndexingRule rule;
  rule.operands.push_back(labels(leading, m, summed, getTransposeLhs()));
  rule.operands.push_back(labels(sharedRhs ? SmallVector<int>() : leading, summed, n, getTransposeRhs()));
  rule.results.push_back(labels(product, m, n, false));
  if (getAccumulate())
    rule.operands.push_back(rule.results.front());
  rule.operands.resize(getNumOperands()); // scales are scalars
  return rule;
}

template <typename Op> static int64_t productFlops(Op op) {
  Matrix lhs = matrixOf(op.getLhs(), op.getTransposeLhs()), rhs = matrixOf(op.getRhs(), op.getTransposeRhs());
  return 2 * ShapedType::getNumElements(lhs.batch) * lhs.rows * lhs.columns * rhs.columns;
}

int64_t MatmulOp::getFlops() { return productFlops(*this); }

PrecisionClass MatmulOp::getPrecisionClass() { return PrecisionClass::Low; }

void MatmulOp::keepSums() {
  setTo(Float32Type::get(getContext()));
  getResult().setType(tensorType(getResult()).clone(*getTo()));
}

bool MatmulOp::roundSums(Type type) {
  if (getAccumulate() || !getTo())
    return false;
  if (hasFp8(getLhs()) && type.isBF16())
    setTo(type);
  else if (tensorType(getLhs()).getElementType() == type)
    removeToAttr();
  else
    return false;
  getResult().setType(tensorType(getResult()).clone(type));
  return true;
}

// --- fp8 ---

SmallVector<unsigned> MatmulOp::getFp8Operands() {
  const GemmShape gemm = getGemmShape();
  const Type low = tensorType(getLhs()).getElementType();
  const bool fitsTypes = low.isBF16() && (!getTo() || getTo()->isF32()) && !getAccumulate();
  const bool fits =
      fitsTypes && !gemm.sumsBatch() && gemm.k % kFp8Multiple == 0 && gemm.n % kFp8Multiple == 0;
  return fits ? SmallVector<unsigned>{0, 1} : SmallVector<unsigned>();
}

/// Reshapes a batch of matrices to one matrix with all rows.
static Value joinRows(TensorBuilder &build, Value x) {
  const int64_t columns = shapeOf(x).back();
  return build.reshape(x, {tensorType(x).getNumElements() / columns, columns});
}

/// The gradient of a weight sums over a batch, whose matrices are joined to one.
Value MatmulOp::buildOfFp8(OpBuilder &builder, ArrayRef<ScaledValue> operands) {
  TensorBuilder build(builder, getLoc());
  Value lhs = operands[0].value, rhs = operands[1].value;
  if (getReduceBatch()) {
    lhs = joinRows(build, lhs);
    rhs = joinRows(build, rhs);
  }
  if (getTransposeLhs())
    lhs = build.transposeLast(lhs);
  if (!getTransposeRhs())
    rhs = build.transposeLast(rhs);
  return build.matmul(lhs, rhs,
                      {.transposeRhs = true,
                       .to = tensorType(getResult()).getElementType(),
                       .lhsScale = operands[0].scale,
                       .rhsScale = operands[1].scale});
}

KernelClass MatmulOp::getKernelClass() { return KernelClass::Gemm; }
int MatmulOp::getInPlaceOperand(unsigned) { return getAccumulate() ? 2 : -1; }

std::optional<GemmScales> MatmulOp::getGemmScales() {
  if (!getLhsScale())
    return std::nullopt;
  const unsigned last = getNumOperands() - 1;
  return GemmScales{.a = last - 1, .b = last};
}

Value MatmulOp::getAddend(unsigned) { return getAccumulate(); }
void MatmulOp::setAddend(unsigned, Value addend) { getAccumulateMutable().assign(addend); }

// --- Sizes and strides ---

/// Returns the sizes of one (batched) product. Leading dimensions are folded into m (or k) where the layout
/// allows, else they become the batch.
template <typename Op> static GemmShape gemmShape(Op op) {
  auto lhs = cast<RankedTensorType>(op.getLhs().getType()),
       rhs = cast<RankedTensorType>(op.getRhs().getType());
  ArrayRef<int64_t> lhsRow = lhs.getShape().take_back(2), rhsRow = rhs.getShape().take_back(2);
  bool transposeA = op.getTransposeLhs(), transposeB = op.getTransposeRhs();
  GemmShape gemm;
  gemm.transposeA = transposeA;
  gemm.transposeB = transposeB;
  gemm.accumulate = bool(op.getAccumulate());
  gemm.m = lhsRow[transposeA ? 1 : 0];
  gemm.k = lhsRow[transposeA ? 0 : 1];
  gemm.n = rhsRow[transposeB ? 0 : 1];
  gemm.batch = ShapedType::getNumElements(lhs.getShape().drop_back(2));
  gemm.lda = lhsRow[1];
  gemm.ldb = rhsRow[1];
  gemm.ldc = gemm.n;
  bool sharedRhs = rhs.getRank() == 2;
  if (op.getReduceBatch() && transposeA && !transposeB) {
    gemm.k *= gemm.batch; // [b, t, k]^T [b, t, n]: the rows of all matrices are contiguous
    gemm.batch = 1;
  } else if (sharedRhs && !transposeA && !op.getReduceBatch()) {
    gemm.m *= gemm.batch;
    gemm.batch = 1;
  }
  gemm.strideA = gemm.batch == 1 ? 0 : lhsRow[0] * lhsRow[1];
  gemm.strideB = gemm.batch == 1 || sharedRhs ? 0 : rhsRow[0] * rhsRow[1];
  gemm.strideC = gemm.batch == 1 || op.getReduceBatch() ? 0 : gemm.m * gemm.n;
  return gemm;
}

GemmShape MatmulOp::getGemmShape() { return gemmShape(*this); }
GemmShape ProductOp::getGemmShape() { return gemmShape(*this); }

/// fp8 products have no epilogue: a kernel that converts the result and finds its maximum follows anyway.
Operation *MatmulOp::buildWithEpilogue(OpBuilder &builder, const ProductSteps<Value> &steps) {
  if (getLhsScale())
    return nullptr;
  return ProductOp::create(builder, getLoc(), getLhs(), getRhs(), getTransposeLhs(), getTransposeRhs(),
                           getReduceBatch(), getToAttr(), getAccumulate(), steps.bias.value_or(Value()),
                           steps.activation, steps.auxiliary.value_or(Value()), steps.keepsActivationInput,
                           steps.sideSum);
}

// --- nn.product ---

/// Reports an error unless bias, auxiliary and activation match in type and in kind.
static LogicalResult checkSteps(ProductOp::Adaptor op, RankedTensorType result, InferError error) {
  const Activation activation = op.getActivation();
  const auto row = RankedTensorType::get(result.getShape().take_back(1), result.getElementType());
  if (op.getBias() && op.getBias().getType() != row)
    return error() << "operand bias must be one row of the product, " << row << ", found "
                   << op.getBias().getType();
  if (op.getBias() && isGradient(activation))
    return error() << "has a bias with the gradient of an activation, which libraries do not have";
  if (isGradient(activation) != bool(op.getAuxiliary()))
    return error() << "the gradient of an activation needs `at`, and other activations must not have it; "
                      "found "
                   << stringifyActivation(activation) << (op.getAuxiliary() ? " with" : " without")
                   << " `at`";
  if (op.getAuxiliary() && op.getAuxiliary().getType() != result)
    return error() << "operand auxiliary must have the product's type " << result << ", found "
                   << op.getAuxiliary().getType();
  if (op.getBefore() && (activation == Activation::none || isGradient(activation)))
    return error() << "`before` needs an activation";
  return success();
}

/// Reports an error unless plans support the side sum (plan/verify/verify_library_calls.cpp).
static LogicalResult checkSideSum(ProductOp::Adaptor op, const GemmShape &gemm, InferError error) {
  const bool isPlain = op.getActivation() == Activation::none && !op.getBias();
  const bool fits =
      gemm.batch == 1 && (op.getSideSum() == SideSum::result ? isGradient(op.getActivation()) : isPlain);
  if (fits || op.getSideSum() == SideSum::none)
    return success();
  return error()
         << "expected one matrix, and either `sum result` with the gradient of an activation, or `sum a` or "
            "`sum b` without activation and bias; found `sum "
         << stringifySideSum(op.getSideSum()) << "` with activation "
         << stringifyActivation(op.getActivation()) << (op.getBias() ? " and a bias" : "") << " on "
         << gemm.batch << (gemm.batch == 1 ? " matrix" : " matrices");
}

Inferred ProductOp::inferTypes(Adaptor op, InferError error) {
  if (failed(checkOperands(op, error)))
    return failure();
  if (hasFp8(op.getLhs()))
    return error() << "has no factors of fp8, found " << op.getLhs().getType() << "; use nn.matmul";
  FailureOr<Type> element = resultElement(op, error);
  if (failed(element))
    return failure();
  auto result = productType(op, *element, error);
  if (failed(result) || failed(checkSteps(op, *result, error)))
    return failure();
  const GemmShape gemm = gemmShape(op);
  if (failed(checkSideSum(op, gemm, error)))
    return failure();
  SmallVector<Type> types(op.getBefore() ? 2 : 1, *result);
  if (op.getSideSum() != SideSum::none)
    types.push_back(RankedTensorType::get({op.getSideSum() == SideSum::a ? gemm.m : gemm.n}, *element));
  return types;
}

int64_t ProductOp::getFlops() { return productFlops(*this); }
KernelClass ProductOp::getKernelClass() { return KernelClass::Gemm; }

/// The accumulated operand is updated in place.
int ProductOp::getInPlaceOperand(unsigned result) { return result == 0 && getAccumulate() ? 2 : -1; }

GemmEpilogue ProductOp::getGemmEpilogue() {
  auto numberOf = [](MutableOperandRange operands) {
    return operands.empty() ? std::nullopt : std::optional(operands[0].getOperandNumber());
  };
  return {.bias = numberOf(getBiasMutable()),
          .auxiliary = numberOf(getAuxiliaryMutable()),
          .activation = getActivation(),
          .keepsActivationInput = getBefore(),
          .sideSum = getSideSum()};
}

// --- Gradient ---

/// op(lhs) = g op(rhs)^T for every matrix of the batch. If lhs is transposed, its cotangent is op(rhs) g^T,
/// unless a factor has no batch and must be on the right.
static Value buildLhsVjp(TensorBuilder &build, MatmulOp op, Value g) {
  bool rhsTransposed = op.getTransposeRhs(), sharedRhs = shapeOf(op.getRhs()).size() == 2;
  if (op.getReduceBatch()) {
    Value transposed = build.matmul(op.getRhs(), g, {.transposeLhs = rhsTransposed, .transposeRhs = true});
    return op.getTransposeLhs() ? transposed : build.transposeLast(transposed);
  }
  if (op.getTransposeLhs() && (!sharedRhs || shapeOf(g).size() == 2))
    return build.matmul(op.getRhs(), g, {.transposeLhs = rhsTransposed, .transposeRhs = true});
  Value plain = build.matmul(g, op.getRhs(), {.transposeRhs = !rhsTransposed});
  return op.getTransposeLhs() ? build.transposeLast(plain) : plain;
}

/// op(rhs) = op(lhs)^T g, summed over the batch if all matrices share rhs; transposed, g^T op(lhs).
static Value buildRhsVjp(TensorBuilder &build, MatmulOp op, Value g) {
  bool lhsTransposed = op.getTransposeLhs();
  if (op.getReduceBatch()) {
    Value plain = build.matmul(op.getLhs(), g, {.transposeLhs = !lhsTransposed});
    return op.getTransposeRhs() ? build.transposeLast(plain) : plain;
  }
  bool sum = shapeOf(op.getRhs()).size() == 2 && shapeOf(g).size() > 2;
  if (op.getTransposeRhs())
    return build.matmul(g, op.getLhs(),
                        {.transposeLhs = true, .transposeRhs = lhsTransposed, .reduceBatch = sum});
  return build.matmul(op.getLhs(), g, {.transposeLhs = !lhsTransposed, .reduceBatch = sum});
}

void MatmulOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed,
                        MutableArrayRef<Value> out) {
  if (getLhsScale()) {
    emitOpError("of fp8 has no gradient; the pass scale-operands creates such products after autodiff");
    return;
  }
  TensorBuilder build(builder, getLoc());
  Value cotangent = build.convert(g[0], tensorType(getLhs()).getElementType());
  if (needed[0])
    out[0] = buildLhsVjp(build, *this, cotangent);
  if (needed[1])
    out[1] = buildRhsVjp(build, *this, cotangent);
  if (getAccumulate())
    out[2] = g[0];
}

// --- Simplifications ---

/// Returns the operand of a transpose that swaps only the last two dimensions, or null.
static Value transposedLast(Value operand) {
  auto transpose = operand.getDefiningOp<TransposeOp>();
  if (!transpose || isa<DeferredType>(operand.getType()))
    return {};
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  int64_t rank = permutation.size();
  bool swapsLast = rank >= 2 && permutation[rank - 1] == rank - 2 && permutation[rank - 2] == rank - 1;
  return swapsLast && llvm::equal(permutation.drop_back(2), llvm::seq<int64_t>(0, rank - 2))
             ? transpose.getX()
             : Value();
}

/// Folds transposes into the product, except for fp8 factors.
LogicalResult MatmulOp::canonicalize(MatmulOp op, PatternRewriter &rewriter) {
  if (op.getLhsScale())
    return failure();
  Value lhs = transposedLast(op.getLhs()), rhs = transposedLast(op.getRhs());
  if (!lhs && !rhs)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    if (lhs) {
      op.getLhsMutable().assign(lhs);
      op.setTransposeLhs(!op.getTransposeLhs());
    }
    if (rhs) {
      op.getRhsMutable().assign(rhs);
      op.setTransposeRhs(!op.getTransposeRhs());
    }
  });
  return success();
}
