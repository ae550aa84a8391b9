// Valid integers of data columns.
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

namespace {
/// Common limit of all lookups of a column: the minimum of their limits, and the ignored value if all have
/// the same.
struct ColumnLimit {
  std::optional<IndexLimit> common;

  void add(IndexLimit limit) {
    if (!common) {
      common = limit;
      return;
    }
    common->limit = std::min(common->limit, limit.limit);
    if (common->ignore != limit.ignore)
      common->ignore.reset();
  }
};
} // namespace

/// Whether the op's results hold unchanged elements of its operands.
static bool onlyMovesElements(Operation *op) {
  return hasClass(op, KernelClass::Alias) || hasClass(op, KernelClass::StridedCopy);
}

static void collectLimits(Value value, ColumnLimit &column) {
  for (OpOperand &use : value.getUses()) {
    if (auto lookup = dyn_cast<LookupOpInterface>(use.getOwner()))
      if (std::optional<IndexLimit> limit = lookup.getIndexLimit(use.getOperandNumber()))
        column.add(*limit);
    if (onlyMovesElements(use.getOwner()))
      for (Value result : use.getOwner()->getResults())
        collectLimits(result, column);
  }
}

void trainc::limitInputs(ModuleOp module) {
  llvm::StringMap<ColumnLimit> columns;
  module.walk([&](train::InputOp input) { collectLimits(input.getResult(), columns[input.getColumn()]); });
  bool canPad = true;
  module.walk([&](train::InputOp input) {
    const ColumnLimit &column = columns[input.getColumn()];
    canPad &= !input.getPads() || column.common->ignore.has_value();
  });
  module.walk([&](train::InputOp input) {
    const ColumnLimit &column = columns[input.getColumn()];
    input.setPads(input.getPads() && canPad);
    if (!column.common)
      return;
    input.setLimit(column.common->limit);
    // 0 is below every limit, so that `ignore` 0 allows no further value.
    input.setIgnore(column.common->ignore.value_or(0));
  });
}
