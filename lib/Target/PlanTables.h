// Internal to lib/Target: numbering of symbols and sources while a plan is written, and predictions.
#pragma once

#include "lib/Target/PlanFile.h"

#include "plan/schema/plan_generated.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace trainc {

/// Table indices of symbols and sources, and predicted durations on a machine, which must outlive this
/// object.
class PlanTables {
public:
  PlanTables(mlir::ModuleOp module, const Machine &machine);

  uint32_t arena(mlir::FlatSymbolRefAttr name) const { return arenas_.lookup(name.getValue()); }
  uint32_t buffer(mlir::FlatSymbolRefAttr name) const { return buffers_.lookup(name.getValue()); }
  uint32_t kernel(mlir::FlatSymbolRefAttr name) const { return kernels_.lookup(name.getValue()); }
  /// Returns the index of an instruction's source (file, line, op name); adds it if it is new.
  uint32_t source(mlir::Operation *op, llvm::StringRef name);
  std::vector<std::unique_ptr<fb::SourceT>> takeSources() { return std::move(sources_); }
  /// Returns the predicted seconds of the instruction.
  double predictedSeconds(mlir::Operation &op) const;

private:
  plan::ModuleContext context_;
  plan::TrainingOp training_; ///< null if there is none
  const Machine &machine_;
  llvm::StringMap<uint32_t> arenas_, buffers_, kernels_, sourceIndex_;
  std::vector<std::unique_ptr<fb::SourceT>> sources_;
};

/// Returns the schema's element type. Plans must support the type.
fb::DType dtypeOf(mlir::Type element);

fb::Operand writeOperand(plan::OperandAttr operand, PlanTables &tables);

/// Writes a library call's table as the instruction's operation.
void writeLibraryCall(plan::LibraryCallOpInterface call, PlanTables &tables, fb::OperationUnion &operation);

/// Writes an entry with its inputs and instructions.
std::unique_ptr<fb::EntryT> writeEntry(plan::EntryOp entry, PlanTables &tables);

} // namespace trainc
