// The micro-kernel that multiplies panels of bf16 pieces on the matrix unit.
#include "lib/Codegen/Cpu/MatrixUnit.h"
#include "lib/Codegen/Cpu/SplitProducts.h"

using namespace mlir;
using namespace trainc::codegen;
using namespace trainc::codegen::split;

namespace {

/// Two by two tiles of sums (0 to 3), two of A and two of B.
class SplitMicroKernel {
public:
  SplitMicroKernel(Emitter &emit, func::FuncOp function)
      : emit(emit), unit(emit), element(emit.builder.getF32Type()), a(function.getArgument(0)),
        b(function.getArgument(1)), c(function.getArgument(2)), depth(function.getArgument(3)),
        stride(function.getArgument(4)), validRows(function.getArgument(5)),
        validColumns(function.getArgument(6)), adds(function.getArgument(7)) {}

  void run() {
    Value edge = emit.stackArray(element, kLanes * kLanes);
    Value isEdge = emit.less(emit.min(validRows, validColumns), emit.i64(kLanes));
    Value addsToEdge = arith::AndIOp::create(emit.builder, emit.loc, isEdge, emit.less(emit.i64(0), adds));
    Value to = select(isEdge, edge, c), toStride = select(isEdge, emit.i64(kLanes), stride);
    emit.when(addsToEdge, [&] { copyValid(c, stride, edge, emit.i64(kLanes)); });
    sum(to, emit.mul(toStride, 4));
    emit.when(isEdge, [&] { copyValid(edge, emit.i64(kLanes), c, stride); });
  }

private:
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(emit.builder, emit.loc, condition, ifTrue, ifFalse);
  }

  Value bytes(Value base, Value count) { return emit.pointer(base, emit.builder.getI8Type(), count); }

  /// to +=, or =, the product; `rowBytes` from row to row.
  void sum(Value to, Value rowBytes) {
    auto forSums = [&](llvm::function_ref<void(int64_t, Value)> body) {
      for (int64_t tile = 0; tile < 4; ++tile)
        body(tile, bytes(to, emit.add(emit.mul(rowBytes, tile / 2 * kUnitRows), tile % 2 * kUnitRows * 4)));
    };
    emit.when(emit.less(emit.i64(0), adds),
              [&] { forSums([&](int64_t tile, Value at) { unit.load(tile, at, rowBytes); }); });
    emit.when(emit.less(adds, emit.i64(1)), [&] { forSums([&](int64_t tile, Value) { unit.zero(tile); }); });
    Value steps = emit.divide(emit.add(depth, kStepTerms - 1), kStepTerms);
    emit.loop(emit.i64(0), steps, 1, [&](Value step) {
      Value offset = emit.mul(step, kStepBytes);
      addStep(bytes(a, offset), bytes(b, offset));
    });
    forSums([&](int64_t tile, Value at) { unit.store(tile, at, rowBytes); });
  }

  /// The six products of pieces above 2^-24 of the whole, in an order in which each changes one side only. A
  /// register takes the next piece right after its last use, while the other half multiplies.
  void addStep(Value fromA, Value fromB) {
    constexpr std::array<std::pair<int, int>, 6> kProducts{{{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}};
    for (int half = 0; half < 2; ++half) {
      load(kTilesA, fromA, kProducts[0].first, half);
      load(kTilesB, fromB, kProducts[0].second, half);
    }
    for (size_t i = 0; i < kProducts.size(); ++i) {
      const auto [nextA, nextB] = kProducts[std::min(i + 1, kProducts.size() - 1)];
      for (int half = 0; half < 2; ++half)
        if (nextB != kProducts[i].second) {
          multiply(0, half);
          multiply(1, half);
          load(kTilesB, fromB, nextB, half);
        } else {
          multiply(half, 0);
          multiply(half, 1);
          if (nextA != kProducts[i].first)
            load(kTilesA, fromA, nextA, half);
        }
    }
  }

  void multiply(int row, int column) { unit.multiplyAdd(2 * row + column, kTilesA + row, kTilesB + column); }

  void load(int64_t tiles, Value from, int64_t piece, int64_t half) {
    unit.load(tiles + half, bytes(from, emit.i64(piece * kPieceBytes + half * kTileBytes)),
              emit.i64(kTileBytes / kUnitRows));
  }

  void copyValid(Value from, Value fromStride, Value to, Value toStride) {
    emit.loop(emit.i64(0), emit.min(validRows, emit.i64(kLanes)), 1, [&](Value row) {
      for (int64_t column = 0; column < kLanes; column += kUnitRows) {
        Mask mask = emit.lanesBelow(emit.sub(validColumns, emit.i64(column)), kUnitRows);
        Value lanes =
            emit.load({from, element, emit.add(emit.mul(row, fromStride), column)}, kUnitRows, mask);
        emit.store(lanes, {to, element, emit.add(emit.mul(row, toStride), column)}, mask);
      }
    });
  }

  static constexpr int64_t kTilesA = 4, kTilesB = 6;

  Emitter &emit;
  MatrixUnit unit;
  Type element;
  Value a, b, c, depth, stride, validRows, validColumns, adds;
};

} // namespace

func::FuncOp split::microKernel(KernelModule &kernels) {
  return internalFunction(
      kernels, "gemm_split_micro_kernel", argumentTypes(kernels.getContext(), 3, 5),
      [](Emitter &emit, func::FuncOp function) { SplitMicroKernel(emit, function).run(); });
}

ProductSizes trainc::codegen::splitSizes() {
  return {.panelRows = kLanes,
          .panelColumns = kLanes,
          .depthBlock = kDepthBlock,
          .tileRows = 384,
          .tileColumns = 512,
          .packedBytes = 2 * kPieces,
          .onMatrixUnit = true};
}

ProductScheme trainc::codegen::splitProducts(KernelModule &kernels, LaneOrder a, LaneOrder b) {
  ProductScheme scheme{splitSizes()};
  scheme.packA = packPanels(kernels, Side::A, a, scheme.panelStride(kLanes));
  scheme.packB = packPanels(kernels, Side::B, b, scheme.panelStride(kLanes));
  scheme.multiply = microKernel(kernels);
  return scheme;
}
