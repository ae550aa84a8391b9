#include "lib/Codegen/Kernels/RowCopy.h"

#include "dialects/NN/Builders.h"
#include "lib/Support/StoredElement.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

/// Sizes of a table, and of the pieces of its rows.
struct RowPieces {
  RowPieces(nn::ScatterOp op, const RowCopyTuning &tuning)
      : rows(nn::shapeOf(op.getTable())[0]), width(nn::shapeOf(op.getTable())[1]),
        element(getElementTypeOrSelf(op.getTable())),
        lanes(std::gcd<int64_t, int64_t>(width, tuning.accessBytes / elementBytes(element))),
        step(tuning.threads * lanes), size(step * tuning.accesses), pieces(llvm::divideCeil(width, size)) {}

  int64_t rows, width;
  Type element;
  int64_t
      lanes;    ///< columns that a thread copies at once; they divide the width, so that accesses are aligned
  int64_t step; ///< columns that all threads copy at once
  int64_t size; ///< columns of a piece
  int64_t pieces; ///< pieces of a row
};

} // namespace

KernelSummary trainc::codegen::summariseRowCopy(nn::ScatterOp op, const RowCopyTuning &tuning) {
  KernelSummary kernels;
  kernels.launches.push_back(
      {.name = "scatter_rows",
       .grid = elementCount(op.getIds()) * RowPieces(op, tuning).pieces,
       .params = {operandParam(op, op.getIdsMutable().getOperandNumber()),
                  operandParam(op, op.getUpdatesMutable().getOperandNumber()),
                  resultParam(op, 0, plan::Access::read_write)},
       .movedBytes = tensorBytes(op.getIds().getType()) + 2 * tensorBytes(op.getUpdates().getType()),
       .threads = tuning.threads});
  return kernels;
}

Symbols trainc::codegen::generateRowCopy(nn::ScatterOp op, const RowCopyTuning &tuning,
                                         KernelModule &kernels) {
  const RowPieces sizes(op, tuning);
  const KernelSummary summary = summariseRowCopy(op, tuning);
  KernelFunction function(kernels, summary.launches.front());
  Emitter &emit = function.emit();
  const Type idType = getElementTypeOrSelf(op.getIds());
  Value ids = function.operand(op.getIdsMutable().getOperandNumber());
  Value updates = function.operand(op.getUpdatesMutable().getOperandNumber());
  Value table = function.result(0);
  function.tiles([&](Value tile) {
    Value index = emit.divide(tile, sizes.pieces),
          first = emit.mul(emit.remainder(tile, sizes.pieces), sizes.size);
    Value id = emit.load({ids, idType, index});
    if (!idType.isInteger(64))
      id = arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), id);
    Value isRow =
        arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ult, id, emit.i64(sizes.rows));
    emit.when(isRow, [&] {
      Value begin = emit.add(first, emit.mul(function.thread(), sizes.lanes));
      Value end = emit.min(emit.add(first, sizes.size), emit.i64(sizes.width));
      emit.loop(begin, end, sizes.step, [&](Value column) {
        Value moved =
            emit.load({updates, sizes.element, emit.add(emit.mul(index, sizes.width), column)}, sizes.lanes);
        emit.store(moved, {table, sizes.element, emit.add(emit.mul(id, sizes.width), column)});
      });
    });
  });
  return {function.finish()};
}
