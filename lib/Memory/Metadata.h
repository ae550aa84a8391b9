// Parts of a plan other than instructions: states, scalars, training, generation and exported files.
#pragma once

#include "lib/Memory/Storage.h"

namespace trainc {

/// Builds plan.state and plan.scalar for every train.state, plan.training from the train.program,
/// plan.generation if there is a `logits` state, and plan.export for the program's exports. `buffers` names
/// the buffer of each storage.
mlir::LogicalResult emitMetadata(mlir::OpBuilder &builder, mlir::ModuleOp module,
                                 const StorageTable &storages,
                                 llvm::ArrayRef<mlir::FlatSymbolRefAttr> buffers);

} // namespace trainc
