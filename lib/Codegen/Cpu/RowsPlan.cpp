// Decides tiles, lanes, passes and what later passes read back.
#include "lib/Codegen/Cpu/RowsPlan.h"

#include "lib/Codegen/Cpu/Emitter.h"
#include "lib/Codegen/Cpu/KernelFunction.h"

#include "lib/Support/StoredElement.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Row buffers on the stack of the threads that run kernels.
static constexpr int64_t kStackBytes = 256 << 10;
/// Elements of a tile of rows, and the number of tiles when every tile makes partial sums of all columns.
static constexpr int64_t kTileElements = 32768, kPartialTiles = 64;
/// Instructions from which reading back is cheaper than computing again.
static constexpr int64_t kStashWeight = 6, kResultStashWeight = 2;
/// Instructions from which a body that asks for 64-bit positions is taken to compute with them.
static constexpr int64_t kWideBody = 8;
/// Instructions of a body with a polynomial: its temporaries would not fit AVX2's registers in 64 lanes.
static constexpr int64_t kFunctionBody = 12;
/// Instructions from which a single body fills the registers (and the time to compile it) with few lanes.
static constexpr int64_t kHeavyBody = 64;

RowsPlan::RowsPlan(nn::KernelOp kernel, IterationSpace found) : kernel(kernel), space(std::move(found)) {
  auto usedHere = [&](nn::ReduceOp reduce) {
    return strip(reduce) == reduce.getResult() &&
           llvm::any_of(reduce->getUsers(), [](Operation *user) { return !isa<nn::YieldOp>(user); });
  };
  bool needsWholeRow = llvm::any_of(kernel.getBody().getOps<nn::ReduceOp>(), usedHere);
  flat = space.rows() == 1 && space.columns() > SumTree::kPiece && !needsWholeRow;
  rows = flat ? llvm::divideCeil(space.columns(), SumTree::kPiece) : space.rows();
  columns = flat ? SumTree::kPiece : space.columns();
  chooseTiles();
  collectTileReductions();
  chooseLanes();
  chooseStashes();
}

//===-- The ops -------------------------------------------------------------------------------===//

Value RowsPlan::strip(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    bool same = isa<nn::ReshapeOp, nn::BroadcastOp>(op) ||
                (isa<nn::ReduceOp>(op) && space.placement(op->getOperand(0)) == space.placement(value));
    if (!same)
      break;
    value = op->getOperand(0);
  }
  return value;
}

nn::YieldOp RowsPlan::yield() const { return cast<nn::YieldOp>(kernel.getBody().front().getTerminator()); }

bool RowsPlan::isTileReduction(Value value) const {
  auto reduce = value.getDefiningOp<nn::ReduceOp>();
  return reduce && strip(value) == value && (flat || space.isReducedOverTiles(value));
}

SmallVector<nn::ReduceOp> RowsPlan::rowReductions(int64_t pass) const {
  SmallVector<nn::ReduceOp> found;
  for (auto reduce : kernel.getBody().getOps<nn::ReduceOp>())
    if (strip(reduce) == reduce.getResult() && alongColumns(reduce.getX()) && !alongColumns(reduce) &&
        space.depth(reduce.getX()) == pass)
      found.push_back(reduce);
  return found;
}

SmallVector<Value> RowsPlan::stored(int64_t pass) const {
  llvm::SetVector<Value> values;
  for (Value value : yield().getValues())
    if (alongColumns(value) && !isTileReduction(value) && space.depth(value) == pass)
      values.insert(strip(value));
  for (auto &[value, stash] : stashes)
    if (space.depth(value) == pass)
      values.insert(value);
  return values.takeVector();
}

SmallVector<Value> RowsPlan::roots(int64_t pass) const {
  SmallVector<Value> values = stored(pass);
  for (nn::ReduceOp reduce : rowReductions(pass))
    values.push_back(reduce.getX());
  for (const TileReduction &reduction : tileReductions)
    if (alongColumns(reduction.op) && space.depth(reduction.op.getX()) == pass)
      values.push_back(reduction.op.getX());
  return values;
}

