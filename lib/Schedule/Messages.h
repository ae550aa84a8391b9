// Collectives of an entry as messages: those that go together.
#pragma once

#include "lib/Analysis/Overlap.h"

#include "mlir/IR/Block.h"

namespace trainc {

/// The block's messages, in the order of their first starts.
llvm::SmallVector<Message> messagesOf(mlir::Block &block);

/// The first op of the block that reads `value` or a value that has its bytes; null if none does.
mlir::Operation *firstRead(mlir::Value value);

/// The last such op; null if none does.
mlir::Operation *lastRead(mlir::Value value);

/// Of the tensor that ranks have or make together.
int64_t elementsOf(CollectiveOpInterface start);

/// The parameters that are gathered, updated (gathered to be written), or whose gradients are summed; null
/// where it is something else.
train::StateOp movedState(CollectiveOpInterface start);

/// The computing op behind which `value` can be read, were there no time between collectives' starts and
/// ends; null at the beginning.
mlir::Operation *known(mlir::Value value);

/// The first computing op that cannot come before `value`: its reader, or that of what collectives make of
/// it.
mlir::Operation *need(mlir::Value value);

/// Whether the op computes: it has a place of its own in time.
bool computes(mlir::Operation *op);

/// The collectives that `value` comes from with no computing op between, those first that begin last.
llvm::SetVector<mlir::Operation *> startsBehind(mlir::Value value);

/// Of two ops of a block, or none.
mlir::Operation *earlier(mlir::Operation *a, mlir::Operation *b);
mlir::Operation *later(mlir::Operation *a, mlir::Operation *b);

/// Moves to the end of the block, or to before the next access of the states, the writes of what collectives
/// bring, and ops like the sums of gradients over micro-batches whose results are only written: so nothing
/// is needed before another collective can begin.
void sinkStores(mlir::Block &block);

/// Moves such ops and their writes up to where all that they read is there: it takes memory until then.
void raiseStores(mlir::Block &block);

} // namespace trainc
