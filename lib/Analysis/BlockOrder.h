// The order that ops of a block must keep: values before uses, and reads and writes of states.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <utility>

namespace trainc {

/// Pairs of ops of `block` whose order side effects fix, in present order. Reads and writes of a state that a
/// symbol names follow each other; so do all uses of a state's old value and its next write, since the value
/// lies where the write goes. Ops whose effects name no symbol follow each other.
llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> stateOrder(mlir::Block &block);

/// Reorders the block so that values come before their uses and `fixed` pairs keep their order, each op as
/// near as possible to its present place. Present order must not be cyclic.
void sortBlock(mlir::Block &block, llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Operation *>> fixed);

} // namespace trainc
