// What a simulation says, for people and for programs.
#pragma once

#include "runtime/simulate/simulation.h"

#include <string>

namespace trainc {

/// The step, its memory, its streams, its entries and the `rows` costliest instructions.
std::string simulatedText(const fb::Plan &plan, const Cluster &cluster, const Simulation &step,
                          uint32_t rows);

/// All of it, as docs/how-to/simulate-a-cluster.md has it.
std::string simulatedJson(const fb::Plan &plan, const Cluster &cluster, const Simulation &step);

} // namespace trainc
