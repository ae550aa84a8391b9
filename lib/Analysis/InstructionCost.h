// Predicted cost of single instructions of a plan.
#pragma once

#include "dialects/Plan/Plan.h"
#include "plan/cost/machine.h"

#include <string>
#include <vector>

namespace trainc {

/// Returns the predicted seconds of an instruction. A loop includes all its iterations; a collective counts
/// as 0.
double instructionSeconds(mlir::Operation &op, const plan::ModuleContext &context, const Machine &machine);

/// Equal instructions: launches of one kernel, or library calls of equal size.
struct CostRow {
  std::string what;   ///< e.g. "rows_0123456789abcdef" or "matrix_product 16384 x 2304 x 768 bf16"
  std::string source; ///< source op of the first instruction
  double count = 0;
  Cost each;

  double seconds() const { return count * each.seconds(); }
};

/// Adds the instructions of an entry that runs `runs` times.
void addCosts(plan::EntryOp entry, double runs, const Machine &machine, std::vector<CostRow> &rows);

} // namespace trainc
