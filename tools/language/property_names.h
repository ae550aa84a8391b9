// Check of the properties of ops in MLIR's generic form.
#pragma once

#include "tools/language/text_check.h"

#include "mlir/IR/MLIRContext.h"

namespace trainc {

/// Finds a property, in `"nn.op"(...) <{name = value}>`, that the op of this project does not have. MLIR's
/// parser drops such properties. `context` has the dialects loaded.
std::optional<TextProblem> findUnknownProperty(llvm::StringRef text, mlir::MLIRContext &context);

} // namespace trainc
