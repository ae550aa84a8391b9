// Rows added at indices.
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Cpu/KernelFunction.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Columns of the table that a tile owns.
static constexpr int64_t kStrip = 64;

static int64_t tableRows(nn::ScatterAddOp op) {
  return cast<RankedTensorType>(op.getTable().getType()).getDimSize(0);
}
static int64_t widthOf(nn::ScatterAddOp op) { return elementCount(op.getTable()) / tableRows(op); }
static int64_t lanesOf(nn::ScatterAddOp op) {
  return std::min<int64_t>(kStrip, llvm::bit_ceil<uint64_t>(widthOf(op)));
}

KernelSummary trainc::codegen::summariseScatter(nn::ScatterAddOp op) {
  KernelSummary kernels;
  kernels.launches.push_back({.name = "scatter",
                              .grid = int64_t(llvm::divideCeil(widthOf(op), lanesOf(op))),
                              .params = {operandParam(op, op.getIdsMutable().getOperandNumber()),
                                         operandParam(op, op.getUpdatesMutable().getOperandNumber()),
                                         resultParam(op, 0, plan::Access::read_write)}});
  return kernels;
}

Symbols trainc::codegen::generateScatter(nn::ScatterAddOp op, KernelModule &kernels) {
  const int64_t count = elementCount(op.getIds()), rows = tableRows(op), width = widthOf(op),
                lanes = lanesOf(op);
  Type element = getElementTypeOrSelf(op.getTable()), idType = getElementTypeOrSelf(op.getIds());
  const KernelSummary summary = summariseScatter(op);
  KernelFunction function(kernels, summary.launches.front());
  Emitter &emit = function.emit();
  Value ids = function.operand(op.getIdsMutable().getOperandNumber());
  Value updates = function.operand(op.getUpdatesMutable().getOperandNumber());
  Value table = function.result(0);
  function.tiles([&](Value tile) {
    Value column = emit.mul(tile, lanes);
    Mask mask = width % lanes == 0 ? Mask() : emit.lanesBelow(emit.sub(emit.i64(width), column), lanes);
    emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
      Value id = emit.load({ids, idType, i});
      if (!idType.isInteger(64))
        id = arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), id);
      Value inRange =
          arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ult, id, emit.i64(rows));
      emit.when(inRange, [&] {
        Address to{table, element, emit.add(emit.mul(id, width), column)};
        Value update = emit.load({updates, element, emit.add(emit.mul(i, width), column)}, lanes, mask);
        emit.store(emit.add(emit.load(to, lanes, mask), update), to, mask);
      });
    });
  });
  return {function.finish()};
}
