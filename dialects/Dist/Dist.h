// The dist dialect: collectives as start/wait pairs, and flat tensors that concatenate others.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Interfaces/Axes.h"
#include "dialects/Interfaces/Interfaces.h"
#include "plan/facts/mesh.h"

#include "dialects/Dist/DistDialect.h.inc"

namespace trainc::dist {
/// Side-effect resource written by the start and the wait of a collective.
struct Communication : mlir::SideEffects::Resource::Base<Communication> {
  llvm::StringRef getName() final { return "communication"; }
};
} // namespace trainc::dist

namespace trainc::dist {
/// Extent of a collective's tensor that a rank holds.
enum class Held : uint8_t { whole, shard };

/// Verifies that a start has one use, a dist.wait, and that the mesh has its axes, along which shards are
/// equal.
llvm::LogicalResult verifyStart(CollectiveOpInterface start, Held source, Held result);

/// Axes along which this compiler's own sharding divides ranks: copies of a model, and shards of its states.
inline constexpr llvm::StringLiteral kReplicaAxis = "replica", kShardAxis = "shard";

/// Returns the module's mesh; one rank if it has none.
Mesh meshOf(mlir::ModuleOp module);
/// Returns the axes of the mesh; none if a name is unknown, or if they are not adjacent and in order.
std::optional<Axes> findAxes(const Mesh &mesh, mlir::ArrayAttr names);
/// Returns the shape of the groups along axes that findAxes() finds.
RankGroupShape shapeOf(const Mesh &mesh, mlir::ArrayAttr names);
/// Returns the names of the mesh's axes.
mlir::ArrayAttr namesOf(const Mesh &mesh, mlir::MLIRContext *context);
} // namespace trainc::dist

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttributes.h.inc"

namespace trainc::dist {
/// Discardable attribute of states and inputs.
inline constexpr llvm::StringLiteral kPlacementAttr = "dist.placement";

/// Returns the placement of a state or an input; null if it has none.
PlacementAttr placementOf(mlir::Operation *op);
/// Whether a state is sharded along dimension 0.
bool isSharded(mlir::Operation *state);
/// Shards a state along dimension 0 over the axis kShardAxis.
void shardState(mlir::Operation *state);
} // namespace trainc::dist

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.h.inc"
