// Building blocks of attention and its gradient on a GPU.
//
// A block owns positions (queries or keys) of one head, kWarpRows for each of its warps, and processes the
// positions of the other side in blocks. Rows of both sides are in the block's memory; scores and sums are in
// registers (WarpProducts.h).
#pragma once

#include "lib/Codegen/AttentionSizes.h"
#include "lib/Codegen/Cuda/WarpProducts.h"
#include "lib/Codegen/Kernels/AttentionShape.h"

#include <optional>

namespace trainc::codegen::cuda {

/// Instructions of forms, which machines' measured rates of attention do not contain; those of the softmax
/// are in the rates. Counted in machine code for sm_90, not measured.
constexpr ScoreInstructions kScoreInstructions{
    .softmax = 0, .softcap = 54, .alibi = 3, .bias = 8, .draw = 54, .dropout = 9};
/// Number of keys that share a draw of dropout in blocks of queries. In blocks of keys each has its own.
constexpr int64_t kKeysPerDraw = 2;

/// Sizes of a launch's blocks.
struct BlockSizes {
  int64_t warps;
  int64_t others; ///< number of rows of the other side that are in memory at a time

  int64_t owned() const { return warps * kWarpRows; }
};

/// Resources that a launch needs for both sides.
struct BlockNeeds {
  mlir::Type element;
  int64_t positions;                    ///< number of positions that are distributed over blocks
  llvm::SmallVector<int64_t, 2> own;    ///< widths of the owned rows in memory
  llvm::SmallVector<int64_t, 2> others; ///< widths of the other side's rows in memory
  llvm::SmallVector<int64_t, 2> sums;   ///< widths of the sums for owned rows
  int64_t scores;                       ///< number of matrices with a score for each pair of rows
  bool sharesScores = false;            ///< whether such a matrix is in memory as well

  int64_t bytes(const BlockSizes &sizes) const;
  /// Whether sums and scores fit into a thread's registers.
  bool holdsAll(const BlockSizes &sizes) const;
  /// Returns the largest block sizes that fit into memory and, if possible, registers; none if rows are too
  /// wide.
  std::optional<BlockSizes> sizes() const;
  /// Value of LaunchSummary::minBlocks.
  int64_t minBlocks() const;
};

/// Returns sizes(), or an error at the op that gives the maximum width.
llvm::FailureOr<BlockSizes> blockSizes(mlir::Operation *op, const BlockNeeds &needs);

class AttentionBlocks {
public:
  AttentionBlocks(KernelFunction &function, const BlockNeeds &needs, const BlockSizes &sizes);

  /// Copies the rows from `first` on, of `positions`, to the block's memory; missing rows are zero.
  void hold(const HeldRows &to, const HeadRows &rows, mlir::Value first, int64_t positions);

  /// Calls compute(first, carried) for each block of the other side with rows of `range`. `fetch(first)`
  /// copies a block's rows to memory before.
  Parts eachBlock(const PositionRange &range, mlir::ValueRange carried,
                  llvm::function_ref<void(mlir::Value)> fetch, Emitter::LoopBody compute);

  /// Adds slope * distance to scores; the distance is the key's position minus the query's. Owned positions
  /// begin at `own`, the others at `other`.
  void bias(Parts &scores, mlir::Value slope, const Visibility &visibility, bool ownAreQueries,
            mlir::Value own, mlir::Value other);
  /// Adds the bias of the distance to scores. Owned positions begin at `own`, the others at `other`.
  void addBias(Parts &scores, const DistanceBias &bias, bool ownAreQueries, mlir::Value own,
               mlir::Value other);
  /// Adds dS, of owned queries from `first` on and keys from `key` on, to the sums by distance `sums`, of
  /// which the block has the row at `offset`. All threads take part.
  void addToSums(const DistanceSums &of, mlir::Value sums, mlir::Value offset, const Parts &dS,
                 mlir::Value first, mlir::Value key);
  /// Returns the factors by which dropout multiplies each weight. `number` is that of the head.
  Parts dropped(const WeightDropout &dropout, bool ownAreQueries, mlir::Value number, mlir::Value own,
                mlir::Value other);

  /// Sets scores to -infinity for pairs that are masked or do not exist. Owned positions begin at `own`, the
  /// others at `other`.
  void hide(Parts &scores, const Visibility &visibility, bool ownAreQueries, mlir::Value own,
            mlir::Value other, const AttentionShape &shape);

  /// Returns the first owned position of the launch's block `index`, if each head has `perHead` blocks,
  /// counted from the last or the first. With a causal mask, late queries and early keys have the most work;
  /// they are started first, so that no launch ends with one long block.
  mlir::Value firstPosition(mlir::Value index, int64_t perHead, bool fromLast);

  /// Returns the owned positions of a block from `first` on. The last ones of the last block do not exist.
  PositionRange ownedFrom(mlir::Value first) { return {first, emit.add(first, sizes.owned())}; }

  /// rows[first + i, :] = factors[half] * parts, for the owned rows i below `positions`.
  void store(mlir::ValueRange parts, llvm::ArrayRef<mlir::Value> factors, const HeadRows &rows,
             mlir::Value first, int64_t positions);

  /// Replaces -infinity by 0. The maximum score of a row without visible keys is -infinity, whose differences
  /// would be NaN.
  mlir::Value finite(mlir::Value number);

  /// Loads an element of an array for each half of this thread's owned rows: that of position first + row, or
  /// of the last of `positions` if there is no such row.
  llvm::SmallVector<mlir::Value, 2> ofRows(mlir::Value base, mlir::Type type, mlir::Value start,
                                           mlir::Value first, int64_t positions);
  /// Loads an element for each of this thread's columns: two for each strip.
  Parts ofColumns(mlir::Value base, mlir::Type type, mlir::Value start, mlir::Value first, int64_t positions);

  const BlockSizes sizes;
  const mlir::Type element; ///< of all numbers in registers
  WarpProducts products;
  llvm::SmallVector<HeldRows, 2> own, others;

private:
  /// Returns the positions of the row and of the column of a thread's element `part`, if owned positions
  /// begin at `own` and the others at `other`.
  std::pair<mlir::Value, mlir::Value> coordinates(int64_t part, mlir::Value own, mlir::Value other);
  mlir::Value smallNumber(mlir::Value number);
  void hideBySegments(Parts &scores, const Visibility &visibility, mlir::Value own, mlir::Value other,
                      int64_t positions);

  KernelFunction &function;
  Emitter &emit;
  const mlir::Type memory; ///< of elements in memory
  mlir::Value shared;      ///< pointer to a matrix of scores, or null
};

} // namespace trainc::codegen::cuda
