// Rows added at indices, in two launches, so that no sum is a long chain and none needs atomics.
//
// Ids are cut into pieces. The first launch adds up the updates of equal ids of a piece, and writes for each
// place of an id its *head*: the row of the table and whether a sum was made, at the first place of equal
// ids, and -1 at all others. The second deals rows out to warps; each walks over all heads and adds what
// they name to its rows. So a row has one addition for each piece at most, in the order of pieces.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kThreads = 128, kWarps = kThreads / kWarp;
/// Ids of a piece: about as many as a batch has pieces, as each is a chain of additions.
static constexpr int64_t kPiece = 512;
/// Updates that a warp asks for before it adds them.
static constexpr int64_t kAhead = 4;
/// Heads that a thread reads at a time.
static constexpr int64_t kHeads = 4;
/// Warps that are enough to fill a GPU; with more, each would look through all heads for few rows.
static constexpr int64_t kEnoughWarps = 4096;

namespace {

/// How rows and columns are shared out: a thread has `lanes` columns of a strip, and a warp a strip of every
/// row whose number is its owner's, modulo `owners`.
struct Shares {
  int64_t tableRows, width, ids, lanes, strips, owners;

  explicit Shares(nn::ScatterAddOp op)
      : tableRows(cast<RankedTensorType>(op.getTable().getType()).getDimSize(0)),
        width(elementCount(op.getTable()) / tableRows), ids(elementCount(op.getIds())),
        lanes(std::gcd<int64_t, int64_t>(width,
                                         kAccessBytes / elementBytes(getElementTypeOrSelf(op.getUpdates())))),
        strips(llvm::divideCeil(width, kWarp * lanes)),
        owners(std::clamp<int64_t>(kEnoughWarps / strips, 1, tableRows)) {}

  int64_t places() const { return llvm::alignTo(ids, kPiece); }
  /// 2 row + 1 if a sum was made.
  Type head(MLIRContext *context) const { return IntegerType::get(context, tableRows < 1 << 30 ? 32 : 64); }
};

/// A table of bf16 or f16 is added up in a scratch buffer, and rounded once.
bool addsAside(nn::ScatterAddOp op) {
  Type element = getElementTypeOrSelf(op.getTable());
  return nn::wideElement(element) != element;
}

/// Indices of scratch buffers.
enum Scratch : unsigned { kHeadsOfPlaces, kSumsOfPieces, kWideTable };

/// What both launches have.
class ScatterEmitter {
public:
  ScatterEmitter(nn::ScatterAddOp op, KernelModule &kernels, const LaunchSummary &launch)
      : op(op), shares(op), function(kernels, launch), emit(function.emit()), i32(emit.builder.getI32Type()),
        headType(shares.head(i32.getContext())),
        sumElement(nn::wideElement(getElementTypeOrSelf(op.getTable()))),
        updates(function.operand(op.getUpdatesMutable().getOperandNumber())),
        heads(function.scratch(kHeadsOfPlaces)), sumsOfPieces(function.scratch(kSumsOfPieces)) {}

protected:
  /// The code of each of `number` times `strips` warps.
  std::string ofWarps(int64_t number, llvm::function_ref<void(Value)> body) {
    function.tiles([&](Value tile) {
      Value warp = emit.add(emit.mul(tile, kWarps), emit.divide(function.thread(), kWarp));
      lane = emit.remainder(function.thread(), kWarp);
      strip = emit.remainder(warp, shares.strips);
      column = emit.mul(emit.add(emit.mul(strip, kWarp), lane), shares.lanes);
      hasColumn = emit.less(column, emit.i64(shares.width));
      emit.when(emit.less(warp, emit.i64(number * shares.strips)),
                [&] { body(emit.divide(warp, shares.strips)); });
    });
    return function.finish();
  }

  Address inRow(Value base, Type element, Value row) {
    return {base, element, emit.add(emit.mul(row, shares.width), column)};
  }
  Value loadUpdate(Value place) {
    return emit.load(inRow(updates, getElementTypeOrSelf(op.getUpdates()), place), shares.lanes);
  }

