// Packing: rows of op(A) and columns of op(B) into panels.
#include "lib/Codegen/Gemm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

struct Packing {
  Emitter &emit;
  Type element;
  int64_t width;
  Value to, from, stride, valid, depth;

  void copyLanes();
  void transposeLanes();

private:
  void copyTerms(Mask mask);
  void transposeSquare(Value lane, Value term, Mask mask);

  static constexpr int64_t kSquare = 8;
};

} // namespace

/// Terms lie rows of a matrix apart, where no prefetcher of the CPU looks.
void Packing::copyTerms(Mask mask) {
  constexpr int64_t kAhead = 16, kLine = 16;
  emit.loop(emit.i64(0), depth, 1, [&](Value term) {
    Value later = emit.pointer(from, element, emit.mul(emit.add(term, kAhead), stride));
    for (int64_t lane = 0; lane < width; lane += kLine)
      emit.prefetch(emit.pointer(later, element, emit.i64(lane)));
    Value lanes = emit.load({from, element, emit.mul(term, stride)}, width, mask);
    emit.store(lanes, {to, element, emit.mul(term, width)});
  });
}

void Packing::copyLanes() {
  emit.when(emit.less(emit.i64(width - 1), valid), [&] { copyTerms(Mask()); });
  emit.when(emit.less(valid, emit.i64(width)), [&] { copyTerms(emit.lanesBelow(valid, width)); });
}

/// Lanes past `valid` repeat the last one; the mask is of terms.
void Packing::transposeSquare(Value lane, Value term, Mask mask) {
  Value last = emit.sub(valid, emit.i64(1));
  SmallVector<Value> rows;
  for (int64_t i = 0; i < kSquare; ++i) {
    Value row = emit.mul(emit.min(emit.add(lane, i), last), stride);
    rows.push_back(emit.load({from, element, emit.add(row, term)}, kSquare, mask));
  }
  for (auto [i, terms] : llvm::enumerate(emit.transposed(rows)))
    emit.store(terms, {to, element, emit.add(emit.mul(emit.add(term, int64_t(i)), width), lane)});
}

/// A panel has room for a whole square where the depth ends inside one.
void Packing::transposeLanes() {
  Value whole = emit.mul(emit.divide(depth, kSquare), kSquare), rest = emit.sub(depth, whole);
  emit.loop(emit.i64(0), emit.i64(width), kSquare, [&](Value lane) {
    emit.loop(emit.i64(0), whole, kSquare, [&](Value term) { transposeSquare(lane, term, Mask()); });
    emit.when(emit.less(emit.i64(0), rest),
              [&] { transposeSquare(lane, whole, emit.lanesBelow(rest, kSquare)); });
  });
}

func::FuncOp trainc::codegen::packPanel(ModuleOp kernels, Type element, int64_t width, LaneOrder order) {
  const bool adjacent = order == LaneOrder::Adjacent;
  std::string name = (adjacent ? "gemm_copy_panel_" : "gemm_transpose_panel_") + std::to_string(width);
  if (auto made = kernels.lookupSymbol<func::FuncOp>(name))
    return made;
  OpBuilder builder(kernels.getContext());
  Emitter emit(builder);
  Type pointer = emit.pointerType(), i64 = builder.getI64Type();
  builder.setInsertionPointToEnd(kernels.getBody());
  auto function = func::FuncOp::create(builder, emit.loc, name,
                                       builder.getFunctionType({pointer, pointer, i64, i64, i64}, {}));
  makeInternal(function);
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto args = function.getArguments();
  Packing packing{emit, element, width, args[0], args[1], args[2], args[3], args[4]};
  if (adjacent)
    packing.copyLanes();
  else
    packing.transposeLanes();
  func::ReturnOp::create(builder, emit.loc);
  return function;
}
