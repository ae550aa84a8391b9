// nn.scatter_add: adds rows at indices.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Number of table columns that a tile owns.
static constexpr int64_t kStrip = 64;

static int64_t tableRows(nn::ScatterAddOp op) {
  return cast<RankedTensorType>(op.getTable().getType()).getDimSize(0);
}
static int64_t widthOf(nn::ScatterAddOp op) { return elementCount(op.getTable()) / tableRows(op); }
static int64_t lanesOf(nn::ScatterAddOp op) {
  return std::min<int64_t>(kStrip, llvm::bit_ceil<uint64_t>(widthOf(op)));
}
static Type elementOf(nn::ScatterAddOp op) { return getElementTypeOrSelf(op.getTable()); }
/// A bf16 or f16 table is summed in an f32 scratch buffer, and rounded once.
static bool sumsInScratch(nn::ScatterAddOp op) { return nn::wideElement(elementOf(op)) != elementOf(op); }

/// Returns the bytes moved: ids and updates once, modified rows twice, and copies from and to the scratch
/// buffer if there is one.
static int64_t scatteredBytes(nn::ScatterAddOp op) {
  const int64_t table = elementBytes(elementOf(op)), sum = elementBytes(nn::wideElement(elementOf(op)));
  return tensorBytes(op.getIds().getType()) + tensorBytes(op.getUpdates().getType()) +
         2 * op.touchedElements() * sum +
         (sumsInScratch(op) ? 2 * elementCount(op.getTable()) * (table + sum) : 0);
}

KernelSummary trainc::codegen::summariseScatter(nn::ScatterAddOp op) {
  KernelSummary kernels;
  LaunchSummary launch{.name = "scatter",
                       .grid = int64_t(llvm::divideCeil(widthOf(op), lanesOf(op))),
                       .params = {operandParam(op, op.getIdsMutable().getOperandNumber()),
                                  operandParam(op, op.getUpdatesMutable().getOperandNumber()),
                                  resultParam(op, 0, plan::Access::read_write)}};
  if (Type sum = nn::wideElement(elementOf(op)); sumsInScratch(op)) {
    kernels.scratchBytes.push_back(elementCount(op.getTable()) * elementBytes(sum));
    launch.params.push_back(scratchParam(kernels, 0, plan::Access::write, sum));
  }
  launch.movedBytes = scatteredBytes(op);
  kernels.launches.push_back(std::move(launch));
  return kernels;
}

Symbols trainc::codegen::generateScatter(nn::ScatterAddOp op, KernelModule &kernels) {
  const int64_t count = elementCount(op.getIds()), rows = tableRows(op), width = widthOf(op),
                lanes = lanesOf(op);
  Type element = elementOf(op), sumElement = nn::wideElement(element);
  Type updateElement = getElementTypeOrSelf(op.getUpdates()), idType = getElementTypeOrSelf(op.getIds());
  const KernelSummary summary = summariseScatter(op);
  KernelFunction function(kernels, summary.launches.front());
  Emitter &emit = function.emit();
  Value ids = function.operand(op.getIdsMutable().getOperandNumber());
  Value updates = function.operand(op.getUpdatesMutable().getOperandNumber());
  Value table = function.result(0), sums = sumsInScratch(op) ? function.scratch(0) : table;
  function.tiles([&](Value tile) {
    Value column = emit.mul(tile, lanes);
    Mask mask = width % lanes == 0 ? Mask() : emit.lanesBelow(emit.sub(emit.i64(width), column), lanes);
    auto copyRows = [&](Value from, Type fromElement, Value to, Type toElement) {
      emit.loop(emit.i64(0), emit.i64(rows), 1, [&](Value row) {
        Value at = emit.add(emit.mul(row, width), column);
        emit.store(emit.load({from, fromElement, at}, lanes, mask), {to, toElement, at}, mask);
      });
    };
    if (sumsInScratch(op))
      copyRows(table, element, sums, sumElement);
    emit.loop(emit.i64(0), emit.i64(count), 1, [&](Value i) {
      Value id = emit.load({ids, idType, i});
      if (!idType.isInteger(64))
        id = arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), id);
      Value inRange =
          arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ult, id, emit.i64(rows));
      emit.when(inRange, [&] {
        Address to{sums, sumElement, emit.add(emit.mul(id, width), column)};
        Value update = emit.load({updates, updateElement, emit.add(emit.mul(i, width), column)}, lanes, mask);
        emit.store(emit.add(emit.load(to, lanes, mask), update), to, mask);
      });
    });
    if (sumsInScratch(op))
      copyRows(sums, sumElement, table, element);
  });
  return {function.finish()};
}
