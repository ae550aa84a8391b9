#include "lib/Codegen/Kernels/RowResults.h"
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Reductions.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

void RowResults::storeStep(const ColumnStep &at, RowState &row, Value value) {
  Value computed = values.lanes(value, row, at);
  Value index = emit.add(emit.mul(row.row, plan.columns), at.column); // without padding
  auto place = [&](unsigned result, Type element) {
    return plan.resultRow(result) == plan.columns
               ? RowPlace{{access.outputs[result], element, index}, plan.columns}
               : access.inResult(result, element, row.row, at.column);
  };
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
    if (plan.facts.strip(yielded) == value && !plan.isTileReduction(yielded) &&
        plan.facts.isAlongColumns(yielded))
      access.store(computed, place(result, getElementTypeOrSelf(yielded)), at);
  const auto *found = plan.stashes.all().find(value);
  if (found == plan.stashes.all().end())
    return;
  RowStashes::Stash stash = found->second;
  if (!stash.isResult)
    access.store(computed, access.inBlock(stash.index, getElementTypeOrSelf(value), at.column), at);
  else if (plan.facts.strip(plan.facts.yield().getValues()[stash.index]) != value)
    access.store(computed, place(stash.index, getElementTypeOrSelf(value)), at);
}

void RowResults::storePadding(RowState &row, bool isShared) {
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues())) {
    if (plan.resultRow(result) == plan.columns)
      continue;
    const Type element = getElementTypeOrSelf(yielded);
    Value first = emit.i64(plan.columns);
    if (isShared)
      first = emit.add(first, access.rowThread());
    emit.loop(first, emit.i64(plan.resultRow(result)), isShared ? plan.rowThreads() : 1, [&](Value column) {
      emit.store(emit.constant(nn::wideElement(element), 0),
                 access.inResult(result, element, row.row, column).address);
    });
  }
}

// --- Results that do not vary along columns ---

void RowResults::finishRow(RowState &row) {
  storePadding(row, /*isShared=*/true);
  auto isScalar = [&](Value value) {
    return !plan.facts.isAlongColumns(value) && !values.isTileScalar(value);
  };
  auto isOfRow = [&](const TileReduction &each) { return !plan.facts.isAlongColumns(each.op); };
  if (llvm::any_of(plan.tileReductions, isOfRow) || llvm::any_of(plan.facts.yield().getValues(), isScalar))
    access.onceARow([&] {
      storeRowReductions(row);
      storeRowScalars(row);
    });
}

void RowResults::storeRowReductions(RowState &row) {
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    if (plan.facts.isAlongColumns(op))
      continue;
    if (reduction.ofRows)
      emit.store(values.scalar(op.getX(), row), {access.scratch[reduction.scratch], sumElement(op), row.row});
    else // a flat row's piece, which is its tile
      emit.store(row.scalars.at(op.getResult()), access.partial(reduction, emit.i64(0)).address);
  }
}

void RowResults::storeRowScalars(RowState &row) {
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
    if (!plan.facts.isAlongColumns(yielded) && !plan.isTileReduction(yielded) &&
        !values.isTileScalar(yielded))
      emit.store(values.scalar(yielded, row),
                 {access.outputs[result], getElementTypeOrSelf(yielded), row.row});
}

void RowResults::storeTileScalars(Value tile) {
  auto store = [&] {
    for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
      if (values.isTileScalar(yielded) && !plan.isTileReduction(yielded))
        emit.store(values.tileScalar(yielded),
                   {access.outputs[result], getElementTypeOrSelf(yielded), emit.i64(0)});
  };
  if (llvm::any_of(plan.facts.yield().getValues(),
                   [&](Value value) { return values.isTileScalar(value) && !plan.isTileReduction(value); }))
    access.function.once([&] { emit.when(access.isZero(tile), store); });
}
