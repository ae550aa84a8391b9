// Collectives as pairs of start and wait.
#pragma once

#include "dialects/Dist/Dist.h"

#include "mlir/IR/Builders.h"

namespace trainc {

/// The sum of `value` over the ranks: starts as soon as the value is known, waits at `builder`'s place. `of`:
/// the parameters' state whose gradient it is, or null.
mlir::Value createAllReduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, RankGroup group,
                            mlir::FlatSymbolRefAttr of);

/// The parts of the ranks of a shard group side by side, of type `whole`; likewise.
mlir::Value createAllGather(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type whole, mlir::Value part);

} // namespace trainc
