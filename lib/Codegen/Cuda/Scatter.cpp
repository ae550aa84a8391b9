// nn.scatter_add in two launches, without long chains of additions and without atomics.
//
// Ids are cut into pieces. The first launch sums the updates of equal ids within a piece. For each position
// of an id it writes a *head*: the table row and whether a sum was stored, at the first of equal ids; -1 at
// all others. The second launch distributes rows over warps. Each warp reads all heads and adds the
// corresponding updates or sums to its rows. So a row has at most one addition per piece, in the order of
// pieces.
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Cuda/ScatterEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::cuda::scatter;

/// Number of heads that a thread reads at a time.
static constexpr int64_t kHeads = 4;

namespace {

/// Second launch: a warp for each owner and each strip.
class OwnerEmitter : ScatterEmitter {
public:
  using ScatterEmitter::ScatterEmitter;

  std::string run() {
    element = getElementTypeOrSelf(op.getTable());
    table = function.result(0);
    sums = sumsInScratch(op) ? function.scratch(kWideTable) : table;
    return ofWarps(shares.owners, [&](Value owner) { ofOwner(owner); });
  }

private:
  void ofOwner(Value owner) {
    if (sumsInScratch(op))
      copyRows(owner, table, element, sums, sumElement);
    const int64_t step = kWarp * kHeads;
    emit.loop(emit.i64(0), emit.i64(shares.places()), step, headsAt(emit.i64(0)),
              [&](Value begin, ValueRange carried) {
                Value next = headsAt(emit.min(emit.add(begin, step), emit.i64(shares.places() - step)));
                look(owner, begin, carried[0]);
                return SmallVector<Value>{next};
              });
    if (sumsInScratch(op))
      copyRows(owner, sums, sumElement, table, element);
  }

  Value headsAt(Value begin) {
    return emit.load({heads, headType, emit.add(begin, emit.mul(lane, kHeads))}, kHeads);
  }

  /// Each thread reads kHeads heads; then all threads add the updates or sums of heads in the owner's rows.
  void look(Value owner, Value begin, Value found) {
    owner = resized(owner, headType.getIntOrFloatBitWidth());
    SmallVector<Value> each, isOwned;
    for (int64_t i = 0; i < kHeads; ++i) {
      each.push_back(vector::ExtractOp::create(emit.builder, emit.loc, found, i));
      Value its = emit.remainder(emit.divide(each[i], 2), shares.owners);
      Value isNone = isNegative(each[i]);
      isOwned.push_back(
          select(isNone, emit.constant(isNone.getType(), 0), compare(arith::CmpIPredicate::eq, its, owner)));
    }
    Value any = isOwned[0];
    for (Value one : ArrayRef(isOwned).drop_front())
      any = either(any, one);
    emit.when(isNot(ballot(any), 0), [&] {
      for (auto [i, head, owned] : llvm::enumerate(each, isOwned))
        eachBit(ballot(owned), [&, i = i, head = head](Value bit) {
          add(emit.add(begin, emit.add(emit.mul(bit, kHeads), int64_t(i))), fromLane(emit, head, bit));
        });
    });
  }

  void eachBit(Value bits, llvm::function_ref<void(Value)> body) {
    emit.loop(emit.i64(0), countOf(bits), 1, bits, [&](Value, ValueRange left) {
      body(lowest(left[0]));
      return SmallVector<Value>{withoutLowest(left[0])};
    });
  }

  void add(Value place, Value head) {
    Address to = inRow(sums, sumElement, resized(emit.divide(head, 2), 64));
    Value isSum = isNot(emit.remainder(head, 2), 0);
    auto addTo = [&](Value more) { emit.store(emit.add(emit.load(to, shares.lanes), more), to); };
    Value isUpdate = compare(arith::CmpIPredicate::eq, isSum, emit.constant(isSum.getType(), 0));
    emit.when(both(hasColumn, isSum),
              [&] { addTo(emit.load(inRow(sumsOfPieces, sumElement, place), shares.lanes)); });
    emit.when(both(hasColumn, isUpdate), [&] { addTo(loadUpdate(place)); });
  }

