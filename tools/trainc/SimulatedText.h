// Output of a simulation, for people and for programs.
#pragma once

#include "plan/simulate/simulation.h"

#include <string>

namespace trainc {

/// The step, its memory, streams and entries, and the `rows` costliest instructions.
std::string simulatedText(const fb::Plan &plan, const Cluster &cluster, const Simulation &step,
                          uint32_t rows);

/// All results; docs/how-to/simulate-a-cluster.md lists the keys.
std::string simulatedJson(const fb::Plan &plan, const Cluster &cluster, const Simulation &step);

} // namespace trainc
