// Conversions by integer arithmetic, since the CPU's own from f32 to bf16 takes subnormal numbers for zero.
// Those of f16 keep them.
#include "lib/Codegen/Cpu/LowPrecision.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

/// Ops on the 32 bits of f32 lanes.
struct Bits {
  Emitter &emit;
  VectorType type;

  Bits(Emitter &emit, int64_t lanes)
      : emit(emit), type(VectorType::get({lanes}, emit.builder.getI32Type())) {}

  Value constant(int64_t value) { return emit.constant(type, double(value)); }
  Value shiftedLeft(Value bits) { return arith::ShLIOp::create(emit.builder, emit.loc, bits, constant(16)); }
  Value shiftedRight(Value bits) {
    return arith::ShRUIOp::create(emit.builder, emit.loc, bits, constant(16));
  }
};

} // namespace

Type trainc::codegen::sumElement(Type element) {
  return nn::isLowPrecision(element) ? Float32Type::get(element.getContext()) : element;
}

Value trainc::codegen::loadWidened(Emitter &emit, const Address &from, int64_t lanes, Mask mask) {
  Type real = Emitter::laneType(emit.builder.getF32Type(), lanes);
  if (from.element.isF16())
    return arith::ExtFOp::create(emit.builder, emit.loc, real, emit.load(from, lanes, mask));
  Bits bits(emit, lanes);
  Value half = emit.load({from.base, emit.builder.getI16Type(), from.index}, lanes, mask);
  Value word = arith::ExtUIOp::create(emit.builder, emit.loc, bits.type, half);
  return arith::BitcastOp::create(emit.builder, emit.loc, real, bits.shiftedLeft(word));
}

/// The upper half of each word, after half of the lower's unit was added: a little less than it where the
/// upper half is even. That would carry NaNs into infinity, so these lose their lower half and become quiet.
static Value roundedToBf16(Emitter &emit, Value value, int64_t lanes) {
  Bits bits(emit, lanes);
  Value word = arith::BitcastOp::create(emit.builder, emit.loc, bits.type, value);
  Value upper = bits.shiftedRight(word);
  Value odd = arith::AndIOp::create(emit.builder, emit.loc, upper, bits.constant(1));
  Value rounded = bits.shiftedRight(emit.add(emit.add(word, bits.constant(0x7fff)), odd));
  Value quiet = arith::OrIOp::create(emit.builder, emit.loc, upper, bits.constant(0x40));
  Value isNan = arith::CmpFOp::create(emit.builder, emit.loc, arith::CmpFPredicate::UNO, value, value);
  Value chosen = arith::SelectOp::create(emit.builder, emit.loc, isNan, quiet, rounded);
  Type half = Emitter::laneType(emit.builder.getI16Type(), lanes);
  return arith::TruncIOp::create(emit.builder, emit.loc, half, chosen);
}

void trainc::codegen::storeRounded(Emitter &emit, Value value, const Address &to, Mask mask) {
  const int64_t lanes = cast<VectorType>(value.getType()).getNumElements();
  if (to.element.isF16()) {
    Type half = Emitter::laneType(to.element, lanes);
    return emit.store(arith::TruncFOp::create(emit.builder, emit.loc, half, value), to, mask);
  }
  emit.store(roundedToBf16(emit, value, lanes), {to.base, emit.builder.getI16Type(), to.index}, mask);
}
