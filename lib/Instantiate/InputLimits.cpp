// Valid values of integer data columns.
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

namespace {
/// Common limit of all lookups in a column: the minimum of their limits, and the ignored value if all lookups
/// have the same one.
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
    // Without a common ignored value, `ignore` is 0: this is a valid index anyway.
    input.setIgnore(column.common->ignore.value_or(0));
  });
}
