// A checksum of what a model computes.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc {

/// XXH3-64 of the model's ops and of those of all blocks that it uses, as MLIR's generic form prints them:
/// equal for texts that differ in comments, spaces and names of values only. Sizes that the text leaves open
/// count as
/// `?`. Never 0, which stands for an unknown model. Call it before sizes are bound and blocks are expanded.
uint64_t modelChecksum(nn::ModelOp model);

} // namespace trainc
