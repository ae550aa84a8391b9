// Packing of rows of op(A) and columns of op(B) into panels.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cpu/FmaProducts.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::fma;

namespace {

struct Packing {
  Emitter &emit;
  Factors factors;
  int64_t width, panelStride;
  Value to, from, stride, valid, depth;

  void copyLanes();
  void transposeLanes();

private:
  enum class Last { No, HalfPair };

  void copyRow(Value whole, Value word, Last last);
  Value rowLanes(Value row, Value next, Value lane, int64_t lanes, Mask mask);
  void transposeSquare(Value panel, Value source, Value last, Value lane, Value word, Mask mask);
  Value squareRow(Value source, Value index, Mask mask);

  Value panelAt(Value lane) {
    return emit.pointer(to, factors.word(), emit.mul(emit.divide(lane, width), panelStride));
  }
  Value element(Value base, Value index) { return emit.pointer(base, factors.element, index); }
  int64_t lineElements() const { return kLineBytes / elementBytes(factors.element); }

  static constexpr int64_t kSquare = 8;
};

} // namespace

/// Copies the matrix row by row, or for pairs by two rows. If the depth is odd, the last pair is completed by
/// zero.
void Packing::copyLanes() {
  Value whole = emit.mul(emit.divide(valid, width), width);
  emit.loop(emit.i64(0), emit.divide(depth, factors.wordTerms()), 1,
            [&](Value word) { copyRow(whole, word, Last::No); });
  if (factors.pairs)
    emit.when(emit.less(emit.i64(0), emit.remainder(depth, 2)),
              [&] { copyRow(whole, emit.divide(depth, 2), Last::HalfPair); });
}

/// Prefetches following rows, which are too far away for hardware prefetching. Panels before lane `whole` are
/// full.
void Packing::copyRow(Value whole, Value word, Last last) {
  constexpr int64_t kWordsAhead = 8;
  const int64_t vector = std::gcd(width, int64_t{16});
  Value row = element(from, emit.mul(emit.mul(word, factors.wordTerms()), stride));
  Value next = factors.pairs && last == Last::No ? element(row, stride) : Value();
  SmallVector<Value> later;
  for (int64_t term = 0; term < factors.wordTerms(); ++term)
    later.push_back(element(row, emit.mul(stride, kWordsAhead * factors.wordTerms() + term)));
  auto copy = [&](Value lane, llvm::function_ref<Mask(int64_t)> mask) {
    for (int64_t first = 0; first < width; first += vector) {
      Value words = rowLanes(row, next, emit.add(lane, first), vector, mask(first));
      emit.store(words, {panelAt(lane), factors.word(), emit.add(emit.mul(word, width), first)});
    }
  };
  emit.loop(emit.i64(0), whole, width, [&](Value lane) {
    for (Value each : later)
      for (int64_t line = 0; line < width; line += lineElements())
        emit.prefetch(element(each, emit.add(lane, line)));
    copy(lane, [](int64_t) { return Mask(); });
  });
  emit.when(emit.less(whole, valid), [&] {
    copy(whole, [&](int64_t first) {
      return emit.lanesBelow(emit.sub(emit.sub(valid, whole), emit.i64(first)), vector);
    });
  });
}

/// Returns the words of adjacent lanes in `row` and, for pairs, in `next`, if there is one.
Value Packing::rowLanes(Value row, Value next, Value lane, int64_t lanes, Mask mask) {
  const Address at{row, factors.element, lane};
  if (!factors.pairs)
    return emit.load(at, lanes, mask);
  Type half = emit.builder.getI16Type(), bits = Emitter::laneType(emit.builder.getI32Type(), lanes);
  Value words =
      arith::ExtUIOp::create(emit.builder, emit.loc, bits, emit.load({row, half, lane}, lanes, mask));
  if (next) {
    Value upper =
        arith::ExtUIOp::create(emit.builder, emit.loc, bits, emit.load({next, half, lane}, lanes, mask));
    upper = arith::ShLIOp::create(emit.builder, emit.loc, upper, emit.constant(bits, 16));
    words = arith::OrIOp::create(emit.builder, emit.loc, words, upper);
  }
  return arith::BitcastOp::create(emit.builder, emit.loc, Emitter::laneType(factors.word(), lanes), words);
}

/// Transposes a square of lanes by terms. `lane` is relative to the panel's first lane, whose data begin at
/// `source`; lanes past `last` repeat it. The mask applies to terms.
void Packing::transposeSquare(Value panel, Value source, Value last, Value lane, Value word, Mask mask) {
  Value term = emit.mul(word, factors.wordTerms());
  SmallVector<Value> rows;
  for (int64_t i = 0; i < kSquare; ++i) {
    Value row = emit.mul(emit.min(emit.add(lane, i), last), stride);
    Value later = emit.mul(emit.add(lane, kSquare + i), stride);
    emit.prefetch(element(source, emit.add(later, term)));
    rows.push_back(squareRow(source, emit.add(row, term), mask));
  }
  for (auto [i, words] : llvm::enumerate(emit.transposed(rows)))
    emit.store(words, {panel, factors.word(), emit.add(emit.mul(emit.add(word, int64_t(i)), width), lane)});
}

/// Returns the words that begin at element `index` of the source.
Value Packing::squareRow(Value source, Value index, Mask mask) {
  if (!factors.pairs)
    return rowLanes(source, Value(), index, kSquare, mask);
  Value terms = emit.load({source, emit.builder.getI16Type(), index}, 2 * kSquare, mask);
  return vector::BitCastOp::create(emit.builder, emit.loc, Emitter::laneType(factors.word(), kSquare), terms);
}

/// A panel has room for a whole square even if the depth ends inside it.
void Packing::transposeLanes() {
  const int64_t squareTerms = kSquare * factors.wordTerms();
  Value squares = emit.divide(depth, squareTerms), whole = emit.mul(squares, kSquare),
        rest = emit.sub(depth, emit.mul(squares, squareTerms));
  emit.loop(emit.i64(0), valid, width, [&](Value first) {
    Value panel = panelAt(first), source = element(from, emit.mul(first, stride));
    Value last = emit.sub(emit.sub(valid, first), emit.i64(1));
    emit.loop(emit.i64(0), emit.i64(width), kSquare, [&](Value lane) {
      emit.loop(emit.i64(0), whole, kSquare,
                [&](Value word) { transposeSquare(panel, source, last, lane, word, Mask()); });
      emit.when(emit.less(emit.i64(0), rest), [&] {
        transposeSquare(panel, source, last, lane, whole, emit.lanesBelow(rest, squareTerms));
      });
    });
  });
}

Type Factors::word() const { return nn::wideElement(element); }

std::string fma::packName(Type element, Side side, LaneOrder order) {
  return typedName(std::string(order == LaneOrder::Adjacent ? "gemm_copy_" : "gemm_transpose_") +
                       (side == Side::A ? "a" : "b"),
                   element);
}

void fma::pack(Emitter &emit, func::FuncOp function, const Factors &factors, LaneOrder order, int64_t width,
               const ProductSizes &sizes) {
  const int64_t panelStride = sizes.panelStride(width) / sizes.packedBytes;
  auto args = function.getArguments();
  Packing packing{emit, factors, width, panelStride, args[0], args[1], args[2], args[3], args[4]};
  if (order == LaneOrder::Adjacent)
    packing.copyLanes();
  else
    packing.transposeLanes();
}
