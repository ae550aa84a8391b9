// Suppression of diagnostics.
#pragma once

#include "mlir/IR/Diagnostics.h"

namespace trainc {

/// Suppresses all diagnostics but errors while it exists.
struct WithoutWarnings : mlir::ScopedDiagnosticHandler {
  explicit WithoutWarnings(mlir::MLIRContext *context)
      : ScopedDiagnosticHandler(context, [](mlir::Diagnostic &message) {
          return llvm::success(message.getSeverity() != mlir::DiagnosticSeverity::Error);
        }) {}
};

} // namespace trainc
