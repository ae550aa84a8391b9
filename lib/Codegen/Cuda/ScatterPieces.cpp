// First launch of nn.scatter_add: sums the updates of equal ids within a piece.
#include "lib/Codegen/Cuda/ScatterEmitter.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::cuda::scatter;

/// Number of updates that a warp loads before it adds them.
static constexpr int64_t kAhead = 4;

namespace {

/// A warp for each position of an id and each strip.
class PieceEmitter : ScatterEmitter {
public:
  using ScatterEmitter::ScatterEmitter;

  std::string run() {
    ids = function.operand(op.getIdsMutable().getOperandNumber());
    return ofWarps(shares.places(), [&](Value place) { ofPlace(place); });
  }

private:
  /// Returns the row of an id, in the ids' type; -1 for ids out of range and past the end.
  Value rowAt(Value place) {
    Type type = getElementTypeOrSelf(op.getIds());
    Value id = emit.load({ids, type, emit.min(place, emit.i64(shares.ids - 1))});
    const int64_t maximum = std::min(shares.tableRows - 1, llvm::maxIntN(type.getIntOrFloatBitWidth()));
    Value bound =
        arith::ConstantOp::create(emit.builder, emit.loc, emit.builder.getIntegerAttr(type, maximum));
    Value isRow = compare(arith::CmpIPredicate::ule, id, bound);
    if (shares.ids != shares.places())
      isRow = both(isRow, emit.less(place, emit.i64(shares.ids)));
    return select(isRow, id, emit.constant(type, -1));
  }

  /// Returns a bit, i32, for each of this thread's positions of the piece (lane, lane + 32, ...): whether its
  /// id selects `row`. One register holds all bits.
  Value sameOfThread(Value begin, Value row) {
    static_assert(kPiece / kWarp < 32);
    Value bits = emit.constant(i32, 0);
    for (int64_t i = 0; i < kPiece / kWarp; ++i) {
      Value isSame =
          compare(arith::CmpIPredicate::eq, rowAt(emit.add(emit.add(begin, i * kWarp), lane)), row);
      Value bit = emit.constant(i32, double(1 << i));
      bits = select(isSame, either(bits, bit), bits);
    }
    return bits;
  }

  /// Returns a mask of the lowest `count` bits, i32; `count` is below 32.
  Value bitsBelow(Value count) {
    Value bit = arith::ShLIOp::create(emit.builder, emit.loc, emit.constant(i32, 1), resized(count, 32));
    return emit.sub(bit, emit.constant(i32, 1));
  }
  Value without(Value bits, Value others) {
    return both(bits, arith::XOrIOp::create(emit.builder, emit.loc, others, emit.constant(i32, -1)));
  }

  void ofPlace(Value place) {
    Value row = rowAt(place), begin = emit.mul(emit.divide(place, kPiece), kPiece);
    Value same = sameOfThread(begin, row);
    // Number of this thread's positions (lane, lane + 32, ...) of the piece before this position, and up to
    // it.
    Value ahead = emit.add(emit.sub(emit.sub(place, begin), lane), kWarp - 1);
    Value before = bitsBelow(emit.divide(ahead, kWarp)),
          upTo = bitsBelow(emit.divide(emit.add(ahead, 1), kWarp));
    Value hasSum = isNot(ballot(isNot(without(same, upTo), 0)), 0);
    Value isNone = either(isNegative(row), isNot(ballot(isNot(both(same, before), 0)), 0));
    Value twice = emit.mul(resized(row, headType.getIntOrFloatBitWidth()), 2);
    Value head = emit.add(twice, arith::ExtUIOp::create(emit.builder, emit.loc, headType, hasSum));
    Value writes = compare(arith::CmpIPredicate::eq, emit.add(strip, lane), emit.i64(0));
    emit.when(writes, [&] {
      emit.store(select(isNone, emit.constant(headType, -1), head), {heads, headType, place});
    });
    emit.when(select(isNone, emit.constant(emit.builder.getI1Type(), 0), hasSum),
              [&] { addUp(place, row, emit.add(begin, kPiece)); });
  }

  /// Sums the updates of `place` and of later positions up to `end` with the same id, in order. Threads
  /// without columns repeat the last ones.
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

} // namespace

std::string trainc::codegen::cuda::scatter::generatePieces(nn::ScatterAddOp op, KernelModule &kernels,
                                                           const LaunchSummary &launch) {
  return PieceEmitter(op, kernels, launch).run();
}
