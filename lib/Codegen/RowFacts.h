// Target-independent facts about a row kernel, derived from its ops and patterns.
#pragma once

#include "dialects/NN/NN.h"

#include "llvm/ADT/DenseMap.h"

namespace trainc::codegen {

/// One term of a row mapping. Row r of the kernel corresponds to row sum of ((r / divisor) % size) * stride
/// of a value, where a term's stride is the product of the sizes of the terms after it.
struct RowTerm {
  int64_t divisor, size;
};

/// Facts about one nn.kernel. A row is processed in one or several passes over its columns: values that need
/// a reduction along columns are computed in a later pass than the reduction's operand.
class RowFacts {
public:
  explicit RowFacts(nn::KernelOp kernel);

  mutable nn::KernelOp kernel; ///< mutable, because handles of ops are not const
  int64_t rows, columns;

  nn::YieldOp yield() const;
  /// Number of passes over the columns of a row.
  int64_t passes() const { return passCount; }

  /// Returns the value under reshapes, broadcasts and reductions of single elements.
  mlir::Value strip(mlir::Value value) const;

  bool isTable(mlir::Value value) const { return kernel.isTable(value); }
  /// Returns the pattern of a value that is no table.
  const nn::RepeatPattern &pattern(mlir::Value value) const { return of(value).pattern; }
  /// Whether a value varies along columns; false for tables.
  bool isAlongColumns(mlir::Value value) const;
  /// Whether a value has separate elements for every row, or there is one row.
  bool hasEveryRow(mlir::Value value) const { return of(value).everyRow; }
  /// Whether a value has one element for all of several rows.
  bool isScalar(mlir::Value value) const;
  /// Returns the mapping from the kernel's rows to the value's; without terms it is the first row.
  llvm::ArrayRef<RowTerm> rowTerms(mlir::Value value) const { return of(value).terms; }

  /// Whether the value is a reduction over several rows, which is complete after the last row and only
  /// yielded.
  bool isReducedOverRows(mlir::Value value) const;
  /// Returns the number of the pass, from 0, after which (reductions along columns) or in which (values along
  /// columns) a value is known.
  int64_t depth(mlir::Value value) const { return of(value).depth; }

  /// Returns the reductions along columns whose operand is known in `pass`.
  llvm::SmallVector<nn::ReduceOp> rowReductions(int64_t pass) const;
  /// Returns the yielded values along columns that are known in `pass`.
  llvm::SmallVector<mlir::Value> results(int64_t pass) const;
  /// Returns the values that `pass` computes for reductions, along columns or over rows.
  llvm::SmallVector<mlir::Value> reduced(int64_t pass) const;

  /// Visits each value along columns that `roots` depend on once, operands in order. `enter` decides whether
  /// to visit a value's operands.
  void visit(llvm::ArrayRef<mlir::Value> roots, llvm::function_ref<bool(mlir::Value)> enter) const;

private:
  struct ValueFacts {
    nn::RepeatPattern pattern;
    bool alongColumns, everyRow;
    llvm::SmallVector<RowTerm, 2> terms;
    int64_t depth = 0;
  };
  const ValueFacts &of(mlir::Value value) const;
  ValueFacts describe(mlir::Value value) const;
  void measureDepths();

  llvm::DenseMap<mlir::Value, ValueFacts> facts;
  int64_t passCount = 1;
};

} // namespace trainc::codegen
