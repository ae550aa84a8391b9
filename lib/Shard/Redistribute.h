// Changes of placements, as collectives.
#pragma once

#include "dialects/Dist/Dist.h"

namespace trainc {

/// Creates a gather of the ranks' parts along the axes, one after the other along dimension 0. It starts
/// right after the part is defined and waits at the builder's position.
mlir::Value createAllGather(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value part,
                            mlir::ArrayAttr axes);

/// Changes the placement of `value` from `from` to `to`, and returns the value as each rank then holds it.
/// Collectives start right after their operand is defined and wait at the builder's position. Along each axis
/// the change is one of these:
///
///   own, partial -> replicated   all-reduce
///   own, partial -> sharded      reduce-scatter
///   sharded -> replicated        all-gather
///   replicated -> sharded        this rank's part
///
/// Values are sharded along dimension 0. Sums have the bits of one sum over all axes along which they are
/// taken. `of` is the parameter state if `value` is its gradient, else null.
mlir::Value redistribute(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         dist::PlacementAttr from, dist::PlacementAttr to, mlir::FlatSymbolRefAttr of = {});

} // namespace trainc
