// nn.random: Philox4x32-10 and Box-Muller on lanes. The op's description fixes every bit of it.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Elementwise.h"

#include <array>
#include <numbers>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

Inferred RandomOp::inferTypes(Adaptor adaptor, InferError error) {
  const std::pair<StringRef, Value> scalars[] = {
      {"seed", adaptor.getSeed()}, {"step", adaptor.getStep()}, {"offset", adaptor.getOffset()}};
  for (auto [name, value] : scalars)
    if (tensorType(value).getRank() != 0 || !tensorType(value).getElementType().isInteger(64))
      return error() << "operand " << name << " must be a tensor<i64>, found " << value.getType();
  auto type = cast<RankedTensorType>(adaptor.getType());
  if (!isa<FloatType>(type.getElementType()))
    return error() << "draws floating-point numbers, found " << type;
  return SmallVector<Type>{type};
}

namespace {

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). Words are kept in i64
/// lanes with a zero upper half, since each round needs the full 64-bit products.
class Philox {
public:
  using Words = std::array<Value, 4>;

  Philox(OpBuilder &builder, const LaneContext &lanes) : builder(builder), lanes(lanes) {}

  Value number(int64_t value) { return lanes.constantInt(builder, builder.getI64Type(), value); }
  Value low(Value x) { return arith::AndIOp::create(builder, lanes.loc, x, number(0xFFFFFFFF)); }
  Value high(Value x) { return arith::ShRUIOp::create(builder, lanes.loc, x, number(32)); }
  Value exclusiveOr(Value x, Value y) { return arith::XOrIOp::create(builder, lanes.loc, x, y); }

  Words draw(Words counter, std::array<Value, 2> key) {
    for (int round = 0; round < 10; ++round) {
      if (round > 0)
        key = {advance(key[0], 0x9E3779B9), advance(key[1], 0xBB67AE85)};
      Value even = multiply(counter[0], 0xD2511F53), odd = multiply(counter[2], 0xCD9E8D57);
      counter = {exclusiveOr(exclusiveOr(high(odd), counter[1]), key[0]), low(odd),
                 exclusiveOr(exclusiveOr(high(even), counter[3]), key[1]), low(even)};
    }
    return counter;
  }

private:
  Value multiply(Value x, int64_t factor) {
    return arith::MulIOp::create(builder, lanes.loc, x, number(factor));
  }
  /// The next round's key word, modulo 2^32.
  Value advance(Value key, int64_t increment) {
    return low(arith::AddIOp::create(builder, lanes.loc, key, number(increment)));
  }

  OpBuilder &builder;
  const LaneContext &lanes;
};

} // namespace

/// The top 24 bits of a word as a number in [0, 1).
static Value toUniform(const Lanes &build, Value word) {
  const LaneContext &lanes = build.context;
  Value shift = lanes.constantInt(build.builder, build.builder.getI64Type(), 8);
  Value bits = build.create<arith::ShRUIOp>(word, shift);
  Value narrow = build.create<arith::TruncIOp>(lanes.type(build.builder.getI32Type()), bits);
  return build.mul(build.create<arith::SIToFPOp>(lanes.type(build.element), narrow), 0x1p-24);
}

static Value toNormal(const Lanes &build, Value uniform, Value angle) {
  Value positive = build.add(uniform, build.number(0x1p-24));
  Value squared = build.mul(build.create<math::LogOp>(positive), -2);
  Value cosine = build.create<math::CosOp>(build.mul(angle, 2 * std::numbers::pi));
  return build.mul(build.create<math::SqrtOp>(squared), cosine);
}

Value RandomOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  RankedTensorType type = tensorType(getResult());
  Value seed = operands[0], step = operands[1], offset = operands[2];
  Philox philox(builder, lanes);
  Value first = arith::MulIOp::create(builder, lanes.loc, offset, philox.number(type.getNumElements()));
  Value position = arith::AddIOp::create(builder, lanes.loc, first, lanes.linearIndex());
  Value key = philox.exclusiveOr(seed, lanes.stream(int64_t(getStream())));
  Philox::Words words =
      philox.draw({philox.low(position), philox.high(position), philox.low(step), philox.high(step)},
                  {philox.low(key), philox.high(key)});
  // 24 bits do not fit a 16-bit float: draw in f32 and round.
  auto element = cast<FloatType>(type.getElementType());
  Lanes build(builder, lanes, element.getWidth() < 32 ? builder.getF32Type() : Type(element));
  Value uniform = toUniform(build, words[0]);
  Value drawn = getNormal() ? toNormal(build, uniform, toUniform(build, words[1])) : uniform;
  return build.element == element ? drawn : build.create<arith::TruncFOp>(lanes.type(element), drawn);
}
