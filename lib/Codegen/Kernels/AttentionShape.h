// Layout of the rows of attention's heads, and masks.
#pragma once

#include "lib/Codegen/AttentionSizes.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Rows of one head in a tensor [batch, positions, heads * width].
struct HeadRows {
  mlir::Value base;   ///< pointer
  mlir::Type element; ///< type in memory
  mlir::Value offset; ///< i64, elements before the first row
  int64_t stride;     ///< elements between rows
  int64_t width;      ///< elements of a row

  /// Returns the rows from `first` on.
  HeadRows from(Emitter &emit, mlir::Value first) const;
};

/// Sizes of an attention or its gradient, and the layout of its heads' rows.
struct AttentionShape : AttentionSizes {
  using AttentionSizes::AttentionSizes;

  /// Returns the offset of a head's queries in arrays of one number per query: [batch, heads, queries].
  mlir::Value statistics(Emitter &emit, mlir::Value batch, mlir::Value head) const;
  /// Return the rows of q (or dq), k, v and out for one sequence of the batch and one head.
  HeadRows queryRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;
  HeadRows keyRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows valueRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows outRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;
};

/// Mask of query-key pairs.
struct Visibility {
  Visibility() = default;
  /// Loads the limit at the insertion point. The tile sets `segmentBase`.
  Visibility(nn::AttentionOp op, KernelFunction &function);
  Visibility(nn::AttentionGradOp op, KernelFunction &function);

  /// Returns the first query, a multiple of `step`, that may attend to keys from `firstKey` on.
  mlir::Value firstQuery(Emitter &emit, mlir::Value firstKey, int64_t step) const;

  bool causal = false;
  int64_t shift = 0;    ///< keys - queries: query i attends to keys up to i + shift
  mlir::Value limit;    ///< i64 or null: query i attends to keys up to i + limit
  mlir::Value segments; ///< pointer or null
  mlir::Type segmentType;
  mlir::Value segmentBase; ///< i64, elements before the segments of this batch element
};

// The gradient of attention takes D = rowsum(dO O) - dlse of every query, which its first launch writes into
// scratch 0.

/// Bytes of D.
int64_t rowSumBytes(nn::AttentionGradOp op);
/// Arguments of the launch that writes D.
llvm::SmallVector<KernelParam> rowSumParams(nn::AttentionGradOp op, const KernelSummary &kernels);
/// Arguments of a launch that computes the gradients `results`.
llvm::SmallVector<KernelParam> gradientParams(nn::AttentionGradOp op, const KernelSummary &kernels,
                                              llvm::ArrayRef<unsigned> results);
/// Stores D of a row of `out`, given rowsum(dO O) of the row.
void storeRowSum(nn::AttentionGradOp op, KernelFunction &function, mlir::Value row, mlir::Value sum);

} // namespace trainc::codegen
