// Checks of an expanded model against the config.json that it exports, and for likely slips.
#pragma once

#include "lib/Instantiate/Binding.h"
#include "lib/Instantiate/Forward.h"

namespace trainc {

/// Verifies that an exported config.json agrees with the model, for each key of Hugging Face whose value the
/// model shows. `forward` is the forward in `entry`. Reports an error at the model or program that exports.
llvm::LogicalResult checkExportedConfig(const Binding &binding, train::EntryOp entry, const Forward &forward);

/// Warns about columns that the model does not read, and about attention whose heads nn.rope rotates as
/// another number of heads.
void warnOfSlips(const Binding &binding, train::EntryOp entry);

} // namespace trainc
