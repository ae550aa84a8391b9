// Short forms for the ops that kernels are made of.
#include "lib/Codegen/Kernels/Emitter.h"

#include "dialects/NN/Builders.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

// --- Types ---

Type Emitter::pointerType() const { return LLVM::LLVMPointerType::get(builder.getContext()); }

Type Emitter::laneType(Type element, int64_t lanes) {
  return lanes == 0 ? element : VectorType::get({lanes}, element);
}

Type trainc::codegen::memoryElement(Type element) {
  if (nn::isFp8(element))
    return IntegerType::get(element.getContext(), 8);
  return nn::isLowPrecision(element) ? IntegerType::get(element.getContext(), 16) : storedElement(element);
}

/// Returns the element type for address computations.
static Type addressedElement(Type element) {
  return nn::isFp8(element) ? memoryElement(element) : storedElement(element);
}

static int64_t lanesOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 0;
}

// --- Arithmetic ---

Value Emitter::i64(int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

Value Emitter::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr scalar;
  if (isa<FloatType>(element))
    scalar = builder.getFloatAttr(element, value);
  else
    scalar = builder.getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    scalar = cast<TypedAttr>(DenseElementsAttr::get(vector, Attribute(scalar)));
  return arith::ConstantOp::create(builder, loc, scalar);
}

static std::optional<int64_t> constantValue(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto integer = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return integer ? std::optional(integer.getInt()) : std::nullopt;
}

Value Emitter::add(Value a, Value b) {
  if (isa<FloatType>(getElementTypeOrSelf(a)))
    return arith::AddFOp::create(builder, loc, a, b);
  if (constantValue(a) == 0)
    return b;
  if (constantValue(b) == 0)
    return a;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value Emitter::add(Value a, int64_t b) { return b == 0 ? a : add(a, i64(b)); }

Value Emitter::sub(Value a, Value b) {
  if (isa<FloatType>(getElementTypeOrSelf(a)))
    return arith::SubFOp::create(builder, loc, a, b);
  return arith::SubIOp::create(builder, loc, a, b);
}

Value Emitter::mul(Value a, Value b) {
  if (isa<FloatType>(getElementTypeOrSelf(a)))
    return arith::MulFOp::create(builder, loc, a, b);
  return arith::MulIOp::create(builder, loc, a, b);
}

Value Emitter::mul(Value a, int64_t b) { return b == 1 ? a : mul(a, constant(a.getType(), b)); }

Value Emitter::divide(Value a, int64_t b) {
  if (b == 1)
    return a;
  if (llvm::isPowerOf2_64(b))
    return arith::ShRUIOp::create(builder, loc, a, constant(a.getType(), llvm::Log2_64(b)));
  return arith::DivUIOp::create(builder, loc, a, constant(a.getType(), b));
}

Value Emitter::remainder(Value a, int64_t b) {
  if (llvm::isPowerOf2_64(b))
    return arith::AndIOp::create(builder, loc, a, constant(a.getType(), b - 1));
  return arith::RemUIOp::create(builder, loc, a, constant(a.getType(), b));
}

Value Emitter::min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value Emitter::max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
Value Emitter::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

// --- Lanes ---

Value Emitter::splat(Value scalar, int64_t lanes) {
  return lanes == 0 ? scalar
                    : vector::BroadcastOp::create(builder, loc, laneType(scalar.getType(), lanes), scalar);
}

Value Emitter::lanesIota(int64_t lanes) {
  SmallVector<int64_t> values(lanes);
  std::iota(values.begin(), values.end(), 0);
  auto type = VectorType::get({lanes}, builder.getI64Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(values)));
}

Mask Emitter::lanesBelow(Value count, int64_t lanes) {
  SmallVector<int32_t> values(lanes);
  std::iota(values.begin(), values.end(), 0);
  auto type = VectorType::get({lanes}, builder.getI32Type());
  Value iota =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(values)));
  Value bound = arith::TruncIOp::create(builder, loc, builder.getI32Type(), min(count, i64(lanes)));
  return less(iota, splat(bound, lanes));
}

