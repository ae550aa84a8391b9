// Notes that help where the parser of MLIR, which knows no models, says what it expected.
#pragma once

#include "mlir/IR/Diagnostics.h"

namespace trainc {

/// While it lives, errors of the parser that a misspelt model leads to get a note with what was probably
/// meant.
class SyntaxHints {
public:
  explicit SyntaxHints(mlir::MLIRContext &context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace trainc
