// The counter-based random number generator, on lanes.
#pragma once

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <array>

namespace trainc::nn {

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). Words are kept in i64
/// lanes with a zero upper half, since each round needs the full 64-bit products.
class Philox {
public:
  using Words = std::array<mlir::Value, 4>;

  Philox(mlir::OpBuilder &builder, const LaneContext &lanes) : builder(builder), lanes(lanes) {}

  mlir::Value number(int64_t value) { return lanes.constantInt(builder, builder.getI64Type(), value); }
  mlir::Value low(mlir::Value x) {
    return mlir::arith::AndIOp::create(builder, lanes.loc, x, number(0xFFFFFFFF));
  }
  mlir::Value high(mlir::Value x) { return mlir::arith::ShRUIOp::create(builder, lanes.loc, x, number(32)); }
  mlir::Value exclusiveOr(mlir::Value x, mlir::Value y) {
    return mlir::arith::XOrIOp::create(builder, lanes.loc, x, y);
  }

  Words draw(Words counter, std::array<mlir::Value, 2> key) {
    for (int round = 0; round < 10; ++round) {
      if (round > 0)
        key = {advance(key[0], 0x9E3779B9), advance(key[1], 0xBB67AE85)};
      mlir::Value even = multiply(counter[0], 0xD2511F53), odd = multiply(counter[2], 0xCD9E8D57);
      counter = {exclusiveOr(exclusiveOr(high(odd), counter[1]), key[0]), low(odd),
                 exclusiveOr(exclusiveOr(high(even), counter[3]), key[1]), low(even)};
    }
    return counter;
  }

private:
  mlir::Value multiply(mlir::Value x, int64_t factor) {
    return mlir::arith::MulIOp::create(builder, lanes.loc, x, number(factor));
  }
  /// Returns the next round's key word, modulo 2^32.
  mlir::Value advance(mlir::Value key, int64_t increment) {
    return low(mlir::arith::AddIOp::create(builder, lanes.loc, key, number(increment)));
  }

  mlir::OpBuilder &builder;
  const LaneContext &lanes;
};

} // namespace trainc::nn
