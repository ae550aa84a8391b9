// Numbers of the 256-element chunks of flat states, which key random numbers.
#pragma once

#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// Returns the state of role `chunks` with the number of each chunk (i64) of the flat parameter state `flat`.
/// The state is declared on first use and computed by the entry `refresh`. Numbers run through all trained
/// parameters in the order of their names, so that they depend neither on the layout of flat states nor on
/// ranks.
train::StateOp declareChunks(StepSymbols &symbols, train::StateOp flat);

} // namespace trainc
