// Running a step's entries on states.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Reference/Tensor.h"

#include <map>
#include <string>

namespace trainc::reference {

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// What lives across entries, and what the runtime would put in before one.
struct EntryMemory {
  /// train.state by name. All states of a module exist from the start, as zeros.
  NamedTensors states;
  /// Batch columns of extent `micro` and `step`.
  NamedTensors microColumns, stepColumns;
  /// What train.gradient gave, summed per parameter.
  NamedTensors gradients;

  /// Zeros for every train.state of `module`.
  explicit EntryMemory(mlir::ModuleOp module);
};

/// Runs the entry `name` of `module`. Errors (no such entry, a missing column, a column or value of another
/// type or beyond its limit) are reported at the op.
llvm::LogicalResult runEntry(mlir::ModuleOp module, llvm::StringRef name, EntryMemory &memory);

} // namespace trainc::reference
