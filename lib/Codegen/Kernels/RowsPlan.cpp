// Choice of tiles, threads and lanes.
#include "lib/Codegen/Kernels/RowsPlan.h"
#include "dialects/NN/Builders.h"

#include "lib/Analysis/KernelAttributes.h"
#include "lib/Codegen/Kernels/Emitter.h"
#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/Reductions.h"

#include "lib/Support/StoredElement.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Elements of a tile of rows that one thread processes.
static constexpr int64_t kTileElements = 32768;
/// Minimum instructions of a body at which its 64-bit positions are assumed to take part in arithmetic.
static constexpr int64_t kWideBody = 8;
/// Minimum instructions of a body that is assumed to compute a polynomial. In 64 lanes, its temporaries do
/// not fit into AVX2's registers.
static constexpr int64_t kFunctionBody = 12;
/// Minimum instructions of a body at which few lanes fill the registers; more lanes would also take long to
/// compile.
static constexpr int64_t kHeavyBody = 64;
/// Parameters for blocks of several threads. In kernels without reductions, a thread has kLanesOfThread lanes
/// of f32, or kShortLanesOfThread lanes of bf16 or f16 (16 bytes), and a block has kLinearThreads threads. If
/// a block processes several short rows at once, it has at most kNarrowThreads threads.
static constexpr int64_t kLanesOfThread = 4, kShortLanesOfThread = 8, kLinearThreads = 256,
                         kNarrowThreads = 256;
/// Parameters for blocks of several threads that sum columns. With at most kColumnThreads threads per block,
/// few threads are idle. With at least kMinRows rows per tile, partial sums are small compared to the
/// operands.
static constexpr int64_t kColumnThreads = 128, kMinRows = 4;

RowsPlan::RowsPlan(nn::KernelOp kernel, const RowsTuning &tuning)
    : facts(kernel), stashes(facts), tuning(tuning) {
  auto usedHere = [&](nn::ReduceOp reduce) {
    return facts.strip(reduce) == reduce.getResult() &&
           llvm::any_of(reduce->getUsers(), [](Operation *user) { return !isa<nn::YieldOp>(user); });
  };
  bool needsWholeRow = llvm::any_of(kernel.getBody().getOps<nn::ReduceOp>(), usedHere);
  bool reduces = llvm::any_of(kernel.getBody().getOps<nn::ReduceOp>(),
                              [&](nn::ReduceOp reduce) { return facts.strip(reduce) == reduce.getResult(); });
  linear = tuning.threads > 1 && !reduces;
  const int64_t whole = tuning.threads > 1 ? ThreadTree::kWhole : SumTree::kPiece;
  flat = !linear && facts.rows == 1 && facts.columns > whole && !needsWholeRow;
  rows = flat ? llvm::divideCeil(facts.columns, SumTree::kPiece) : facts.rows;
  columns = flat ? SumTree::kPiece : facts.columns;
  for (Operation &op : kernel.getBody().front().without_terminator())
    bodyCosts[&op] = bodyCost(&op);
  chooseTiles();
  chooseLanes();
  if (tuning.threads > 1)
    chooseThreads();
  collectTileReductions();
  stashes.choose(bodyCosts, {rowsAtOnce * blockRow(), tuning.blockBytes - blockBytes},
                 [&](Value value) { return isTileReduction(value); });
  blockBytes += stashes.bytes();
}

// --- Passes ---

bool RowsPlan::isTileReduction(Value value) const {
  auto reduce = value.getDefiningOp<nn::ReduceOp>();
  return reduce && facts.strip(value) == value && (flat || facts.isReducedOverRows(value));
}

int64_t RowsPlan::sumLanes(nn::ReduceOp reduce) const {
  const SumTree tree(sumElement(reduce), columns);
  return threads > 1 ? lanes : tree.lanes;
}

// --- Choices ---

