// Collectives as pairs of start and wait.
#pragma once

#include "dialects/Dist/Dist.h"

#include "mlir/IR/Builders.h"

namespace trainc {

/// The sum of `value` over the ranks: starts as soon as the value is known, waits at `builder`'s place.
mlir::Value createAllReduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            dist::Group group = dist::Group::all);

/// The parts of the ranks of a shard group side by side, of type `whole`; likewise.
mlir::Value createAllGather(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type whole, mlir::Value part);

} // namespace trainc
