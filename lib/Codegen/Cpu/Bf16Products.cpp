// Products of bf16 numbers: packing and micro-kernel of each level.
#include "lib/Codegen/Cpu/FmaProducts.h"
#include "lib/Codegen/Cpu/TilePacking.h"
#include "lib/Codegen/Cpu/TileProducts.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

/// Packs pairs of consecutive terms for the matrix unit: one tile for each step of a panel of 16 lanes.
class PairPacking : public TilePacking {
public:
  PairPacking(Emitter &emit, func::FuncOp function, Side side, LaneOrder order, const ProductSizes &sizes)
      : TilePacking(emit, function, emit.builder.getI16Type(), side, order), sizes(sizes) {}

private:
  Value offset(Value lane, Value term) override {
    Value step = emit.mul(emit.divide(term, kStepTerms), kTileBytes);
    return emit.add(emit.mul(lane, sizes.laneStride()), step);
  }

  void packBlock(Value tile, Value lane, Value term, Inside inside) override {
    for (auto [row, words] : llvm::enumerate(square(lane, term, inside)))
      emit.store(words, {tile, integers().getElementType(), emit.i64(int64_t(row) * kUnitRows)});
  }

  Value words(Value lane, Value term, int64_t i, Inside inside) override {
    if (order == LaneOrder::Strided)
      return vector::BitCastOp::create(emit.builder, emit.loc, integers(),
                                       loadTerms(lane, i, term, kStepTerms, inside));
    auto widened = [&](int64_t later) -> Value {
      return arith::ExtUIOp::create(emit.builder, emit.loc, integers(),
                                    loadLanes(lane, term, 2 * i + later, inside));
    };
    Value lower = widened(0), upper = widened(1);
    upper = arith::ShLIOp::create(emit.builder, emit.loc, upper, emit.constant(integers(), 16));
    return arith::OrIOp::create(emit.builder, emit.loc, lower, upper);
  }

  const ProductSizes &sizes;
};

/// Creates the functions of a scheme, with a variant for each level.
class Variants {
public:
  Variants(KernelModule &kernels, const ProductSizes &sizes)
      : kernels(kernels), sizes(sizes), among(levels(kernels)) {}

  func::FuncOp pack(Side side, LaneOrder order) {
    const std::string name = fma::packName(element, side, order);
    return make(name, argumentTypes(kernels.getContext(), 2, 3),
                [&](Emitter &emit, func::FuncOp function, const Level &level) {
                  if (isOnUnit(level))
                    return PairPacking(emit, function, side, order, sizes).run();
                  const int64_t width = side == Side::A ? fma::kPanelRows : level.registerColumns;
                  fma::pack(emit, function, factors(level), order, width, sizes);
                });
  }

  func::FuncOp multiply() {
    const TileProducts one = {.pieces = {{0, 0}},
                              .pieceBytes = 0,
                              .halfBytes = sizes.panelStride(kUnitRows),
                              .stepBytes = kTileBytes};
    return make(typedName("gemm_micro_kernel", element), argumentTypes(kernels.getContext(), 5, 7),
                [&](Emitter &emit, func::FuncOp function, const Level &level) {
                  if (isOnUnit(level))
                    return multiplyTiles(emit, function, one, sizes);
                  fma::multiply(emit, function, factors(level), level, sizes);
                });
  }

  /// Returns null if no level has a matrix unit.
  func::FuncOp forUnit(StringRef name, void (MatrixUnit::*what)()) {
    if (llvm::none_of(among, isOnUnit))
      return {};
    return make(name, {}, [&](Emitter &emit, func::FuncOp, const Level &level) {
      if (isOnUnit(level))
        (MatrixUnit(emit).*what)();
    });
  }

private:
  static bool isOnUnit(const Level &level) { return level.bf16Products == Bf16Products::MatrixUnit; }

  fma::Factors factors(const Level &level) const {
    return {.element = element, .pairs = level.bf16Products == Bf16Products::Pairs};
  }

  func::FuncOp make(StringRef name, TypeRange inputs,
                    llvm::function_ref<void(Emitter &, func::FuncOp, const Level &)> body) {
    return functionWithVariants(kernels, name, inputs, among,
                                [&](OpBuilder &builder, func::FuncOp function, const Level &level) {
                                  Emitter emit(builder);
                                  body(emit, function, level);
                                });
  }

  KernelModule &kernels;
  const ProductSizes &sizes;
  const std::vector<Level> among;
  const Type element = BFloat16Type::get(kernels.getContext());
};

} // namespace

/// A call of the micro-kernel computes two rows of matrix tiles of any number of columns. Other levels
/// process panel by panel.
ProductSizes trainc::codegen::bf16Sizes() {
  ProductSizes sizes = fma::sizes(sizeof(float));
  sizes.callRows = 2 * kUnitRows;
  sizes.callColumns = sizes.tileColumns;
  return sizes;
}

ProductScheme trainc::codegen::bf16Products(KernelModule &kernels, LaneOrder a, LaneOrder b) {
  addBf16Products(kernels);
  ProductScheme scheme{bf16Sizes()};
  Variants variants(kernels, scheme);
  scheme.packA = variants.pack(Side::A, a);
  scheme.packB = variants.pack(Side::B, b);
  scheme.multiply = variants.multiply();
  scheme.begin = variants.forUnit("gemm_begin_bf16", &MatrixUnit::configure);
  scheme.end = variants.forUnit("gemm_end_bf16", &MatrixUnit::release);
  return scheme;
}
