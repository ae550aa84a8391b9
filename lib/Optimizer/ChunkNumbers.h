// Numbers of the chunks of 256 elements in which random numbers are drawn for flat states.
#pragma once

#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// The state of role `chunks` with the number of each chunk of the parameters' flat state `flat`, i64; it is
/// declared on first use, and made by the entry `refresh`. Chunks are numbered through all trained parameters
/// in the order of their names. So a number depends neither on how parameters are put together nor on ranks.
train::StateOp declareChunks(StepSymbols &symbols, train::StateOp flat);

} // namespace trainc