void RowsPlan::visit(int64_t pass, llvm::function_ref<bool(Value)> enter) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> left = llvm::to_vector(llvm::reverse(roots(pass)));
  while (!left.empty()) {
    Value value = strip(left.pop_back_val());
    if (!alongColumns(value) || !seen.insert(value).second || !enter(value))
      continue;
    if (Operation *op = value.getDefiningOp(); op && !isa<nn::GatherOp>(op))
      llvm::append_range(left, llvm::reverse(op->getOperands()));
  }
}

//===-- Choices -------------------------------------------------------------------------------===//

void RowsPlan::chooseTiles() {
  bool partialColumns = llvm::any_of(kernel.getBody().getOps<nn::ReduceOp>(), [&](nn::ReduceOp reduce) {
    return isTileReduction(reduce) && alongColumns(reduce);
  });
  rowsPerTile = flat ? 1 : std::clamp<int64_t>(kTileElements / columns, 1, rows);
  if (partialColumns)
    rowsPerTile = std::max(rowsPerTile, int64_t(llvm::divideCeil(rows, kPartialTiles)));
  grid = llvm::divideCeil(rows, rowsPerTile);
  bool alongRows = false;
  for (int64_t pass = 0; pass < space.passes(); ++pass)
    alongRows |= !rowReductions(pass).empty();
  if (partialColumns && !alongRows && rowsPerTile >= 4)
    rowBlock = 4;
}

void RowsPlan::collectTileReductions() {
  unsigned scratch = 0;
  for (auto [index, value] : llvm::enumerate(yield().getValues())) {
    if (!isTileReduction(value))
      continue;
    auto op = value.getDefiningOp<nn::ReduceOp>();
    bool ofRows = !alongColumns(op.getX());
    bool direct = grid == 1 && !ofRows && op.getKind() != nn::ReduceKind::mean;
    tileReductions.push_back(
        {op, unsigned(index), alongColumns(value) ? columns : 1, ofRows, direct, direct ? 0 : scratch});
    scratch += !direct;
  }
}

void RowsPlan::chooseLanes() {
  bool wide = false, reduces = false, heavy = false, function = false;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!alongColumns(op.getResult(0)) && !isa<nn::ReduceOp>(op))
      continue;
    BodyCost cost = bodyCost(&op);
    wide |= elementBytes(getElementTypeOrSelf(op.getResult(0))) == 8 ||
            (cost.positions && cost.weight > kWideBody);
    heavy |= cost.weight > kHeavyBody;
    function |= cost.weight >= kFunctionBody;
    reduces |= isa<nn::ReduceOp>(op) && !alongColumns(op.getResult(0));
  }
  lanes = heavy ? 8 : (reduces && !function ? 64 : 32) / (wide ? 2 : 1);
  lanes = std::min<int64_t>(lanes, llvm::bit_ceil<uint64_t>(columns));
}

int64_t RowsPlan::weight(Value value) {
  value = strip(value);
  Operation *op = value.getDefiningOp();
  if (!alongColumns(value) || !op)
    return op ? 0 : 1;
  auto [entry, added] = weights.try_emplace(value, 0);
  if (!added)
    return entry->second;
  int64_t sum = bodyCost(op).weight;
  for (Value operand : op->getOperands())
    sum += isa<nn::GatherOp>(op) ? 1 : weight(operand);
  return weights[value] = std::min(sum, kStashWeight); // beyond, how much it is does not matter
}