/// Chooses tiles. The order in which columns are summed depends only on the numbers of rows and columns.
void RowsPlan::chooseTiles() {
  sumsColumns = llvm::any_of(facts.kernel.getBody().getOps<nn::ReduceOp>(), [&](nn::ReduceOp reduce) {
    return isTileReduction(reduce) && facts.isAlongColumns(reduce);
  });
  const bool ofThreads = tuning.threads > 1;
  rowsPerTile = flat || ofThreads ? 1 : std::clamp<int64_t>(kTileElements / columns, 1, rows);
  if (sumsColumns) {
    const int64_t share = llvm::divideCeil(rows * threadsOfColumns(), tuning.partialThreads);
    rowsPerTile = std::min(rows, std::max({rowsPerTile, share, ofThreads ? kMinRows : 1}));
  }
  grid = rowTiles = llvm::divideCeil(rows, rowsPerTile);
  bool alongRows = false;
  for (int64_t pass = 0; pass < facts.passes(); ++pass)
    alongRows |= !facts.rowReductions(pass).empty();
  if (sumsColumns && !alongRows && rowsPerTile >= 4)
    rowBlock = 4;
}

/// Returns the number of threads, over all blocks, that share the columns of a row.
int64_t RowsPlan::threadsOfColumns() const {
  if (tuning.threads == 1)
    return 1;
  const int64_t steps = llvm::divideCeil(columns, ThreadTree(columns).lanes);
  return steps > kColumnThreads ? int64_t(llvm::alignTo(steps, kColumnThreads))
                                : std::max<int64_t>(llvm::bit_ceil<uint64_t>(steps), kWarp);
}

/// Whether the kernel sums columns and all its columns are independent, so that several blocks can share
/// them.
bool RowsPlan::sharesColumns() const {
  return sumsColumns && facts.passes() == 1 && facts.rowReductions(0).empty() &&
         llvm::all_of(facts.yield().getValues(), [&](Value value) { return facts.isAlongColumns(value); });
}

void RowsPlan::collectTileReductions() {
  unsigned scratch = 0;
  for (auto [index, value] : llvm::enumerate(facts.yield().getValues())) {
    if (!isTileReduction(value))
      continue;
    auto op = value.getDefiningOp<nn::ReduceOp>();
    bool ofRows = !facts.isAlongColumns(op.getX());
    bool rounds = sumElement(op) != getElementTypeOrSelf(value);
    bool isSum = !rounds && op.getKind() != nn::ReduceKind::mean;
    bool direct = rowTiles == 1 && !ofRows && (isSum || holdsColumnSums());
    tileReductions.push_back({op, unsigned(index), facts.isAlongColumns(value) ? columns : 1, ofRows, direct,
                              direct ? 0 : scratch});
    scratch += !direct;
  }
}

bool RowsPlan::hasHeavyBody() const {
  return llvm::any_of(facts.kernel.getBody().front().without_terminator(), [&](Operation &op) {
    return (facts.isAlongColumns(op.getResult(0)) || isa<nn::ReduceOp>(op)) &&
           costOfBody(&op).weight > kHeavyBody;
  });
}

void RowsPlan::chooseLanes() {
  bool wide = false, reduces = false, function = false;
  for (Operation &op : facts.kernel.getBody().front().without_terminator()) {
    if (!facts.isAlongColumns(op.getResult(0)) && !isa<nn::ReduceOp>(op))
      continue;
    BodyCost cost = costOfBody(&op);
    wide |= elementBytes(getElementTypeOrSelf(op.getResult(0))) == 8 ||
            (cost.positions && cost.weight > kWideBody);
    function |= cost.weight >= kFunctionBody;
    reduces |= isa<nn::ReduceOp>(op) && !facts.isAlongColumns(op.getResult(0));
  }
  lanes = hasHeavyBody() ? 8 : (reduces && !function ? 64 : 32) / (wide ? 2 : 1);
  lanes = std::min<int64_t>(lanes, llvm::bit_ceil<uint64_t>(columns));
}

/// Returns the lanes that fill 16 bytes of the narrowest type loaded or stored along columns.
int64_t RowsPlan::linearLanes() const {
  if (hasHeavyBody())
    return kLanesOfThread;
  int64_t maximum = kLanesOfThread;
  auto widen = [&](Value value) {
    if ((facts.isTable(value) || facts.isAlongColumns(value)) &&
        (nn::isLowPrecision(getElementTypeOrSelf(value)) || nn::isFp8(getElementTypeOrSelf(value))))
      maximum = kShortLanesOfThread;
  };
  llvm::for_each(facts.kernel.getBody().getArguments(), widen);
  llvm::for_each(facts.yield().getValues(), widen);
  return maximum;
}

