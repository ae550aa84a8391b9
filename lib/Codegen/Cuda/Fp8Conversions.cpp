// Conversions from and to fp8 by GPU instructions.
#include "lib/Codegen/Cuda/Fp8Conversions.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

/// Builds ops before a conversion of a scalar or a vector.
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
  Type i16() { return builder.getI16Type(); }
  Type lanes(Type element) { return Emitter::laneType(element, vector ? count() : 0); }
  /// Returns the vector type with two bytes per element.
  Type words() { return VectorType::get({count() / kPair}, i16()); }

  Value element(Value values, int64_t index) {
    return vector ? vector::ExtractOp::create(builder, loc, values, index).getResult() : values;
  }
  /// Wraps a single number in the conversion's result type.
  Value single(Value value) {
    return vector ? vector::BroadcastOp::create(builder, loc, lanes(value.getType()), value).getResult()
                  : value;
  }
  /// Bitcasts; bytes are moved in pairs, because registers have no 8-bit parts.
  Value bitsAs(Type type, Value value) { return LLVM::BitcastOp::create(builder, loc, type, value); }

  /// The instruction puts its first operand into the upper byte, which is the second element.
  Value narrowedPair(Value first, Value second) {
    return NVVM::ConvertF32x2ToF8x2Op::create(builder, loc, i16(), second, first, NVVM::FPRoundingMode::RN,
                                              NVVM::SaturationMode::SATFINITE, /*relu=*/false,
                                              getElementTypeOrSelf(op->getResult(0)));
  }

  Value narrowed(Value wide) {
    Value bytes;
    if (count() == 1) {
      Value only = element(wide, 0);
      bytes = single(
          arith::TruncIOp::create(builder, loc, builder.getI8Type(), narrowedPair(only, only)).getResult());
    } else {
      Value all = emit.constant(words(), 0);
      for (int64_t i = 0; i < count(); i += kPair)
        all = vector::InsertOp::create(builder, loc, narrowedPair(element(wide, i), element(wide, i + 1)),
                                       all, i / kPair);
      bytes = bitsAs(lanes(builder.getI8Type()), all);
    }
    return arith::BitcastOp::create(builder, loc, op->getResult(0).getType(), bytes);
  }

  /// Converts through f16, which represents every fp8 number.
  Value widenedPair(Value word, Type narrow) {
    return NVVM::ConvertF8x2ToF16x2Op::create(builder, loc, pairOf(builder.getF16Type()),
                                              bitsAs(pairOf(builder.getI8Type()), word), /*relu=*/false,
                                              narrow);
  }

  Value widened(Value narrow) {
    Type type = getElementTypeOrSelf(narrow), f16 = builder.getF16Type();
    Value bytes = arith::BitcastOp::create(builder, loc, lanes(builder.getI8Type()), narrow), halves;
    if (count() == 1) {
      Value word = arith::ExtUIOp::create(builder, loc, i16(), element(bytes, 0));
      halves = single(vector::ExtractOp::create(builder, loc, widenedPair(word, type), 0).getResult());
    } else {
      halves = emit.constant(lanes(f16), 0);
      Value all = bitsAs(words(), bytes);
      Value pair;
      for (int64_t i = 0; i < count(); ++i) {
        if (i % kPair == 0)
          pair = widenedPair(vector::ExtractOp::create(builder, loc, all, i / kPair), type);
        Value half = vector::ExtractOp::create(builder, loc, pair, i % kPair);
        halves = vector::InsertOp::create(builder, loc, half, halves, i);
      }
    }
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
