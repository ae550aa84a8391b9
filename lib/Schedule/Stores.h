// What an entry does with what collectives bring but to write it into states: it has time until they are
// read.
#pragma once

#include "mlir/IR/Block.h"

namespace trainc {

/// Moves to the end of the block, or to before the next access of the states, the writes of what collectives
/// bring, and ops like the sums of gradients over micro-batches whose results are only written: so nothing
/// is needed before another collective can begin.
void sinkStores(mlir::Block &block);

/// Moves such ops and their writes up to where all that they read is there: it takes memory until then.
void raiseStores(mlir::Block &block);

} // namespace trainc
