// How a row kernel runs: tiles, threads, lanes, and what later passes read back.
#pragma once

#include "lib/Analysis/RowPadding.h"
#include "lib/Codegen/Kernels/SumTree.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Codegen/RowFacts.h"

#include "llvm/ADT/SetVector.h"

namespace trainc::codegen {

/// A reduction whose result is complete only after all tiles. What they make of it waits in a scratch buffer
/// for a second launch, which combines it in order: a partial result of each tile or, where single elements
/// of rows are reduced, these.
struct TileReduction {
  mutable nn::ReduceOp op;
  unsigned result;  ///< of the kernel
  int64_t width;    ///< elements of the result: the columns, or 1
  bool ofRows;      ///< elements of rows are reduced
  bool direct;      ///< there is one tile of rows, which writes the result itself
  unsigned scratch; ///< index into KernelSummary::scratchBytes, unless direct
};

/// Rough number of instructions of an elementwise op's body, and whether it asks for 64-bit positions.
struct BodyCost {
  int64_t weight = 0;
  bool positions = false;
};

/// What a target says of the way in which it runs row kernels.
struct RowsTuning {
  int64_t blockBytes; ///< what the rows may take that a kernel keeps in a block's own memory
  /// That sum columns share the rows among so many threads, if each gets enough of them.
  int64_t partialThreads;
  /// Of a block at most, a power of two. One thread walks over tiles of many rows; several walk over a row
  /// together, each over columns of its own.
  int64_t threads = 1;
};

/// The schedule of one nn.kernel.
///
/// A single long row without reductions that its own elements need is *flat*: it is cut into pieces of
/// SumTree::kPiece elements (where threads reduce, if it is longer than ThreadTree::kWhole), each a tile and
/// a row of as many `columns`, of which the last may be shorter.
class RowsPlan {
public:
  RowsPlan(nn::KernelOp kernel, const RowsTuning &tuning);

  RowFacts facts;
  bool flat = false;
  /// No row needs more of itself than one step at a time: threads share all steps of all rows, whatever rows
  /// they are in.
  bool linear = false;
  int64_t rows, columns; ///< of the loops
  int64_t rowsPerTile, grid;
  int64_t rowTiles;        ///< of the grid; each leaves partial sums of all columns
  int64_t columnTiles = 1; ///< blocks that share the columns of a tile of rows, whose order is theirs
  int64_t rowBlock = 1;    ///< rows that one column loop walks at once
  /// Of a step. With one thread the last step of a row has a mask; with several, each of the elements that
  /// are left is a step.
  int64_t lanes;
  int64_t threads = 1;    ///< of a block
  int64_t rowsAtOnce = 1; ///< that the threads of a block walk over, each over one
  int64_t threadSums = 0; ///< reductions along rows that threads complete together, at a time
  llvm::SmallVector<TileReduction> tileReductions;

  /// Of an op of the kernel.
  BodyCost costOfBody(mlir::Operation *op) const { return bodyCosts.at(op); }

  /// Whether a reduction is complete only after all tiles.
  bool isTileReduction(mlir::Value value) const;

  /// Whether a second launch writes the kernel's result `result`.
  bool isFinishedLater(unsigned result) const {
    return llvm::any_of(tileReductions,
                        [&](const TileReduction &each) { return each.result == result && !each.direct; });
  }

  /// Elements that a tile reduction leaves in its scratch buffer.
  int64_t scratchElements(const TileReduction &reduction) const {
    return reduction.ofRows ? rows : rowTiles * reduction.width;
  }

  /// That walk over a row together.
  int64_t rowThreads() const { return threads * columnTiles / rowsAtOnce; }
  /// Whether threads hold the sums of columns while they walk over rows: each has one vector at most, and one
  /// element of those that vectors leave.
  bool holdsColumnSums() const { return sumsColumns && threads > 1 && columns <= lanes * rowThreads(); }
  /// Elements that a row takes in a block's memory.
  int64_t blockRow() const {
    return rowsAtOnce == 1 ? columns : llvm::alignTo(columns, kBlockArrayAlignment);
  }

  /// Elements from a row of an input, or a result, to the next one.
  int64_t inputRow(unsigned input) const { return columns + operandPadding(facts.kernel, input); }
  int64_t resultRow(unsigned result) const { return columns + resultPadding(facts.kernel, result); }

  /// Lanes of the tree in which a row is reduced.
  int64_t sumLanes(nn::ReduceOp reduce) const;

  /// Values along columns that must be computed in `pass`, apart from the operands of reductions: results and
  /// stashed values.
  llvm::SmallVector<mlir::Value> stored(int64_t pass) const;

  /// Values that later passes read back: from the buffer of result `index` (which is the value itself, or
  /// will be written over it), or from row buffer `index` in the block's memory.
  struct Stash {
    bool isResult;
    unsigned index;
  };
  llvm::MapVector<mlir::Value, Stash> stashes;
  int64_t blockBuffers = 0, blockBytes = 0;
  /// The stash to read in `pass`; none where the value is computed.
  const Stash *stashFor(mlir::Value value, int64_t pass) const;

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
  void chooseStashes();
  void collectTileReductions();
  llvm::SmallVector<mlir::Value> roots(int64_t pass) const;
  /// Instructions that computing the value takes, at most kStashWeight.
  int64_t weight(mlir::Value value);
  /// Last pass in which block argument `index` is read along columns, -1 if it is not.
  int64_t lastRead(unsigned index) const;
  bool safeInPlace(unsigned input, unsigned result) const;

  /// A result whose buffer can hold `value` until `pass`, -1 if there is none.
  int64_t borrowedResult(mlir::Value value, int64_t pass) const;
  /// The pass that first writes into the buffer of a result along columns.
  int64_t firstWrite(unsigned result) const;

  RowsTuning tuning;
  bool sumsColumns = false;                              ///< over rows
  llvm::DenseMap<mlir::Operation *, BodyCost> bodyCosts; ///< each body is built once
  llvm::DenseMap<mlir::Value, int64_t> weights;
};

BodyCost bodyCost(mlir::Operation *op);

} // namespace trainc::codegen