/// From the last pass to the first, since a stashed value may itself need others of earlier passes.
void RowsPlan::chooseStashes() {
  llvm::DenseMap<Value, unsigned> results;
  for (auto [index, value] : llvm::enumerate(yield().getValues()))
    if (space.extent(value) == Extent::Full && space.extent(strip(value)) == Extent::Full)
      results.try_emplace(strip(value), index);
  int64_t stackBytes = 0;
  auto choose = [&](Value value, int64_t pass) {
    int64_t bytes = llvm::alignTo(columns * elementBytes(getElementTypeOrSelf(value)), 64);
    if (auto result = results.find(value); result != results.end() && weight(value) >= kResultStashWeight)
      stashes[value] = {true, result->second};
    else if (int64_t borrowed = borrowedResult(value, pass); weight(value) >= kStashWeight && borrowed >= 0)
      stashes[value] = {true, unsigned(borrowed)};
    else if (weight(value) >= kStashWeight && stackBytes + bytes <= kStackBytes) {
      stashes[value] = {false, unsigned(stackBuffers++)};
      stackBytes += bytes;
    } else
      return false;
    return true;
  };
  for (int64_t pass = space.passes() - 1; pass > 0; --pass)
    visit(pass, [&](Value value) {
      bool earlier = value.getDefiningOp() && space.depth(value) < pass;
      return !(earlier && (stashes.contains(value) || choose(value, pass)));
    });
}

/// Passes are visited from the last, so `pass` is the last one to read the value.
int64_t RowsPlan::borrowedResult(Value value, int64_t pass) const {
  for (auto [index, yielded] : llvm::enumerate(yield().getValues())) {
    bool holds = space.extent(yielded) == Extent::Full && alongColumns(yielded) &&
                 !isTileReduction(yielded) && getElementTypeOrSelf(yielded) == getElementTypeOrSelf(value) &&
                 space.depth(yielded) >= pass;
    auto taken = [&, result = index](const auto &stash) {
      return stash.second.isResult && stash.second.index == result && strip(yielded) != stash.first;
    };
    if (holds && llvm::none_of(stashes, taken))
      return index;
  }
  return -1;
}

int64_t RowsPlan::firstWrite(unsigned result) const {
  int64_t first = space.depth(yield().getValues()[result]);
  for (const auto &[value, stash] : stashes)
    if (stash.isResult && stash.index == result)
      first = std::min(first, space.depth(value));
  return first;
}

const RowsPlan::Stash *RowsPlan::stashFor(Value value, int64_t pass) const {
  auto found = stashes.find(value);
  return found == stashes.end() || space.depth(value) >= pass ? nullptr : &found->second;
}

//===-- In-place results ----------------------------------------------------------------------===//

int64_t RowsPlan::lastRead(unsigned index) const {
  Value argument = kernel.getBody().getArgument(index);
  int64_t last = -1;
  for (int64_t pass = 0; pass < space.passes(); ++pass)
    visit(pass, [&](Value value) {
      if (value == argument)
        last = pass;
      return !stashFor(value, pass);
    });
  return last;
}

bool RowsPlan::safeInPlace(unsigned input, unsigned result) const {
  Value value = yield().getValues()[result];
  if (isTileReduction(value))
    return false;
  Extent extent = space.extent(value);
  if (extent != space.extent(kernel.getBody().getArgument(input)))
    return false;
  if (extent == Extent::Full && alongColumns(value))
    return lastRead(input) <= firstWrite(result);
  // Values per row are read before and written after the row; scalars before and after the tile.
  return (extent == Extent::Full || extent == Extent::PerRow || extent == Extent::Scalar) &&
         (grid == 1 || (!flat && extent != Extent::Scalar));
}

SmallVector<std::pair<unsigned, unsigned>> RowsPlan::mayAlias() const {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  OperandRange inputs = kernel.getInputs();
  for (unsigned result = 0; result < kernel.getNumResults(); ++result)
    for (unsigned input = 0; input < inputs.size(); ++input) {
      auto sameBuffer = [&](unsigned other) {
        return inputs[other] != inputs[input] || safeInPlace(other, result);
      };
      bool sameSize = elementCount(inputs[input]) == elementCount(kernel.getResult(result)) &&
                      getElementTypeOrSelf(inputs[input]) == getElementTypeOrSelf(kernel.getResult(result));
      if (sameSize && llvm::all_of(llvm::seq<unsigned>(0, inputs.size()), sameBuffer))
        pairs.emplace_back(input, result);
    }
  return pairs;
}
