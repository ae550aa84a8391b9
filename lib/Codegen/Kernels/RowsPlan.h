// Schedule of a row kernel: tiles, threads, lanes, and which results may overwrite operands.
#pragma once

#include "lib/Analysis/RowPadding.h"
#include "lib/Codegen/Kernels/RowStashes.h"
#include "lib/Codegen/Kernels/SumTree.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Codegen/RowFacts.h"

#include "llvm/ADT/SetVector.h"

namespace trainc::codegen {

/// A reduction whose result is complete only after all tiles. Tiles store partial results in a scratch
/// buffer; if `ofRows`, they store one element per row. A second launch combines the stored elements in
/// order.
struct TileReduction {
  mutable nn::ReduceOp op;
  unsigned result;  ///< number of the kernel's result
  int64_t width;    ///< elements of the result: the columns, or 1
  bool ofRows;      ///< whether the operand has one element per row
  bool direct;      ///< whether there is one row tile, which writes the result itself
  unsigned scratch; ///< index into KernelSummary::scratchBytes, unless direct
};

/// Parameters of a target for row kernels.
struct RowsTuning {
  int64_t blockBytes; ///< maximum bytes of rows in a block's own memory
  /// Number of threads that share the rows of a column sum, if each gets enough rows.
  int64_t partialThreads;
  /// Maximum threads per block, a power of two. With one thread per block, the thread processes tiles of many
  /// rows. With several, the threads process a row together, each with its own columns.
  int64_t threads = 1;
};

/// The schedule of one nn.kernel.
///
/// A kernel is *flat* if it has a single long row and no reductions that its own elements depend on. The row
/// is cut into pieces of SumTree::kPiece elements (with several threads, if it is longer than
/// ThreadTree::kWhole). Each piece is a tile with one row of that many `columns`; the last piece may be
/// shorter.
class RowsPlan {
public:
  RowsPlan(nn::KernelOp kernel, const RowsTuning &tuning);
  RowsPlan(const RowsPlan &) = delete; // `stashes` refers to `facts`

  RowFacts facts;
  RowStashes stashes;
  bool flat = false;
  /// Whether threads share all steps of all rows, because no step depends on the rest of its row.
  bool linear = false;
  int64_t rows, columns; ///< sizes of the loops
  int64_t rowsPerTile, grid;
  int64_t rowTiles; ///< tiles of rows in the grid; each gives partial sums of all columns
  int64_t columnTiles =
      1; ///< number of blocks that share the columns of a tile of rows; they have adjacent numbers
  int64_t rowBlock = 1; ///< number of rows that one column loop processes at once
  /// Lanes of a step, which processes one vector of columns. With one thread, the last step of a row is
  /// masked; with several, each element after the last whole vector is a step.
  int64_t lanes;
  int64_t threads = 1;    ///< per block
  int64_t rowsAtOnce = 1; ///< number of rows that a block processes at once, each by some of its threads
  int64_t blockBytes = 0; ///< of a block's own memory: sums of threads and row buffers
  int64_t threadSums = 0; ///< maximum number of reductions along rows that threads complete together
  llvm::SmallVector<TileReduction> tileReductions;

  /// Returns the cost of an op of the kernel.
  BodyCost costOfBody(mlir::Operation *op) const { return bodyCosts.at(op); }

  /// Whether a reduction is complete only after all tiles.
  bool isTileReduction(mlir::Value value) const;

  /// Whether a second launch writes result `result` of the kernel.
  bool isFinishedLater(unsigned result) const {
    return llvm::any_of(tileReductions,
                        [&](const TileReduction &each) { return each.result == result && !each.direct; });
  }

  /// Number of elements of a tile reduction's scratch buffer.
  int64_t scratchElements(const TileReduction &reduction) const {
    return reduction.ofRows ? rows : rowTiles * reduction.width;
  }

  /// Number of threads that cooperate on one row.
  int64_t rowThreads() const { return threads * columnTiles / rowsAtOnce; }
  /// Whether threads keep sums of columns in registers while they process rows. Each thread must have at most
  /// one vector, and one element after the last whole vector.
  bool holdsColumnSums() const { return sumsColumns && threads > 1 && columns <= lanes * rowThreads(); }
  /// Elements of a row in a block's memory.
  int64_t blockRow() const {
    return rowsAtOnce == 1 ? columns : llvm::alignTo(columns, kBlockArrayAlignment);
  }

  /// Elements from one row of an input or a result to the next.
  int64_t inputRow(unsigned input) const { return columns + operandPadding(facts.kernel, input); }
  int64_t resultRow(unsigned result) const { return columns + resultPadding(facts.kernel, result); }

  /// Lanes of the tree in which a row is reduced.
  int64_t sumLanes(nn::ReduceOp reduce) const;

  /// Returns pairs of an input and a result that may overwrite it.
  llvm::SmallVector<std::pair<unsigned, unsigned>> mayAlias() const;

private:
  void chooseTiles();
  int64_t threadsOfColumns() const;
  bool sharesColumns() const;
  void chooseLanes();
  void chooseThreads();
  void chooseRowsAtOnce();
  int64_t linearLanes() const;
  bool hasPadding() const;
  bool hasHeavyBody() const;
  void collectTileReductions();
  bool safeInPlace(unsigned input, unsigned result) const;

  RowsTuning tuning;
  bool sumsColumns = false; ///< whether the kernel sums columns over rows
  BodyCosts bodyCosts;
};

} // namespace trainc::codegen
