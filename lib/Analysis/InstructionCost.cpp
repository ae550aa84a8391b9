#include "lib/Analysis/InstructionCost.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace trainc {

/// Returns the cost of one instruction; zero for loops and collectives.
static Cost costOf(Operation &op, const plan::ModuleContext &context, const Machine &machine) {
  auto instruction = dyn_cast<plan::InstructionOpInterface>(op);
  const std::optional<Work> work = instruction ? instruction.getWork(context) : std::nullopt;
  return work ? costOf(*work, machine) : Cost();
}

double instructionSeconds(Operation &op, const plan::ModuleContext &context, const Machine &machine) {
  auto loop = dyn_cast<plan::LoopOp>(op);
  if (!loop)
    return costOf(op, context, machine).seconds();
  double total = 0;
  for (Operation &inner : loop.getBody().front())
    total += instructionSeconds(inner, context, machine);
  return double(loop.getCount()) * total;
}

static void addCosts(Block &block, double runs, const plan::ModuleContext &context, const Machine &machine,
                     std::vector<CostRow> &rows) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<plan::LoopOp>(op)) {
      addCosts(loop.getBody().front(), runs * double(loop.getCount()), context, machine, rows);
      continue;
    }
    const Cost cost = costOf(op, context, machine);
    if (cost.seconds() == 0)
      continue;
    auto instruction = cast<plan::InstructionOpInterface>(op);
    const std::string what = instruction.describe();
    auto known = llvm::find_if(rows, [&](const CostRow &row) {
      return row.what == what && row.each.bytes == cost.bytes && row.each.workSeconds == cost.workSeconds;
    });
    if (known == rows.end())
      known = rows.insert(rows.end(), {what, instruction.getSourceOp().str(), 0, cost});
    known->count += runs;
  }
}

void addCosts(plan::EntryOp entry, double runs, const Machine &machine, std::vector<CostRow> &rows) {
  const plan::ModuleContext context(entry->getParentOfType<ModuleOp>());
  addCosts(entry.getBody().front(), runs, context, machine, rows);
}

} // namespace trainc
