// Bytewise execution of a planned entry: the oracle of plan-memory, without generated code.
#pragma once

#include "dialects/Plan/Plan.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace trainc::test {

/// A module of phase `scheduled`, all of whose tensors are f32, and the plan that plan-memory makes of it. An
/// instruction runs the interpreter's op on the numbers at its operands' addresses. A byte that the
/// instruction writes while another operand or a later tile may still read it reads as NaN.
class PlannedEntry {
public:
  /// `module` is left as it is.
  explicit PlannedEntry(mlir::ModuleOp module);

  /// The plan, null if plan-memory failed.
  mlir::ModuleOp plan() { return plan_.get(); }
  /// Runs the entry; `states` holds the states before, and the states after on return.
  void run(EntryKind entry, reference::NamedTensors &states);

private:
  struct Range {
    std::vector<double> *arena = nullptr;
    int64_t begin = 0, elements = 0;
    bool overlaps(const Range &other) const;
    bool operator==(const Range &) const = default;
  };

  void number(mlir::ModuleOp module);
  void runBlock(mlir::Block &block, int64_t iteration);
  void launch(plan::LaunchOp launch, int64_t iteration);
  Range range(plan::OperandAttr operand, int64_t elements, int64_t iteration);
  Range wholeOf(llvm::StringRef buffer);

  mlir::OwningOpRef<mlir::ModuleOp> original_, plan_;
  llvm::StringMap<mlir::Operation *> ops_; ///< by the kernel that stands for them
  llvm::StringMap<std::vector<double>> arenas_;
};

/// Runs an entry in the interpreter and as planned, on the same states, and compares the states after that,
/// bit by bit. What differs fails the test.
void expectPlannedAsInterpreted(mlir::ModuleOp module, EntryKind entry);

} // namespace trainc::test
