// What a row kernel computes, and when, whatever the target: facts that follow from its ops and patterns.
#pragma once

#include "dialects/NN/NN.h"

#include "llvm/ADT/DenseMap.h"

namespace trainc::codegen {

/// A value's row for row r of the kernel is the sum over its terms of ((r / divisor) % size) * stride, where
/// a term's stride is the product of the sizes of the terms after it.
struct RowTerm {
  int64_t divisor, size;
};

/// The facts of one nn.kernel. A row is walked in one or several passes over its columns: what needs a
/// reduction along columns is computed in a later pass than what is reduced.
class RowFacts {
public:
  explicit RowFacts(nn::KernelOp kernel);

  mutable nn::KernelOp kernel; ///< (handles of ops are not const)
  int64_t rows, columns;

  nn::YieldOp yield() const;
  /// Number of passes over the columns of a row.
  int64_t passes() const { return passCount; }

  /// A value seen through reshapes, broadcasts and reductions of single elements.
  mlir::Value strip(mlir::Value value) const;

  bool isTable(mlir::Value value) const { return kernel.isTable(value); }
  /// How a value, which is no table, repeats over rows and columns.
  const nn::RepeatPattern &pattern(mlir::Value value) const { return of(value).pattern; }
  /// Whether a value varies along columns. Tables do not.
  bool isAlongColumns(mlir::Value value) const;
  /// Whether a value has elements of its own for every row, or there is one row.
  bool hasEveryRow(mlir::Value value) const { return of(value).everyRow; }
  /// Whether all of several rows have one and the same element.
  bool isScalar(mlir::Value value) const;
  /// Which row of a value belongs to a row of the kernel; no terms: the first.
  llvm::ArrayRef<RowTerm> rowTerms(mlir::Value value) const { return of(value).terms; }

  /// True for reductions over several rows: complete when all rows are done, and only yielded.
  bool isReducedOverRows(mlir::Value value) const;
  /// The pass after which (for reductions along columns) or in which (for values along columns) a value is
  /// known, from 0.
  int64_t depth(mlir::Value value) const { return of(value).depth; }

  /// Reductions along columns whose operand is known in `pass`.
  llvm::SmallVector<nn::ReduceOp> rowReductions(int64_t pass) const;
  /// Yielded values along columns that are known in `pass`.
  llvm::SmallVector<mlir::Value> results(int64_t pass) const;
  /// What `pass` computes for reductions, along columns or over rows.
  llvm::SmallVector<mlir::Value> reduced(int64_t pass) const;

  /// Visits once each value along columns that `roots` are made of, operands in order; `enter` says whether
  /// the walk goes on to what a value is made of.
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
