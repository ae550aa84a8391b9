// Conversion of an entry on values to a plan.entry on addresses.
#pragma once

#include "lib/Memory/Assignment.h"

namespace trainc {

/// Builds the plan.entry for `entry` at the builder's position. `buffers` names the plan.buffer of each
/// storage. Fails with an error at an op whose kernel is missing.
mlir::LogicalResult emitEntry(mlir::OpBuilder &builder, train::EntryOp entry, const Assignment &assignment,
                              llvm::ArrayRef<mlir::FlatSymbolRefAttr> buffers);

} // namespace trainc
