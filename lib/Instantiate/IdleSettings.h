// Warnings about given settings that have no effect in a program.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// Warns about each setting without effect. Must run before zero_stage is reset on one rank (Binding.cpp).
void warnOfIdleSettings(train::ProgramOp program);

} // namespace trainc
