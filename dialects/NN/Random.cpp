// nn.random and nn.stochastic_round: Philox4x32-10 and Box-Muller on lanes. The ops' descriptions specify
// every bit.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Elementwise.h"
#include "dialects/NN/Philox.h"

#include <numbers>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

/// Reports an error unless the values that key random numbers are i64 scalars.
static LogicalResult checkScalars(ArrayRef<std::pair<StringRef, Value>> scalars, InferError error) {
  for (auto [name, value] : scalars)
    if (tensorType(value).getRank() != 0 || !tensorType(value).getElementType().isInteger(64))
      return error() << "operand " << name << " must be a tensor<i64>, found " << value.getType();
  return success();
}

Inferred RandomOp::inferTypes(Adaptor adaptor, InferError error) {
  if (failed(checkScalars(
          {{"seed", adaptor.getSeed()}, {"step", adaptor.getStep()}, {"offset", adaptor.getOffset()}},
          error)))
    return failure();
  auto type = cast<RankedTensorType>(adaptor.getType());
  if (!isa<FloatType>(type.getElementType()))
    return error() << "draws floating-point numbers, found " << type;
  return SmallVector<Type>{type};
}

/// Converts the top 24 bits of a word to a number in [0, 1).
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
  // 16-bit floats cannot represent 24 bits: draw in f32 and round.
  auto element = cast<FloatType>(type.getElementType());
  Lanes build(builder, lanes, element.getWidth() < 32 ? builder.getF32Type() : Type(element));
  Value uniform = toUniform(build, words[0]);
  Value drawn = getNormal() ? toNormal(build, uniform, toUniform(build, words[1])) : uniform;
  return build.element == element ? drawn : build.create<arith::TruncFOp>(lanes.type(element), drawn);
}

// --- nn.stochastic_round ---

/// Number of 16-bit numbers in one draw of four words.
static constexpr int64_t kDraws = 8;

Inferred StochasticRoundOp::inferTypes(Adaptor adaptor, InferError error) {
  RankedTensorType type = tensorType(adaptor.getX()), chunks = tensorType(adaptor.getChunks());
  if (!type.getElementType().isF32())
    return error() << "rounds f32 numbers, found " << type;
  if (!chunks.getElementType().isInteger(64))
    return error() << "operand chunks must hold i64 numbers, found " << chunks;
  if (failed(checkSameShape("x", adaptor.getX(), "chunks", adaptor.getChunks(), error)) ||
      failed(checkScalars({{"seed", adaptor.getSeed()}, {"step", adaptor.getStep()}}, error)))
    return failure();
  if (const auto draw = int64_t(adaptor.getDraw()); draw < 0 || draw >= kDraws)
    return error() << "draw must be 0 to " << kDraws - 1 << ", the numbers of one draw, found " << draw;
  return SmallVector<Type>{RankedTensorType::get(type.getShape(), BFloat16Type::get(type.getContext()))};
}

/// Returns the 16-bit number `draw` of `words`, as i32.
static Value drawnBits(const Lanes &build, const Philox::Words &words, int64_t draw) {
  Type i32 = build.builder.getI32Type();
  auto number = [&](int64_t value) { return build.context.constantInt(build.builder, i32, value); };
  Value word = build.create<arith::TruncIOp>(build.context.type(i32), words[draw / 2]);
  return draw % 2 == 1 ? build.create<arith::ShRUIOp>(word, number(16))
                       : build.create<arith::AndIOp>(word, number(0xFFFF));
}

/// bf16 is the upper half of f32. A random 16-bit number is added to the lower half and carries into the
/// upper half with the probability that the lower half represents.
static Value roundUpper(const Lanes &build, Value x, Value random) {
  const LaneContext &lanes = build.context;
  auto number = [&](int64_t value) {
    return lanes.constantInt(build.builder, build.builder.getI32Type(), value);
  };
  auto upper = [&](Value bits) { return build.create<arith::ShRUIOp>(bits, number(16)); };
  Value bits = build.create<arith::BitcastOp>(lanes.type(build.builder.getI32Type()), x);
  Value magnitude = build.create<arith::AndIOp>(bits, number(0x7FFFFFFF));
  Value isBeyond = build.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, magnitude, number(0x7F7F0000));
  Value isNaN = build.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, magnitude, number(0x7F800000));
  Value half = number(0x8000); // round to nearest
  Value added = build.create<arith::SelectOp>(isBeyond, half, random);
  Value carried = upper(build.create<arith::AddIOp>(bits, added));
  Value quiet = build.create<arith::OrIOp>(upper(bits), number(0x40));
  Value rounded = build.create<arith::SelectOp>(isNaN, quiet, carried);
  Value narrow = build.create<arith::TruncIOp>(lanes.type(build.builder.getI16Type()), rounded);
  return build.create<arith::BitcastOp>(lanes.type(build.builder.getBF16Type()), narrow);
}

Value StochasticRoundOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Value x = operands[0], chunk = operands[1], seed = operands[2], step = operands[3];
  Philox philox(builder, lanes);
  Value first = arith::MulIOp::create(builder, lanes.loc, chunk, philox.number(kDrawnChunk));
  Value within =
      arith::AndIOp::create(builder, lanes.loc, lanes.linearIndex(), philox.number(kDrawnChunk - 1));
  Value position = arith::AddIOp::create(builder, lanes.loc, first, within);
  Philox::Words words =
      philox.draw({philox.low(position), philox.high(position), philox.low(step), philox.high(step)},
                  {philox.low(seed), philox.high(seed)});
  Lanes build(builder, lanes, x);
  return roundUpper(build, x, drawnBits(build, words, int64_t(getDraw())));
}
