// What one instruction of a plan costs on a machine.
#pragma once

#include "dialects/Plan/Plan.h"
#include "runtime/cost/machine.h"

#include <string>
#include <vector>

namespace trainc {

/// Of a loop all iterations of what it holds; of a collective nothing.
double instructionSeconds(mlir::Operation &op, const plan::Surroundings &around, const Machine &machine);

/// Equal instructions: launches of one kernel, or calls of one size.
struct CostRow {
  std::string what;   ///< "rows_0123456789abcdef", "matrix_product 16384 x 2304 x 768 bf16"
  std::string source; ///< the first one's op
  double count = 0;
  Cost each;

  double seconds() const { return count * each.seconds(); }
};

/// Adds the instructions of an entry that runs `runs` times.
void addCosts(plan::EntryOp entry, double runs, const Machine &machine, std::vector<CostRow> &rows);

} // namespace trainc