  void copyRows(Value owner, Value from, Type fromElement, Value to, Type toElement) {
    emit.when(hasColumn, [&] {
      emit.loop(owner, emit.i64(shares.tableRows), shares.owners, [&](Value row) {
        emit.store(emit.load(inRow(from, fromElement, row), shares.lanes), inRow(to, toElement, row));
      });
    });
  }

  Type element;
  Value table, sums;
};

} // namespace

namespace {

/// Bytes that the launches move, and their longest chains of dependent memory accesses.
struct ScatterCost {
  int64_t piecesMove, ownersMove, piecesChain, ownersChain;
};

} // namespace

/// Estimates: an update is read in one of the launches, and counted in the first. A sum has at least two
/// updates, so that there are at most half as many sums as ids. A warp does not find more equal adjacent ids
/// than it loads at a time. A warp reads all heads, loading the next while it adds. Additions to one row
/// depend on each other, one per piece, in addition to the warp's share of all heads.
static ScatterCost scatterCost(nn::ScatterAddOp op, const Shares &shares) {
  const int64_t table = elementBytes(getElementTypeOrSelf(op.getTable())),
                sum = elementBytes(nn::wideElement(getElementTypeOrSelf(op.getTable())));
  const int64_t heads = shares.places() * elementBytes(shares.head(op.getContext())),
                sums = shares.ids * shares.width * sum / 2;
  return {.piecesMove =
              tensorBytes(op.getIds().getType()) + tensorBytes(op.getUpdates().getType()) + heads + sums,
          .ownersMove = heads + sums + 2 * op.touchedElements() * sum +
                        (sumsInScratch(op) ? 2 * elementCount(op.getTable()) * (table + sum) : 0),
          .piecesChain = kPiece / kWarp * 2, // ids, then updates
          .ownersChain = int64_t(llvm::divideCeil(shares.places(), kWarp * kHeads)) +
                         shares.places() / kPiece + int64_t(llvm::divideCeil(shares.ids, shares.owners))};
}

static int64_t blocksOf(int64_t warps) { return int64_t(llvm::divideCeil(warps, kWarps)); }

KernelSummary trainc::codegen::cuda::summariseScatter(nn::ScatterAddOp op) {
  const Shares shares(op);
  const ScatterCost cost = scatterCost(op, shares);
  Type head = shares.head(op.getContext()), sum = nn::wideElement(getElementTypeOrSelf(op.getTable()));
  KernelSummary kernels;
  kernels.scratchBytes = {shares.places() * elementBytes(head),
                          shares.ids * shares.width * elementBytes(sum)};
  if (sumsInScratch(op))
    kernels.scratchBytes.push_back(elementCount(op.getTable()) * elementBytes(sum));
  KernelParam updates = operandParam(op, op.getUpdatesMutable().getOperandNumber());
  kernels.launches.push_back({.name = "scatter_pieces",
                              .grid = blocksOf(shares.places() * shares.strips),
                              .params = {operandParam(op, op.getIdsMutable().getOperandNumber()), updates,
                                         scratchParam(kernels, kHeadsOfPlaces, plan::Access::write, head),
                                         scratchParam(kernels, kSumsOfPieces, plan::Access::write, sum)},
                              .movedBytes = cost.piecesMove,
                              .chain = cost.piecesChain,
                              .threads = kThreads});
  LaunchSummary owners{.name = "scatter",
                       .grid = blocksOf(shares.owners * shares.strips),
                       .params = {updates, scratchParam(kernels, kHeadsOfPlaces, plan::Access::read, head),
                                  scratchParam(kernels, kSumsOfPieces, plan::Access::read, sum),
                                  resultParam(op, 0, plan::Access::read_write)},
                       .movedBytes = cost.ownersMove,
                       .chain = cost.ownersChain,
                       .threads = kThreads};
  if (sumsInScratch(op))
    owners.params.push_back(scratchParam(kernels, kWideTable, plan::Access::write, sum));
  kernels.launches.push_back(std::move(owners));
  return kernels;
}

Symbols trainc::codegen::cuda::generateScatter(nn::ScatterAddOp op, KernelModule &kernels) {
  const KernelSummary summary = summariseScatter(op);
  return {generatePieces(op, kernels, summary.launches[0]),
          OwnerEmitter(op, kernels, summary.launches[1]).run()};
}
