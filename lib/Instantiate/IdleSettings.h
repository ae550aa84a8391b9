// Warnings about given settings that have no effect in a program.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// Warns about each setting without effect. Must run while zero_stage is as given; on one rank, Binding.cpp
/// resets it.
void warnOfIdleSettings(train::ProgramOp program);

} // namespace trainc
