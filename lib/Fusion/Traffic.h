// Bytes that ops move from and to memory, which fusion reduces.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

#include <cstdint>

namespace trainc {

/// Returns the bytes of an op's operands and results, once each. Only the gathered rows of a table count.
/// Views and accesses of states move nothing; a loop over chunks moves its body's bytes times its count.
int64_t trafficOf(mlir::Operation *op);

/// Returns the sum of trafficOf over a block.
int64_t trafficOf(mlir::Block &block);

} // namespace trainc
