// Replaces conversions from and to bf16 and f16 that no instruction computes, or whose results differ between
// levels.
#include "lib/Codegen/Cpu/ExpandConversions.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc::codegen;

static Type elementOf(Value value) { return getElementTypeOrSelf(value); }

namespace {

/// Builds ops before an op, on vectors or scalars like its result.
class ConversionBuilder {
public:
  explicit ConversionBuilder(Operation *op)
      : builder(op), loc(op->getLoc()), result(op->getResult(0).getType()),
        vector(dyn_cast<VectorType>(result)) {}

  Type type32() { return type(builder.getF32Type()); }

  /// Converts f32 to the op's type.
  Value narrow(Value x) {
    return getElementTypeOrSelf(result).isBF16() ? roundToBf16(x)
                                                 : Value(arith::TruncFOp::create(builder, loc, result, x));
  }

  /// bf16 is the upper half of f32.
  Value widenBf16(Value x) {
    auto loaded = x.getDefiningOp<arith::BitcastOp>();
    Type shortType = type(builder.getI16Type());
    Value bits = loaded && loaded.getIn().getType() == shortType
                     ? loaded.getIn()
                     : arith::BitcastOp::create(builder, loc, shortType, x).getResult();
    Value upper = shift<arith::ShLIOp>(arith::ExtUIOp::create(builder, loc, i32(), bits), 16);
    return arith::BitcastOp::create(builder, loc, type32(), upper);
  }

  /// Rounds f64 to f32 such that further rounding to fewer bits gives the same result as rounding `x`
  /// directly: inexact numbers become the neighbour whose last bit is 1, which is never halfway between two
  /// shorter numbers.
  Value roundToOdd(Value x) {
    Value nearest = arith::TruncFOp::create(builder, loc, type32(), x);
    Value back = arith::ExtFOp::create(builder, loc, x.getType(), nearest);
    Value bits = arith::BitcastOp::create(builder, loc, i32(), nearest);
    auto magnitude = [&](Value y) { return math::AbsFOp::create(builder, loc, y).getResult(); };
    Value below = arith::SubIOp::create(builder, loc, bits, integer(1));
    Value isBeyond =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, magnitude(back), magnitude(x));
    Value cut = arith::SelectOp::create(builder, loc, isBeyond, below, bits);
    Value isInexact = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, back, x);
    Value last = arith::ExtUIOp::create(builder, loc, i32(), isInexact);
    return arith::BitcastOp::create(builder, loc, type32(), arith::OrIOp::create(builder, loc, cut, last));
  }

  /// Rounds an integer to f32 in the same way. f64 holds 53 bits; of longer integers the last retained bit
  /// records whether any dropped bit was set.
  Value integerToOdd(Value x) {
    const unsigned width = elementOf(x).getIntOrFloatBitWidth();
    if (width <= 24)
      return arith::SIToFPOp::create(builder, loc, type32(), x);
    if (width > 53)
      x = withoutLastBits(x, width - 53);
    return roundToOdd(arith::SIToFPOp::create(builder, loc, type(builder.getF64Type()), x));
  }

  OpBuilder builder;
  Location loc;

private:
  /// Rounds integers that f64 may not represent to multiples of 2^count, to the odd one of two neighbours.
  Value withoutLastBits(Value x, unsigned count) {
    auto number = [&](int64_t value) { return Emitter(builder).constant(x.getType(), value); };
    auto compare = [&](arith::CmpIPredicate predicate, Value a, int64_t b) {
      return arith::CmpIOp::create(builder, loc, predicate, a, number(b));
    };
    Value last = arith::AndIOp::create(builder, loc, x, number((int64_t(1) << count) - 1));
    Value upper = arith::SubIOp::create(builder, loc, x, last);
    Value isInexact =
        arith::ExtUIOp::create(builder, loc, x.getType(), compare(arith::CmpIPredicate::ne, last, 0));
    Value odd = arith::OrIOp::create(builder, loc, upper,
                                     arith::ShLIOp::create(builder, loc, isInexact, number(count)));
    constexpr int64_t kHeld = int64_t(1) << 53; // integers of smaller magnitude are exact
    Value moved = arith::AddIOp::create(builder, loc, x, number(kHeld));
    return arith::SelectOp::create(builder, loc, compare(arith::CmpIPredicate::ult, moved, 2 * kHeld), x,
                                   odd);
  }

  /// Rounds to nearest even by integer arithmetic, because the instruction flushes subnormal numbers to zero.
  /// Half a ULP, less one if the upper half is even, is added and carries into the upper half. NaN becomes
  /// quiet and keeps its upper bits.
  Value roundToBf16(Value x) {
    Value bits = arith::BitcastOp::create(builder, loc, i32(), x);
    Value upper = shift<arith::ShRUIOp>(bits, 16);
    Value odd = arith::AndIOp::create(builder, loc, upper, integer(1));
    Value half = arith::AddIOp::create(builder, loc, odd, integer(0x7fff));
    Value carried = shift<arith::ShRUIOp>(arith::AddIOp::create(builder, loc, bits, half), 16);
    Value quiet = arith::OrIOp::create(builder, loc, upper, integer(0x40));
    Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
    Value chosen = arith::SelectOp::create(builder, loc, isNaN, quiet, carried);
    Value narrow = arith::TruncIOp::create(builder, loc, type(builder.getI16Type()), chosen);
    return arith::BitcastOp::create(builder, loc, type(builder.getBF16Type()), narrow);
  }

  Type type(Type element) { return vector ? VectorType::get(vector.getShape(), element) : element; }
  Type i32() { return type(builder.getI32Type()); }
  Value integer(int64_t value) { return Emitter(builder).constant(i32(), value); }
  template <typename Shift> Value shift(Value x, int64_t by) {
    return Shift::create(builder, loc, x, integer(by));
  }

  Type result;
  VectorType vector;
};

/// Returns the replacement of `op`; null if it is kept. All conversions go through f32.
Value expanded(Operation &op) {
  if (auto wide = dyn_cast<arith::ExtFOp>(op); wide && elementOf(wide.getIn()).isBF16())
    return ConversionBuilder(&op).widenBf16(wide.getIn());
  if (op.getNumResults() != 1 || !trainc::nn::isLowPrecision(elementOf(op.getResult(0))))
    return {};
  ConversionBuilder build(&op);
  if (auto integer = dyn_cast<arith::SIToFPOp>(op))
    return build.narrow(build.integerToOdd(integer.getIn()));
  if (auto integer = dyn_cast<arith::UIToFPOp>(op)) // i1
    return build.narrow(arith::UIToFPOp::create(build.builder, build.loc, build.type32(), integer.getIn()));
  auto narrow = dyn_cast<arith::TruncFOp>(op);
  if (narrow && elementOf(narrow.getIn()).isF64())
    return build.narrow(build.roundToOdd(narrow.getIn()));
  return narrow && elementOf(narrow).isBF16() ? build.narrow(narrow.getIn()) : Value();
}

} // namespace

void trainc::codegen::expandConversions(Operation *root) {
  root->walk([](Operation *op) {
    Value value = expanded(*op);
    auto bits = dyn_cast<arith::BitcastOp>(op); // bits of an expanded conversion, used as integer again
    auto inner = bits ? bits.getIn().getDefiningOp<arith::BitcastOp>() : arith::BitcastOp();
    if (inner && inner.getIn().getType() == bits.getType())
      value = inner.getIn();
    if (!value)
      return;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  });
}
