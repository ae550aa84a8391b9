// Initial values of parameters, and the random streams that they and layers draw from.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// Returns the random stream for a name. It depends on the name only.
int64_t randomStreamOf(llvm::StringRef name);

/// Builds the initial value of a parameter. Random numbers are of the parameter's own stream, which depends
/// only on the seed and the name.
mlir::Value buildInitialValue(mlir::OpBuilder &builder, train::StateOp parameter, const Initializer &init);

} // namespace trainc
