// Conversions to and from fp8 as instructions of GPUs.
#include "lib/Codegen/Cuda/Fp8Conversions.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Emitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static bool isOfFp8(Value value) { return nn::isFp8(getElementTypeOrSelf(value)); }

static bool convertsFp8(Operation *op) {
  return (isa<arith::TruncFOp>(op) && isOfFp8(op->getResult(0))) ||
         (isa<arith::ExtFOp>(op) && isOfFp8(op->getOperand(0)));
}

namespace {

/// Builds in front of a conversion of a scalar, or of a vector.
class Fp8Builder {
public:
  explicit Fp8Builder(Operation *op)
      : op(op), builder(op), emit(builder), loc(op->getLoc()),
        vector(dyn_cast<VectorType>(op->getOperand(0).getType())) {}

  Value build() {
    return isa<arith::TruncFOp>(op) ? narrowed(op->getOperand(0)) : widened(op->getOperand(0));
  }

private:
  static constexpr int64_t kPair = 2;

  int64_t count() const { return vector ? vector.getNumElements() : 1; }
  VectorType pairOf(Type element) const { return VectorType::get({kPair}, element); }
  Type i8() { return builder.getI8Type(); }
  Type bits() { return Emitter::laneType(i8(), vector ? count() : 0); }

  /// An odd number at the end is paired with itself.
  Value element(Value values, int64_t index) {
    return vector ? vector::ExtractOp::create(builder, loc, values, std::min(index, count() - 1)).getResult()
                  : values;
  }

  /// Elements [first, first + 2) of the instruction's results one behind the other, as the conversion has
  /// them.
  Value joined(ArrayRef<Value> pairs, Type type) {
    if (!vector)
      return vector::ExtractOp::create(builder, loc, pairs.front(), 0);
    Value all = emit.constant(type, 0);
    for (int64_t i = 0; i < count(); ++i) {
      Value each = vector::ExtractOp::create(builder, loc, pairs[i / kPair], i % kPair);
      all = vector::InsertOp::create(builder, loc, each, all, i);
    }
    return all;
  }

  /// The instruction puts its first operand into the upper byte, which is the second element.
  Value narrowed(Value wide) {
    Type narrow = getElementTypeOrSelf(op->getResult(0));
    SmallVector<Value> pairs;
    for (int64_t i = 0; i < count(); i += kPair)
      pairs.push_back(NVVM::ConvertF32x2ToF8x2Op::create(
          builder, loc, pairOf(i8()), element(wide, i + 1), element(wide, i), NVVM::FPRoundingMode::RN,
          NVVM::SaturationMode::SATFINITE, /*relu=*/false, narrow));
    return arith::BitcastOp::create(builder, loc, op->getResult(0).getType(), joined(pairs, bits()));
  }

  /// By way of f16, which holds every number of fp8.
  Value widened(Value narrow) {
    Type type = getElementTypeOrSelf(narrow), f16 = builder.getF16Type();
    Value held = arith::BitcastOp::create(builder, loc, bits(), narrow);
    SmallVector<Value> pairs;
    for (int64_t i = 0; i < count(); i += kPair) {
      Value pair = emit.constant(pairOf(i8()), 0);
      for (int64_t j = 0; j < kPair; ++j)
        pair = vector::InsertOp::create(builder, loc, element(held, i + j), pair, j);
      pairs.push_back(
          NVVM::ConvertF8x2ToF16x2Op::create(builder, loc, pairOf(f16), pair, /*relu=*/false, type));
    }
    Value halves = joined(pairs, Emitter::laneType(f16, vector ? count() : 0));
    return arith::ExtFOp::create(builder, loc, op->getResult(0).getType(), halves);
  }

  Operation *op;
  OpBuilder builder;
  Emitter emit;
  Location loc;
  VectorType vector;
};

} // namespace

bool trainc::codegen::convertsFp8(ModuleOp kernels) {
  return kernels.walk([](Operation *op) { return WalkResult(failure(::convertsFp8(op))); }).wasInterrupted();
}

void trainc::codegen::expandFp8Conversions(ModuleOp kernels) {
  kernels.walk([](Operation *op) {
    if (!::convertsFp8(op))
      return;
    op->getResult(0).replaceAllUsesWith(Fp8Builder(op).build());
    op->erase();
  });
}
