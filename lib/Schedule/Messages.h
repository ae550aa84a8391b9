// Messages: collectives of an entry that are sent together.
#pragma once

#include "lib/Analysis/Overlap.h"

#include "mlir/IR/Block.h"

namespace trainc {

/// Returns the block's messages in the order of their first starts.
llvm::SmallVector<Message> messagesOf(mlir::Block &block);

/// Returns the first op of the block that reads `value` or an alias of it; null if there is none.
mlir::Operation *firstRead(mlir::Value value);

/// Returns the last such op; null if there is none.
mlir::Operation *lastRead(mlir::Value value);

/// Returns the number of elements of the whole tensor over all ranks.
int64_t elementsOf(CollectiveOpInterface start);

/// Returns the state of the parameters that are gathered (for reading, or after an update), or whose
/// gradients are summed; null if the collective moves something else.
train::StateOp movedState(CollectiveOpInterface start);

/// Returns the last computing op that `value` depends on, directly or through collectives; null if there is
/// none.
mlir::Operation *known(mlir::Value value);

/// Returns the first computing op that reads `value`, directly or through collectives.
mlir::Operation *need(mlir::Value value);

/// Whether the op computes, i.e. takes time on the compute stream.
bool computes(mlir::Operation *op);

/// Returns the collectives that `value` depends on without a computing op in between, last ones first.
llvm::SetVector<mlir::Operation *> sourceStarts(mlir::Value value);

/// Return the earlier or later of two ops of a block, each of which may be null.
mlir::Operation *earlier(mlir::Operation *a, mlir::Operation *b);
mlir::Operation *later(mlir::Operation *a, mlir::Operation *b);

/// Moves writes of collectives' results, and ops whose results are only written (such as sums of gradients
/// over micro-batches), to the end of the block or before the next access of the states. Thus they do not
/// delay other collectives.
void sinkStores(mlir::Block &block);

/// Moves the ops that sinkStores() moves to right after their operands are known, because the operands occupy
/// memory until then.
void raiseStores(mlir::Block &block);

} // namespace trainc
