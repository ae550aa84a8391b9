// Reductions over the threads of a block: shuffles in a warp, then the block's memory.
#include "lib/Codegen/Kernels/Threads.h"

#include "lib/Codegen/Kernels/Reductions.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

// --- In a warp ---

/// Shuffles 32-bit values. `number` is the other thread's number, or the bits in which it differs.
static Value shuffled(Emitter &emit, Value value, Value number, NVVM::ShflKind kind) {
  OpBuilder &builder = emit.builder;
  Type type = value.getType(), i32 = builder.getI32Type();
  auto i32Constant = [&](int64_t bits) -> Value {
    return arith::ConstantOp::create(builder, emit.loc, builder.getI32IntegerAttr(int32_t(bits)));
  };
  Value which = arith::TruncIOp::create(builder, emit.loc, i32, number);
  auto shuffle = [&](Value bits) -> Value {
    return NVVM::ShflOp::create(builder, emit.loc, i32, i32Constant(0xffffffff), bits, which,
                                i32Constant(kWarp - 1), kind, UnitAttr());
  };
  Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value whole = type == bits ? value : arith::BitcastOp::create(builder, emit.loc, bits, value).getResult();
  if (bits == i32) {
    whole = shuffle(whole);
  } else {
    auto half = [&](Value wide) { return shuffle(arith::TruncIOp::create(builder, emit.loc, i32, wide)); };
    Value low = half(whole), high = half(emit.divide(whole, int64_t(1) << 32));
    auto widened = [&](Value narrow) -> Value {
      return arith::ExtUIOp::create(builder, emit.loc, bits, narrow);
    };
    whole = arith::OrIOp::create(builder, emit.loc, widened(low), emit.mul(widened(high), int64_t(1) << 32));
  }
  return type == bits ? whole : arith::BitcastOp::create(builder, emit.loc, type, whole).getResult();
}

Value trainc::codegen::fromNeighbour(Emitter &emit, Value value, int64_t distance) {
  return shuffled(emit, value, emit.i64(distance), NVVM::ShflKind::bfly);
}

Value trainc::codegen::fromLane(Emitter &emit, Value value, Value lane) {
  return shuffled(emit, value, lane, NVVM::ShflKind::idx);
}

/// Only operands are swapped between threads, so that all get the same bits.
Value trainc::codegen::reduceOverLanes(Emitter &emit, nn::ReduceKind kind, Value value, int64_t lanes) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(emit, kind, value, fromNeighbour(emit, value, distance));
  return value;
}

// --- In a block ---

ThreadReduction::ThreadReduction(KernelFunction &function, int64_t count, int64_t threads)
    : function(function), emit(function.emit()), threads(threads) {
  if (threads > kWarp)
    for (int64_t i = 0; i < count; ++i)
      slots.push_back(function.blockArray(emit.builder.getI64Type(), threads / kWarp));
}

SmallVector<Value> ThreadReduction::over(ArrayRef<nn::ReduceKind> kinds, ValueRange values) {
  SmallVector<Value> results;
  for (auto [kind, value] : llvm::zip_equal(kinds, values))
    results.push_back(reduceOverLanes(emit, kind, value, std::min(threads, kWarp)));
  if (threads <= kWarp)
    return results;
  const int64_t warps = threads / kWarp;
  Value lane = emit.remainder(function.thread(), kWarp), warp = emit.divide(function.thread(), kWarp);
  Value isFirst = arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, lane, emit.i64(0));
  emit.when(isFirst, [&] {
    for (auto [slot, result] : llvm::zip(slots, results))
      emit.store(result, {slot, result.getType(), warp});
  });
  function.barrier();
  for (auto [slot, kind, result] : llvm::zip(slots, kinds, results))
    result =
        reduceOverLanes(emit, kind, emit.load({slot, result.getType(), emit.remainder(lane, warps)}), warps);
  function.barrier(); // before the next reduction's stores
  return results;
}
