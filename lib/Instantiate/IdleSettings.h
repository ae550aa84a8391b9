// Settings that somebody gave and that do nothing in a program.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// Warns of each. The program has its stage as it was given: on one rank Binding.cpp takes that back.
void warnOfIdleSettings(train::ProgramOp program);

} // namespace trainc
