// Bytes that ops move between kernels: what fusion saves.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

#include <cstdint>

namespace trainc {

/// Bytes that an op reads and writes: its operands and results, once each. Of a gather's table only the rows
/// that are picked count. Views and accesses of states move nothing, a loop over chunks what its body moves,
/// times its count.
int64_t trafficOf(mlir::Operation *op);

/// Sum of trafficOf over a block.
int64_t trafficOf(mlir::Block &block);

} // namespace trainc