  /// A bit for each thread of the warp, i32.
  Value ballot(Value condition) {
    return NVVM::VoteSyncOp::create(emit.builder, emit.loc, i32, emit.constant(i32, -1), condition,
                                    NVVM::VoteSyncKind::ballot);
  }
  Value countOf(Value bits) { return resized(LLVM::CtPopOp::create(emit.builder, emit.loc, bits), 64); }
  /// The number of the lowest bit that is set, i64, of bits that are not all 0.
  Value lowest(Value bits) {
    return resized(
        LLVM::CountTrailingZerosOp::create(emit.builder, emit.loc, i32, bits, /*is_zero_poison=*/true), 64);
  }
  Value withoutLowest(Value bits) { return both(bits, emit.sub(bits, emit.constant(i32, 1))); }

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(emit.builder, emit.loc, predicate, a, b);
  }
  Value isNot(Value bits, int64_t number) {
    return compare(arith::CmpIPredicate::ne, bits, emit.constant(bits.getType(), double(number)));
  }
  Value isNegative(Value number) {
    return compare(arith::CmpIPredicate::slt, number, emit.constant(number.getType(), 0));
  }
  Value both(Value a, Value b) { return arith::AndIOp::create(emit.builder, emit.loc, a, b); }
  Value either(Value a, Value b) { return arith::OrIOp::create(emit.builder, emit.loc, a, b); }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(emit.builder, emit.loc, condition, a, b);
  }
  /// An integer with a sign, of so many bits.
  Value resized(Value number, unsigned bits) {
    const unsigned has = number.getType().getIntOrFloatBitWidth();
    Type type = emit.builder.getIntegerType(bits);
    if (has == bits)
      return number;
    return has < bits ? arith::ExtSIOp::create(emit.builder, emit.loc, type, number).getResult()
                      : arith::TruncIOp::create(emit.builder, emit.loc, type, number).getResult();
  }

  nn::ScatterAddOp op;
  Shares shares;
  KernelFunction function;
  Emitter &emit;
  Type i32, headType, sumElement;
  Value updates, heads, sumsOfPieces;
  Value lane, strip, column, hasColumn; ///< of this thread
};

/// The first launch: a warp for each place of an id and each strip.
class PieceEmitter : ScatterEmitter {
public:
  using ScatterEmitter::ScatterEmitter;

  std::string run() {
    ids = function.operand(op.getIdsMutable().getOperandNumber());
    return ofWarps(shares.places(), [&](Value place) { ofPlace(place); });
  }

private:
  /// The row that an id names, of the ids' type; -1 for ids out of range, and behind the last one.
  Value rowAt(Value place) {
    Type type = getElementTypeOrSelf(op.getIds());
    Value id = emit.load({ids, type, emit.min(place, emit.i64(shares.ids - 1))});
    const int64_t most = std::min(shares.tableRows - 1, llvm::maxIntN(type.getIntOrFloatBitWidth()));
    Value bound = arith::ConstantOp::create(emit.builder, emit.loc, emit.builder.getIntegerAttr(type, most));
    Value isRow = compare(arith::CmpIPredicate::ule, id, bound);
    if (shares.ids != shares.places())
      isRow = both(isRow, emit.less(place, emit.i64(shares.ids)));
    return select(isRow, id, emit.constant(type, -1));
  }

  void ofPlace(Value place) {
    Value row = rowAt(place), begin = emit.mul(emit.divide(place, kPiece), kPiece);
    Value before, after;
    for (int64_t i = 0; i < kPiece; i += kWarp) {
      Value other = emit.add(emit.add(begin, i), lane);
      Value same = compare(arith::CmpIPredicate::eq, rowAt(other), row);
      Value isBefore = both(same, emit.less(other, place)), isAfter = both(same, emit.less(place, other));
      before = before ? either(before, isBefore) : isBefore;
      after = after ? either(after, isAfter) : isAfter;
    }
    Value hasSum = isNot(ballot(after), 0);
    Value isNone = either(isNegative(row), isNot(ballot(before), 0));
    Value twice = emit.mul(resized(row, headType.getIntOrFloatBitWidth()), 2);
    Value head = emit.add(twice, arith::ExtUIOp::create(emit.builder, emit.loc, headType, hasSum));
    Value writes = compare(arith::CmpIPredicate::eq, emit.add(strip, lane), emit.i64(0));
    emit.when(writes, [&] {
      emit.store(select(isNone, emit.constant(headType, -1), head), {heads, headType, place});
    });
    emit.when(select(isNone, emit.constant(emit.builder.getI1Type(), 0), hasSum),
              [&] { addUp(place, row, emit.add(begin, kPiece)); });
  }

  /// The updates of `place` and of the places up to `end` that have the same id, in order. Threads without
  /// columns repeat the last ones.
  void addUp(Value place, Value row, Value end) {
    column = emit.min(column, emit.i64(shares.width - shares.lanes));
    Value begin = emit.mul(emit.divide(place, kWarp), kWarp);
    Value sum = emit.loop(begin, end, kWarp, loadUpdate(place), [&](Value first, ValueRange carried) {
      Value other = emit.add(first, lane);
      Value same = compare(arith::CmpIPredicate::eq, rowAt(other), row);
      Value found = ballot(both(same, emit.less(place, other)));
      return SmallVector<Value>{addFound(first, found, carried[0])};
    })[0];
    emit.when(hasColumn, [&] { emit.store(sum, inRow(sumsOfPieces, sumElement, place)); });
  }