bool RowsPlan::hasPadding() const {
  auto noted = facts.kernel->getAttrOfType<DenseI64ArrayAttr>(kRowPaddingAttr);
  return noted && llvm::any_of(noted.asArrayRef(), [](int64_t elements) { return elements > 0; });
}

/// Chooses lanes and threads. The order in which a row is reduced depends only on its length (ThreadTree),
/// not on the ops that share its kernel. Without reductions, lanes divide unpadded rows, so that adjacent
/// threads access adjacent elements.
void RowsPlan::chooseThreads() {
  lanes = linear ? linearLanes() : ThreadTree(facts.columns).lanes;
  while (linear && (!hasPadding() || columns < lanes) && columns % lanes != 0)
    lanes /= 2;
  if (linear) {
    threads = std::min(kLinearThreads, tuning.threads);
    grid = llvm::divideCeil(rows * int64_t(llvm::divideCeil(columns, lanes)), threads);
    return;
  }
  const int64_t steps = llvm::divideCeil(columns, lanes);
  threads = std::min<int64_t>(llvm::bit_ceil<uint64_t>(std::max(steps, facts.columns % lanes)),
                              sharesColumns() ? kColumnThreads : tuning.threads);
  chooseRowsAtOnce();
  if (sharesColumns()) {
    columnTiles = llvm::divideCeil(steps, threads);
    grid = rowTiles * columnTiles;
  }
  for (int64_t pass = 0; pass < facts.passes(); ++pass)
    threadSums = std::max(threadSums, rowBlock * int64_t(facts.rowReductions(pass).size()));
  blockBytes = threadSums * threadSumBytes(rowThreads());
}

/// If the rows divide evenly, the threads of a warp share several short rows, and the warps of a block have
/// separate rows. With column sums, a block processes one row after another. A row's sum does not depend on
/// its neighbours, because threads without elements add nothing.
void RowsPlan::chooseRowsAtOnce() {
  const bool mayShare = threads <= kWarp && !sumsColumns;
  while (mayShare && rows % (2 * rowsAtOnce) == 0 && 2 * rowsAtOnce * threads <= kNarrowThreads)
    rowsAtOnce *= 2;
  threads = std::max(threads * rowsAtOnce, kWarp);
  grid /= rowsAtOnce;
}

// --- In-place results ---

/// Whether the result may overwrite the input: each element of the input is read before it is overwritten.
bool RowsPlan::safeInPlace(unsigned input, unsigned result) const {
  Value value = facts.yield().getValues()[result];
  if (isTileReduction(value))
    return false;
  Value argument = facts.kernel.getBody().getArgument(input);
  if (facts.isTable(argument) || facts.pattern(argument) != facts.pattern(value))
    return false;
  if (facts.pattern(value).isIdentity() && facts.isAlongColumns(value))
    return stashes.lastRead(input) <= stashes.firstWrite(result);
  if (linear && columns > 1) // threads of other columns may read later
    return facts.isScalar(value) && grid == 1;
  // Values per row are read before and written after the row; scalars before and after the tile.
  return facts.hasEveryRow(value) ? grid == 1 || !flat : facts.isScalar(value) && grid == 1;
}

SmallVector<std::pair<unsigned, unsigned>> RowsPlan::mayAlias() const {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  OperandRange inputs = facts.kernel.getInputs();
  for (unsigned result = 0; result < facts.kernel.getNumResults(); ++result)
    for (unsigned input = 0; input < inputs.size(); ++input) {
      auto sameBuffer = [&](unsigned other) {
        return inputs[other] != inputs[input] || safeInPlace(other, result);
      };
      bool sameSize =
          elementCount(inputs[input]) == elementCount(facts.kernel.getResult(result)) &&
          inputRow(input) == resultRow(result) &&
          getElementTypeOrSelf(inputs[input]) == getElementTypeOrSelf(facts.kernel.getResult(result));
      if (sameSize && llvm::all_of(llvm::seq<unsigned>(0, inputs.size()), sameBuffer))
        pairs.emplace_back(input, result);
    }
  return pairs;
}
