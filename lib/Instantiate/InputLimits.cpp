// Which integers a column may hold.
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

namespace {
/// What all lookups of a column have in common: the smallest limit, and a value to ignore only if all ignore
/// it.
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

/// Whether an op's results hold elements of its operands, unchanged.
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
    // 0 is below every limit anyway: no further value is allowed.
    input.setIgnore(column.common->ignore.value_or(0));
  });
}
