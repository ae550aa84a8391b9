// Numbered snapshots of the module after every pass (`--dump-ir=DIR`).
#pragma once

#include "mlir/Pass/PassManager.h"

#include <memory>
#include <string>

namespace trainc {

/// An instrumentation that writes DIR/NN-<pass>.mlir after every pass. Creates the folder; an unwritable one
/// is an error at the first snapshot.
std::unique_ptr<mlir::PassInstrumentation> createSnapshots(const std::string &dir);

} // namespace trainc
