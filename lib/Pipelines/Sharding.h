// Options of sharding, brought to the program that passes read.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Pipelines/CompileOptions.h"

namespace trainc {

/// Sets what `options` say in the program's `sharding`; the rest of it stays. Fails, with an error at the
/// program, on values that the attribute refuses.
mlir::LogicalResult applySharding(train::ProgramOp program, const ShardingOptions &options);

/// Warns of options that were given, and that do nothing on one rank: `given` is what the command line said.
/// Words in the file may be there for more ranks.
void warnOfIdleOptions(train::ProgramOp program, const CompileOptions &given);

} // namespace trainc