/// Takes log2(n) rounds, each of which swaps the off-diagonal halves of ever smaller squares.
SmallVector<Value> Emitter::transposed(SmallVector<Value> rows) {
  const int64_t n = rows.size();
  // Squares of four lanes are transposed at the end, by shuffles that do not cross 128 bits.
  const int64_t smallest = n % 4 == 0 ? 4 : 1;
  for (int64_t half = n / 2; half >= smallest; half /= 2) {
    SmallVector<int64_t> upper(n), lower(n);
    for (int64_t lane = 0; lane < n; ++lane) {
      bool left = (lane & half) == 0;
      upper[lane] = left ? lane : n + lane - half;
      lower[lane] = left ? lane + half : n + lane;
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & half)
        continue;
      Value a = rows[i], b = rows[i + half];
      rows[i] = vector::ShuffleOp::create(builder, loc, a, b, upper);
      rows[i + half] = vector::ShuffleOp::create(builder, loc, a, b, lower);
    }
  }
  if (smallest == 1)
    return rows;
  // Selects four of every four lanes of a and the same four of b; numbers from 4 on are lanes of b.
  const auto shuffle = [&](Value a, Value b, std::array<int64_t, 4> fours) -> Value {
    SmallVector<int64_t> lanes;
    for (int64_t group = 0; group < n; group += 4)
      for (int64_t lane : fours)
        lanes.push_back(group + (lane < 4 ? lane : n + lane - 4));
    return vector::ShuffleOp::create(builder, loc, a, b, lanes);
  };
  constexpr std::array<int64_t, 4> kLowLanes = {0, 4, 1, 5}, kHighLanes = {2, 6, 3, 7},
                                   kLowPairs = {0, 1, 4, 5}, kHighPairs = {2, 3, 6, 7};
  for (int64_t i = 0; i < n; i += 4) {
    Value low01 = shuffle(rows[i], rows[i + 1], kLowLanes),
          high01 = shuffle(rows[i], rows[i + 1], kHighLanes),
          low23 = shuffle(rows[i + 2], rows[i + 3], kLowLanes),
          high23 = shuffle(rows[i + 2], rows[i + 3], kHighLanes);
    rows[i] = shuffle(low01, low23, kLowPairs);
    rows[i + 1] = shuffle(low01, low23, kHighPairs);
    rows[i + 2] = shuffle(high01, high23, kLowPairs);
    rows[i + 3] = shuffle(high01, high23, kHighPairs);
  }
  return rows;
}

// --- Memory ---

Value Emitter::pointer(Value base, Type element, Value index) {
  if (constantValue(index) == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, pointerType(), addressedElement(element), base, ValueRange{index});
}

/// Returns the alignment in bytes.
unsigned Emitter::alignmentOf(Type memory, int64_t lanes) const {
  const unsigned element = std::max(1u, memory.getIntOrFloatBitWidth() / 8);
  return alignsVectors && lanes > 0 ? std::min(element * unsigned(lanes), unsigned(kAccessBytes)) : element;
}

Value Emitter::load(const Address &from, int64_t lanes, Mask mask) {
  Type memory = memoryElement(from.element), type = laneType(memory, lanes);
  Value address = pointer(from.base, from.element, from.index), value;
  if (mask)
    value = LLVM::MaskedLoadOp::create(builder, loc, type, address, mask, constant(type, 0),
                                       alignmentOf(memory, /*lanes=*/0));
  else
    value = LLVM::LoadOp::create(builder, loc, type, address, alignmentOf(memory, lanes));
  if (nn::isLowPrecision(from.element))
    return rounded(arith::BitcastOp::create(builder, loc, laneType(from.element, lanes), value),
                   from.element);
  if (nn::isFp8(from.element))
    return arith::BitcastOp::create(builder, loc, laneType(from.element, lanes), value);
  if (!from.element.isInteger(1))
    return value;
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, constant(type, 0));
}

