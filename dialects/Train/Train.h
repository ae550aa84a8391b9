// The train dialect: the training program, and the entries and state of a step.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc::train {
/// What train.get, train.set and train.input read and write.
struct StateResource : mlir::SideEffects::Resource::Base<StateResource> {
  llvm::StringRef getName() final { return "train.state"; }
};
} // namespace trainc::train

#include "dialects/Train/TrainDialect.h.inc"
#include "dialects/Train/TrainEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Train/TrainAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Train/TrainOps.h.inc"