  Value addFound(Value first, Value found, Value sum) {
    Value rounds = emit.divide(emit.add(countOf(found), kAhead - 1), kAhead);
    return emit.loop(emit.i64(0), rounds, 1, {found, sum}, [&](Value, ValueRange carried) {
      Value left = carried[0], total = carried[1];
      SmallVector<std::pair<Value, Value>> ahead;
      for (int64_t i = 0; i < kAhead; ++i, left = withoutLowest(left)) {
        Value isSet = isNot(left, 0);
        Value place = emit.add(first, select(isSet, lowest(left), lowest(carried[0])));
        ahead.push_back({isSet, loadUpdate(place)});
      }
      for (auto [isSet, update] : ahead)
        total = select(isSet, emit.add(total, update), total);
      return SmallVector<Value>{left, total};
    })[1];
  }

  Value ids;
};

/// The second launch: a warp for each owner and each strip.
class OwnerEmitter : ScatterEmitter {
public:
  using ScatterEmitter::ScatterEmitter;

  std::string run() {
    element = getElementTypeOrSelf(op.getTable());
    table = function.result(0);
    sums = addsAside(op) ? function.scratch(kWideTable) : table;
    return ofWarps(shares.owners, [&](Value owner) { ofOwner(owner); });
  }

private:
  void ofOwner(Value owner) {
    if (addsAside(op))
      copyRows(owner, table, element, sums, sumElement);
    const int64_t step = kWarp * kHeads;
    emit.loop(emit.i64(0), emit.i64(shares.places()), step, headsAt(emit.i64(0)),
              [&](Value begin, ValueRange carried) {
                Value next = headsAt(emit.min(emit.add(begin, step), emit.i64(shares.places() - step)));
                look(owner, begin, carried[0]);
                return SmallVector<Value>{next};
              });
    if (addsAside(op))
      copyRows(owner, sums, sumElement, table, element);
  }

  Value headsAt(Value begin) {
    return emit.load({heads, headType, emit.add(begin, emit.mul(lane, kHeads))}, kHeads);
  }

  /// Each thread looks at kHeads places; then all add what those name that the owner has.
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

/// What the launches move, and the longest chains of accesses to memory in them.
struct ScatterCost {
  int64_t piecesMove, ownersMove, piecesChain, ownersChain;
};

} // namespace

/// An update is read in one of the launches, and counted in the first. Sums are of two updates at least, so
/// there are half as many as ids at most. Of neighbouring ids of a warp, no more are taken to be equal than
/// it asks for at a time. A warp looks at all heads, asking for the next while it adds; additions to one row
/// wait for one another, of which each piece has one, and a warp has its share of all heads besides.
static ScatterCost costOf(nn::ScatterAddOp op, const Shares &shares) {
  const int64_t table = elementBytes(getElementTypeOrSelf(op.getTable())),
                sum = elementBytes(nn::wideElement(getElementTypeOrSelf(op.getTable())));
  const int64_t heads = shares.places() * elementBytes(shares.head(op.getContext())),
                sums = shares.ids * shares.width * sum / 2;
  return {.piecesMove =
              tensorBytes(op.getIds().getType()) + tensorBytes(op.getUpdates().getType()) + heads + sums,
          .ownersMove = heads + sums + 2 * op.touchedElements() * sum +
                        (addsAside(op) ? 2 * elementCount(op.getTable()) * (table + sum) : 0),
          .piecesChain = kPiece / kWarp * 2, // ids, then updates
          .ownersChain = int64_t(llvm::divideCeil(shares.places(), kWarp * kHeads)) +
                         shares.places() / kPiece + int64_t(llvm::divideCeil(shares.ids, shares.owners))};
}

static int64_t blocksOf(int64_t warps) { return int64_t(llvm::divideCeil(warps, kWarps)); }

KernelSummary trainc::codegen::cuda::summariseScatter(nn::ScatterAddOp op) {
  const Shares shares(op);
  const ScatterCost cost = costOf(op, shares);
  Type head = shares.head(op.getContext()), sum = nn::wideElement(getElementTypeOrSelf(op.getTable()));
  KernelSummary kernels;
  kernels.scratchBytes = {shares.places() * elementBytes(head),
                          shares.ids * shares.width * elementBytes(sum)};
  if (addsAside(op))
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
  if (addsAside(op))
    owners.params.push_back(scratchParam(kernels, kWideTable, plan::Access::write, sum));
  kernels.launches.push_back(std::move(owners));
  return kernels;
}

Symbols trainc::codegen::cuda::generateScatter(nn::ScatterAddOp op, KernelModule &kernels) {
  const KernelSummary summary = summariseScatter(op);
  return {PieceEmitter(op, kernels, summary.launches[0]).run(),
          OwnerEmitter(op, kernels, summary.launches[1]).run()};
}