void Emitter::store(Value value, const Address &to, Mask mask) {
  Type memory = memoryElement(to.element);
  if (nn::isLowPrecision(to.element))
    value = shortBits(value, to.element);
  if (nn::isFp8(to.element))
    value = arith::BitcastOp::create(builder, loc, laneType(memory, lanesOf(value)), value);
  if (to.element.isInteger(1))
    value = arith::ExtUIOp::create(builder, loc, laneType(memory, lanesOf(value)), value);
  Value address = pointer(to.base, to.element, to.index);
  if (mask)
    LLVM::MaskedStoreOp::create(builder, loc, value, address, mask, alignmentOf(memory, /*lanes=*/0));
  else
    LLVM::StoreOp::create(builder, loc, value, address, alignmentOf(memory, lanesOf(value)));
}

// --- bf16 and f16 ---

/// Whether rounding to `element` would not change `value`.
static bool isNumberOf(Type element, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto wide = dyn_cast_or_null<arith::ExtFOp>(op))
    return getElementTypeOrSelf(wide.getIn()) == element;
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return isNumberOf(element, select.getTrueValue()) && isNumberOf(element, select.getFalseValue());
  if (auto broadcast = dyn_cast_or_null<vector::BroadcastOp>(op))
    return isNumberOf(element, broadcast.getSource());
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return false;
  bool inexact;
  number.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return !inexact;
}

Value Emitter::rounded(Value value, Type element) {
  if (!nn::isLowPrecision(element))
    return value;
  Type held = laneType(builder.getF32Type(), lanesOf(value)), narrow = laneType(element, lanesOf(value));
  if (value.getType() == held && isNumberOf(element, value))
    return value;
  if (value.getType() == held)
    value = arith::TruncFOp::create(builder, loc, narrow, value);
  return arith::ExtFOp::create(builder, loc, held, value);
}

/// Values that were only moved are stored bit by bit, because conversions would change NaNs.
Value Emitter::shortBits(Value value, Type element) {
  Type bits = laneType(builder.getI16Type(), lanesOf(value));
  if (auto wide = value.getDefiningOp<arith::ExtFOp>(); wide && isNumberOf(element, value)) {
    auto loaded = wide.getIn().getDefiningOp<arith::BitcastOp>();
    return loaded ? loaded.getIn() : arith::BitcastOp::create(builder, loc, bits, wide.getIn()).getResult();
  }
  if (auto select = value.getDefiningOp<arith::SelectOp>(); select && isNumberOf(element, value))
    return arith::SelectOp::create(builder, loc, select.getCondition(),
                                   shortBits(select.getTrueValue(), element),
                                   shortBits(select.getFalseValue(), element));
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>(); broadcast && isNumberOf(element, value))
    return vector::BroadcastOp::create(builder, loc, bits, shortBits(broadcast.getSource(), element));
  Value narrow = arith::TruncFOp::create(builder, loc, laneType(element, lanesOf(value)), value);
  return arith::BitcastOp::create(builder, loc, bits, narrow);
}

void Emitter::prefetch(Value pointer, bool forWrite) {
  LLVM::Prefetch::create(builder, loc, pointer, /*rw=*/forWrite, /*hint=*/3, /*cache=*/1);
}

Value Emitter::stackArray(Type element, int64_t count) {
  return LLVM::AllocaOp::create(builder, loc, pointerType(), addressedElement(element), i64(count),
                                /*alignment=*/64);
}

// --- Control ---

SmallVector<Value> Emitter::loop(Value begin, Value end, int64_t step, ValueRange carried, LoopBody body) {
  auto op = scf::ForOp::create(builder, loc, begin, end, i64(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(op.getResults());
}

void Emitter::loop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body) {
  loop(begin, end, step, ValueRange{}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>{};
  });
}

void Emitter::when(Value condition, llvm::function_ref<void()> body) {
  auto op = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  body();
}
