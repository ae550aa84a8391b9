// Common code of the two launches of nn.scatter_add: distribution of rows and columns, and communication
// between threads of a warp.
#pragma once

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/Threads.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numeric>

namespace trainc::codegen::cuda::scatter {

inline constexpr int64_t kThreads = 128, kWarps = kThreads / kWarp;
/// Number of ids per piece: about the number of pieces of a typical batch, because both pieces and ids of a
/// piece are chains of additions.
inline constexpr int64_t kPiece = 512;
/// Number of warps that fill a GPU. With more, each would read all heads for few rows.
inline constexpr int64_t kEnoughWarps = 4096;

/// Distribution of rows and columns. A thread has `lanes` columns of a strip. A warp has a strip of every row
/// whose number equals its owner's number modulo `owners`.
struct Shares {
  int64_t tableRows, width, ids, lanes, strips, owners;

  explicit Shares(nn::ScatterAddOp op)
      : tableRows(llvm::cast<mlir::RankedTensorType>(op.getTable().getType()).getDimSize(0)),
        width(elementCount(op.getTable()) / tableRows), ids(elementCount(op.getIds())),
        lanes(std::gcd<int64_t, int64_t>(
            width, kAccessBytes / elementBytes(mlir::getElementTypeOrSelf(op.getUpdates())))),
        strips(llvm::divideCeil(width, kWarp * lanes)),
        owners(std::clamp<int64_t>(kEnoughWarps / strips, 1, tableRows)) {}

  int64_t places() const { return llvm::alignTo(ids, kPiece); }
  /// Type of heads, which are 2 row + 1 if a sum was stored.
  mlir::Type head(mlir::MLIRContext *context) const {
    return mlir::IntegerType::get(context, tableRows < 1 << 30 ? 32 : 64);
  }
};

/// Whether a bf16 or f16 table is summed in an f32 scratch buffer, and rounded once.
inline bool sumsInScratch(nn::ScatterAddOp op) {
  mlir::Type element = mlir::getElementTypeOrSelf(op.getTable());
  return nn::wideElement(element) != element;
}

/// Numbers of scratch buffers.
enum Scratch : unsigned { kHeadsOfPlaces, kSumsOfPieces, kWideTable };

/// Common parts of both launches.
class ScatterEmitter {
public:
  ScatterEmitter(nn::ScatterAddOp op, KernelModule &kernels, const LaunchSummary &launch)
      : op(op), shares(op), function(kernels, launch), emit(function.emit()), i32(emit.builder.getI32Type()),
        headType(shares.head(i32.getContext())),
        sumElement(nn::wideElement(mlir::getElementTypeOrSelf(op.getTable()))),
        updates(function.operand(op.getUpdatesMutable().getOperandNumber())),
        heads(function.scratch(kHeadsOfPlaces)), sumsOfPieces(function.scratch(kSumsOfPieces)) {}

protected:
  /// Generates the kernel in which each of `number` times `strips` warps runs `body`.
  std::string ofWarps(int64_t number, llvm::function_ref<void(mlir::Value)> body) {
    function.tiles([&](mlir::Value tile) {
      mlir::Value warp = emit.add(emit.mul(tile, kWarps), emit.divide(function.thread(), kWarp));
      lane = emit.remainder(function.thread(), kWarp);
      strip = emit.remainder(warp, shares.strips);
      column = emit.mul(emit.add(emit.mul(strip, kWarp), lane), shares.lanes);
      hasColumn = emit.less(column, emit.i64(shares.width));
      emit.when(emit.less(warp, emit.i64(number * shares.strips)),
                [&] { body(emit.divide(warp, shares.strips)); });
    });
    return function.finish();
  }

  Address inRow(mlir::Value base, mlir::Type element, mlir::Value row) {
    return {base, element, emit.add(emit.mul(row, shares.width), column)};
  }
  mlir::Value loadUpdate(mlir::Value place) {
    return emit.load(inRow(updates, mlir::getElementTypeOrSelf(op.getUpdates()), place), shares.lanes);
  }

  /// Returns one bit for each thread of the warp, i32.
  mlir::Value ballot(mlir::Value condition) {
    return mlir::NVVM::VoteSyncOp::create(emit.builder, emit.loc, i32, emit.constant(i32, -1), condition,
                                          mlir::NVVM::VoteSyncKind::ballot);
  }
  mlir::Value countOf(mlir::Value bits) {
    return resized(mlir::LLVM::CtPopOp::create(emit.builder, emit.loc, bits), 64);
  }
  /// Returns the number of the lowest set bit, i64; `bits` must not be 0.
  mlir::Value lowest(mlir::Value bits) {
    return resized(
        mlir::LLVM::CountTrailingZerosOp::create(emit.builder, emit.loc, i32, bits, /*is_zero_poison=*/true),
        64);
  }
  mlir::Value withoutLowest(mlir::Value bits) { return both(bits, emit.sub(bits, emit.constant(i32, 1))); }

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(emit.builder, emit.loc, predicate, a, b);
  }
  mlir::Value isNot(mlir::Value bits, int64_t number) {
    return compare(mlir::arith::CmpIPredicate::ne, bits, emit.constant(bits.getType(), double(number)));
  }
  mlir::Value isNegative(mlir::Value number) {
    return compare(mlir::arith::CmpIPredicate::slt, number, emit.constant(number.getType(), 0));
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return mlir::arith::AndIOp::create(emit.builder, emit.loc, a, b);
  }
  mlir::Value either(mlir::Value a, mlir::Value b) {
    return mlir::arith::OrIOp::create(emit.builder, emit.loc, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(emit.builder, emit.loc, condition, a, b);
  }
  /// Converts a signed integer to `bits` bits.
  mlir::Value resized(mlir::Value number, unsigned bits) {
    const unsigned has = number.getType().getIntOrFloatBitWidth();
    mlir::Type type = emit.builder.getIntegerType(bits);
    if (has == bits)
      return number;
    return has < bits ? mlir::arith::ExtSIOp::create(emit.builder, emit.loc, type, number).getResult()
                      : mlir::arith::TruncIOp::create(emit.builder, emit.loc, type, number).getResult();
  }

  nn::ScatterAddOp op;
  Shares shares;
  KernelFunction function;
  Emitter &emit;
  mlir::Type i32, headType, sumElement;
  mlir::Value updates, heads, sumsOfPieces;
  mlir::Value lane, strip, column, hasColumn; ///< of this thread
};

/// Generates the first launch.
std::string generatePieces(nn::ScatterAddOp op, KernelModule &kernels, const LaunchSummary &launch);

} // namespace trainc::codegen::cuda::scatter
