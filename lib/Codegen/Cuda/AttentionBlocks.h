// The pieces that attention and its gradient are made of on a GPU.
//
// A block owns positions (queries or keys) of one head, kWarpRows for each of its warps, and walks over the
// positions of the other side in blocks. The rows of both lie in the block's memory; scores and sums are in
// registers (WarpProducts.h).
#pragma once

#include "lib/Codegen/Cuda/WarpProducts.h"
#include "lib/Codegen/Kernels/AttentionShape.h"

#include <optional>

namespace trainc::codegen::cuda {

/// How large the blocks of a launch are.
struct BlockSizes {
  int64_t warps;
  int64_t others; ///< rows of the other side that are held at a time

  int64_t owned() const { return warps * kWarpRows; }
};

/// What a launch holds of both sides.
struct BlockNeeds {
  mlir::Type element;
  int64_t positions;                    ///< that blocks divide
  llvm::SmallVector<int64_t, 2> own;    ///< widths of the owned rows that are held
  llvm::SmallVector<int64_t, 2> others; ///< widths of the other side's
  llvm::SmallVector<int64_t, 2> sums;   ///< widths of what is summed for owned rows
  int64_t scores;                       ///< matrices of a score for each pair of rows

  int64_t bytes(const BlockSizes &sizes) const;
  /// Whether sums and scores suit a thread's registers.
  bool holdsAll(const BlockSizes &sizes) const;
  /// The largest blocks whose memory and, if there are any, registers suffice; none: rows are too wide.
  std::optional<BlockSizes> sizes() const;
  /// LaunchSummary::leastBlocks.
  int64_t leastBlocks() const;
};

/// sizes(), or an error at the op that says how wide rows may be.
llvm::FailureOr<BlockSizes> blockSizes(mlir::Operation *op, const BlockNeeds &needs);

class AttentionBlocks {
public:
  AttentionBlocks(KernelFunction &function, const BlockNeeds &needs, const BlockSizes &sizes);

  /// Puts the rows from `first` on, of `positions`, into the block's memory, and zeros in place of those that
  /// there are not.
  void hold(const HeldRows &to, const HeadRows &rows, mlir::Value first, int64_t positions);

  /// compute(first, carried) for blocks of the other side in [begin, end), a multiple of a block's rows at
  /// the beginning. `fetch(first)` puts them into the block's memory before.
  Parts eachBlock(mlir::Value begin, mlir::Value end, mlir::ValueRange carried,
                  llvm::function_ref<void(mlir::Value)> fetch, Emitter::LoopBody compute);

  /// -infinity in place of the scores of pairs that do not see each other, or that there are not: those of
  /// owned positions from `own` on, and of others from `other` on.
  void hide(Parts &scores, const Visibility &visibility, bool ownAreQueries, mlir::Value own,
            mlir::Value other, const AttentionShape &shape);

  /// The first owned position of the launch's block `index`, if each head has `perHead`, from the last or the
  /// first on. Masks that are causal give late queries and early keys the most work, which begins first, so
  /// that no launch ends with one long block.
  mlir::Value firstPosition(mlir::Value index, int64_t perHead, bool fromLast);

  /// One past the last key that a block of queries from `first` on sees.
  mlir::Value lastKey(const Visibility &visibility, mlir::Value first, int64_t keys);

  /// rows[first + i, :] = factors[half] * parts, for the owned rows i that are below `positions`.
  void store(mlir::ValueRange parts, llvm::ArrayRef<mlir::Value> factors, const HeadRows &rows,
             mlir::Value first, int64_t positions);

  /// The largest score of a row that sees nothing is -infinity; with 0 in its place differences are no NaN.
  mlir::Value finite(mlir::Value number);

  /// A number of an array for each half of this thread's owned rows: that of position first + row, which is
  /// the last of `positions` where there is no such row.
  llvm::SmallVector<mlir::Value, 2> ofRows(mlir::Value base, mlir::Type type, mlir::Value start,
                                           mlir::Value first, int64_t positions);
  /// Likewise for each of this thread's columns: two for each strip.
  Parts ofColumns(mlir::Value base, mlir::Type type, mlir::Value start, mlir::Value first, int64_t positions);

  const BlockSizes sizes;
  const mlir::Type element; ///< of all numbers in registers
  WarpProducts products;
  llvm::SmallVector<HeldRows, 2> own, others;

private:
  mlir::Value smallNumber(mlir::Value number);
  void hideBySegments(Parts &scores, const Visibility &visibility, mlir::Value own, mlir::Value other,
                      int64_t positions);

  KernelFunction &function;
  Emitter &emit;
  const mlir::Type memory; ///< of elements in memory
};

} // namespace trainc::codegen::cuda
