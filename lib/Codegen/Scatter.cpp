// Rows added at indices.
#include "lib/Codegen/Generators.h"
#include "lib/Codegen/KernelFunction.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Columns of the table that a tile owns.
static constexpr int64_t kStrip = 64;

GeneratedKernels trainc::codegen::generateScatter(nn::ScatterAddOp op, ModuleOp kernels) {
  int64_t count = elementCount(op.getIds()),
          tableRows = cast<RankedTensorType>(op.getTable().getType()).getDimSize(0);
  int64_t width = elementCount(op.getTable()) / tableRows;
  Type element = getElementTypeOrSelf(op.getTable()), idType = getElementTypeOrSelf(op.getIds());
  KernelFunction function(kernels, "scatter");
  Emitter &emit = function.emit();
  Value ids = function.param(operandParam(op, op.getIdsMutable().getOperandNumber()));
  Value updates = function.param(operandParam(op, op.getUpdatesMutable().getOperandNumber()));
  Value table = function.param(resultParam(op, 0, Access::ReadWrite));
  int64_t lanes = std::min<int64_t>(kStrip, llvm::bit_ceil<uint64_t>(width));
  function.tiles(llvm::divideCeil(width, lanes), [&](Value tile) {
    Value column = emit.mul(tile, lanes);
    Mask mask = width % lanes == 0 ? Mask() : emit.lanesBelow(emit.sub(emit.i64(width), column), lanes);
    emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
      Value id = emit.load({ids, idType, i});
      if (!idType.isInteger(64))
        id = arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), id);
      Value inRange =
          arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ult, id, emit.i64(tableRows));
      emit.when(inRange, [&] {
        Address to{table, element, emit.add(emit.mul(id, width), column)};
        Value update = emit.load({updates, element, emit.add(emit.mul(i, width), column)}, lanes, mask);
        emit.store(emit.add(emit.load(to, lanes, mask), update), to, mask);
      });
    });
  });
  GeneratedKernels generated;
  generated.launches.push_back(function.finish());
  return generated;
}
