// Rows added at indices.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kThreads = 128, kWarps = kThreads / kWarp;
/// Warps that are enough to fill a GPU; with more, each would look through all ids for few rows.
static constexpr int64_t kEnoughWarps = 4096;

namespace {

/// Which warp owns what: `rows` rows of the table, and `lanes` columns for each of its threads.
struct Ownership {
  int64_t tableRows, width, lanes, strips, rows;

  explicit Ownership(nn::ScatterAddOp op)
      : tableRows(cast<RankedTensorType>(op.getTable().getType()).getDimSize(0)),
        width(elementCount(op.getTable()) / tableRows), lanes(std::gcd<int64_t, int64_t>(width, 4)),
        strips(llvm::divideCeil(width, kWarp * lanes)),
        rows(llvm::divideCeil(tableRows * strips, kEnoughWarps)) {}

  int64_t warps() const { return int64_t(llvm::divideCeil(tableRows, rows)) * strips; }
};

/// A table of bf16 or f16 is added up in a scratch buffer, and rounded once.
bool addsAside(nn::ScatterAddOp op) {
  Type element = getElementTypeOrSelf(op.getTable());
  return nn::wideElement(element) != element;
}

class ScatterEmitter {
public:
  ScatterEmitter(nn::ScatterAddOp op, KernelFunction &function)
      : op(op), owned(op), function(function), emit(function.emit()),
        element(getElementTypeOrSelf(op.getTable())), sumElement(nn::wideElement(element)) {}

  void run() {
    ids = function.operand(op.getIdsMutable().getOperandNumber());
    updates = function.operand(op.getUpdatesMutable().getOperandNumber());
    table = function.result(0);
    sums = addsAside(op) ? function.scratch(0) : table;
    function.tiles([&](Value tile) {
      Value warp = emit.add(emit.mul(tile, kWarps), emit.divide(function.thread(), kWarp));
      lane = emit.remainder(function.thread(), kWarp);
      emit.when(emit.less(warp, emit.i64(owned.warps())), [&] { ofWarp(warp); });
    });
  }

private:
  void ofWarp(Value warp) {
    first = emit.mul(emit.divide(warp, owned.strips), owned.rows);
    Value strip = emit.mul(emit.remainder(warp, owned.strips), kWarp);
    column = emit.mul(emit.add(strip, lane), owned.lanes);
    hasColumn = emit.less(column, emit.i64(owned.width));
    if (addsAside(op))
      copyRows(table, element, sums, sumElement);
    const int64_t count = elementCount(op.getIds());
    emit.loop(emit.i64(0), emit.i64(count), kWarp, [&](Value begin) { look(begin, count); });
    if (addsAside(op))
      copyRows(sums, sumElement, table, element);
  }

  /// Each thread looks at one of kWarp ids; then all add the rows of those that the warp owns, in order.
  void look(Value begin, int64_t count) {
    OpBuilder &builder = emit.builder;
    Value mine = emit.add(begin, lane);
    Value row = relativeRow(emit.min(mine, emit.i64(count - 1)));
    Value isOwned = arith::AndIOp::create(
        builder, emit.loc, emit.less(mine, emit.i64(count)),
        arith::CmpIOp::create(builder, emit.loc, arith::CmpIPredicate::ult, row, emit.i64(owned.rows)));
    Value found = NVVM::VoteSyncOp::create(builder, emit.loc, builder.getI32Type(), i32(-1), isOwned,
                                           NVVM::VoteSyncKind::ballot);
    emit.when(isNot(found, 0), [&] {
      emit.loop(emit.i64(0), emit.i64(kWarp), 1, [&](Value bit) {
        Value mask = arith::ShLIOp::create(
            builder, emit.loc, i32(1), arith::TruncIOp::create(builder, emit.loc, builder.getI32Type(), bit));
        emit.when(isNot(arith::AndIOp::create(builder, emit.loc, found, mask), 0),
                  [&] { add(emit.add(begin, bit)); });
      });
    });
  }

  void add(Value update) {
    Value row = emit.add(relativeRow(update), first);
    emit.when(hasColumn, [&] {
      Address to{sums, sumElement, emit.add(emit.mul(row, owned.width), column)};
      Type updateElement = getElementTypeOrSelf(op.getUpdates());
      Value more =
          emit.load({updates, updateElement, emit.add(emit.mul(update, owned.width), column)}, owned.lanes);
      emit.store(emit.add(emit.load(to, owned.lanes), more), to);
    });
  }

  /// The table's row that an id names, from the warp's first on. Ids out of range, and in unowned rows, are
  /// large numbers without a sign.
  Value relativeRow(Value index) {
    Type idType = getElementTypeOrSelf(op.getIds());
    Value id = emit.load({ids, idType, index});
    if (!idType.isInteger(64))
      id = arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), id);
    Value inTable = arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ult, id,
                                          emit.i64(owned.tableRows));
    return arith::SelectOp::create(emit.builder, emit.loc, inTable, emit.sub(id, first), emit.i64(-1));
  }

  void copyRows(Value from, Type fromElement, Value to, Type toElement) {
    Value end = emit.min(emit.add(first, owned.rows), emit.i64(owned.tableRows));
    emit.when(hasColumn, [&] {
      emit.loop(first, end, 1, [&](Value row) {
        Value at = emit.add(emit.mul(row, owned.width), column);
        emit.store(emit.load({from, fromElement, at}, owned.lanes), {to, toElement, at});
      });
    });
  }

  Value i32(int32_t number) {
    return arith::ConstantOp::create(emit.builder, emit.loc, emit.builder.getI32IntegerAttr(number));
  }
  Value isNot(Value bits, int32_t number) {
    return arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ne, bits, i32(number));
  }

  nn::ScatterAddOp op;
  Ownership owned;
  KernelFunction &function;
  Emitter &emit;
  Type element, sumElement;
  Value ids, updates, table, sums, lane, first, column, hasColumn;
};

} // namespace

KernelSummary trainc::codegen::cuda::summariseScatter(nn::ScatterAddOp op) {
  KernelSummary kernels;
  LaunchSummary launch{.name = "scatter",
                       .grid = int64_t(llvm::divideCeil(Ownership(op).warps(), kWarps)),
                       .params = {operandParam(op, op.getIdsMutable().getOperandNumber()),
                                  operandParam(op, op.getUpdatesMutable().getOperandNumber()),
                                  resultParam(op, 0, plan::Access::read_write)},
                       .threads = kThreads};
  if (Type sum = nn::wideElement(getElementTypeOrSelf(op.getTable())); addsAside(op)) {
    kernels.scratchBytes.push_back(elementCount(op.getTable()) * elementBytes(sum));
    launch.params.push_back(scratchParam(kernels, 0, plan::Access::write, sum));
  }
  kernels.launches.push_back(std::move(launch));
  return kernels;
}

Symbols trainc::codegen::cuda::generateScatter(nn::ScatterAddOp op, KernelModule &kernels) {
  const KernelSummary summary = summariseScatter(op);
  KernelFunction function(kernels, summary.launches.front());
  ScatterEmitter(op, function).run();
  return {function.finish()};
}
