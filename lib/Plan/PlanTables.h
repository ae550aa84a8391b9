// Internal to lib/Plan: numbering of symbols and sources while a plan is written, and its tables.
#pragma once

#include "dialects/Dist/Dist.h"
#include "lib/Plan/SchemaEnums.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace trainc {

/// Table indices of symbols and sources.
class PlanTables {
public:
  /// Without symbols: all indices are 0.
  PlanTables() = default;
  explicit PlanTables(mlir::ModuleOp module);

  uint32_t arena(mlir::FlatSymbolRefAttr name) const { return arenas_.lookup(name.getValue()); }
  uint32_t buffer(mlir::FlatSymbolRefAttr name) const { return buffers_.lookup(name.getValue()); }
  /// Returns the axes of those names.
  fb::Axes axes(mlir::ArrayAttr names) const {
    const Axes axes = *dist::findAxes(mesh_, names);
    return {axes.first, axes.end};
  }
  const Mesh &mesh() const { return mesh_; }
  uint32_t kernel(mlir::FlatSymbolRefAttr name) const { return kernels_.lookup(name.getValue()); }
  /// Returns the index of an instruction's source (file, line, op name); adds it if it is new. `name` must
  /// live as long as this object.
  uint32_t source(mlir::Operation *op, llvm::StringRef name);
  std::vector<std::unique_ptr<fb::SourceT>> takeSources() { return std::move(sources_); }

private:
  Mesh mesh_;
  llvm::StringMap<uint32_t> arenas_, buffers_, kernels_;
  llvm::DenseMap<std::pair<mlir::Attribute, llvm::StringRef>, uint32_t> sourceIndex_; ///< by place and name
  std::vector<std::unique_ptr<fb::SourceT>> sources_;
};

fb::Operand writeOperand(plan::OperandAttr operand, PlanTables &tables);

std::unique_ptr<fb::KernelT> writeKernel(plan::KernelOp kernel);

/// Writes the table of a library call, `plan.matrix_product` or `plan.attention`, as an instruction's
/// operation.
void writeLibraryCall(mlir::Operation *call, PlanTables &tables, fb::OperationUnion &operation);

/// Writes an entry with its inputs and instructions.
std::unique_ptr<fb::EntryT> writeEntry(plan::EntryOp entry, PlanTables &tables);

} // namespace trainc
