// What the pass `instantiate` says of a model, published along with what its text's ops say of themselves.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace trainc {

/// Makes the verifier of every context of this registry look at whole models too.
void registerModelCheck(mlir::DialectRegistry &registry);

} // namespace trainc
