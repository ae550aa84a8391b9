// Packing: rows of op(A) and columns of op(B) into panels.
#include "lib/Codegen/Cpu/FmaProducts.h"
#include "lib/Codegen/Cpu/Levels.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace trainc::codegen;
using namespace trainc::codegen::fma;

namespace {

struct Packing {
  Emitter &emit;
  Type element;
  int64_t width, panelStride;
  Value to, from, stride, valid, depth;

  void copyLanes();
  void transposeLanes();

private:
  void transposeSquare(Value panel, Value source, Value last, Value lane, Value term, Mask mask);
  Value panelAt(Value lane) {
    return emit.pointer(to, element, emit.mul(emit.divide(lane, width), panelStride));
  }

  static constexpr int64_t kSquare = 8;
};

} // namespace

/// Row by row of the matrix, as it lies in memory; the rows that follow are too far away for the CPU's own
/// prefetching.
void Packing::copyLanes() {
  constexpr int64_t kRowsAhead = 8;
  const int64_t vector = std::gcd(width, kLine);
  Value whole = emit.mul(emit.divide(valid, width), width);
  emit.loop(emit.i64(0), depth, 1, [&](Value term) {
    Value row = emit.pointer(from, element, emit.mul(term, stride));
    Value later = emit.pointer(row, element, emit.mul(stride, kRowsAhead));
    auto copy = [&](Value lane, llvm::function_ref<Mask(int64_t)> mask) {
      for (int64_t first = 0; first < width; first += vector) {
        Value lanes = emit.load({row, element, emit.add(lane, first)}, vector, mask(first));
        emit.store(lanes, {panelAt(lane), element, emit.add(emit.mul(term, width), first)});
      }
    };
    emit.loop(emit.i64(0), whole, width, [&](Value lane) {
      for (int64_t line = 0; line < width; line += kLine)
        emit.prefetch(emit.pointer(later, element, emit.add(lane, line)));
      copy(lane, [](int64_t) { return Mask(); });
    });
    emit.when(emit.less(whole, valid), [&] {
      copy(whole, [&](int64_t first) {
        return emit.lanesBelow(emit.sub(emit.sub(valid, whole), emit.i64(first)), vector);
      });
    });
  });
}

/// `lane` is counted from the panel's first, whose source is `source`; lanes past `last` repeat it. The mask
/// is of terms.
void Packing::transposeSquare(Value panel, Value source, Value last, Value lane, Value term, Mask mask) {
  SmallVector<Value> rows;
  for (int64_t i = 0; i < kSquare; ++i) {
    Value row = emit.mul(emit.min(emit.add(lane, i), last), stride);
    Value later = emit.mul(emit.add(lane, kSquare + i), stride);
    emit.prefetch(emit.pointer(source, element, emit.add(later, term)));
    rows.push_back(emit.load({source, element, emit.add(row, term)}, kSquare, mask));
  }
  for (auto [i, terms] : llvm::enumerate(emit.transposed(rows)))
    emit.store(terms, {panel, element, emit.add(emit.mul(emit.add(term, int64_t(i)), width), lane)});
}

/// A panel has room for a whole square where the depth ends inside one.
void Packing::transposeLanes() {
  Value whole = emit.mul(emit.divide(depth, kSquare), kSquare), rest = emit.sub(depth, whole);
  emit.loop(emit.i64(0), valid, width, [&](Value first) {
    Value panel = panelAt(first), source = emit.pointer(from, element, emit.mul(first, stride));
    Value last = emit.sub(emit.sub(valid, first), emit.i64(1));
    emit.loop(emit.i64(0), emit.i64(width), kSquare, [&](Value lane) {
      emit.loop(emit.i64(0), whole, kSquare,
                [&](Value term) { transposeSquare(panel, source, last, lane, term, Mask()); });
      emit.when(emit.less(emit.i64(0), rest),
                [&] { transposeSquare(panel, source, last, lane, whole, emit.lanesBelow(rest, kSquare)); });
    });
  });
}

func::FuncOp fma::packPanels(KernelModule &kernels, Type element, Side side, LaneOrder order,
                             int64_t laneStride) {
  const bool adjacent = order == LaneOrder::Adjacent;
  const SmallVector<Type> inputs = argumentTypes(kernels.getContext(), 2, 3);
  auto pack = [&](Emitter &emit, func::FuncOp function, int64_t width) {
    auto args = function.getArguments();
    Packing packing{emit, element, width, laneStride * width, args[0], args[1], args[2], args[3], args[4]};
    if (adjacent)
      packing.copyLanes();
    else
      packing.transposeLanes();
  };
  if (side == Side::A)
    return internalFunction(kernels, typedName(adjacent ? "gemm_copy_a" : "gemm_transpose_a", element),
                            inputs,
                            [&](Emitter &emit, func::FuncOp function) { pack(emit, function, kPanelRows); });
  return functionWithVariants(kernels, typedName(adjacent ? "gemm_copy_b" : "gemm_transpose_b", element),
                              inputs, [&](OpBuilder &body, func::FuncOp function, const Level &level) {
                                Emitter emit(body);
                                pack(emit, function, level.registerColumns);
                              });
}
