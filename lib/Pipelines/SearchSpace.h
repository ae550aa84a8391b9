// Search spaces of a program: its open settings.
#pragma once

#include "lib/Planner/Space.h"

#include "dialects/Train/Train.h"

namespace trainc {

/// Returns the dimensions of a program (phase `model`) but recomputation.
SearchSpace spaceOf(train::ProgramOp program);

/// Whether recomputation is open.
bool mayRecompute(train::ProgramOp program);

/// Fills the dimension of recomputation: with `blocks`, which are checkpointLevels(), if it is open, else
/// with one level without settings. Settings that were given are removed.
void addLevels(train::ProgramOp program, const std::vector<Settings> &blocks, SearchSpace &space);

/// Returns what `trainc estimate` compares: every combination of ZeRO stage, offloading (nothing, optimizer
/// states, all states, or activations) and activation checkpointing that the program leaves open. The order
/// is fixed: by stage, then by offloading, then from the least to the most recomputation.
std::vector<Settings> strategiesToCompare(train::ProgramOp program);

/// Whether the module's program shards parameters, and leaves open how long they stay gathered.
bool mayKeepGathered(mlir::ModuleOp module);
/// Whether the module's program shards parameters, and leaves open whether they are gathered ahead.
bool mayGatherAhead(mlir::ModuleOp module);

} // namespace trainc
