// Reading and parsing of a model file.
#pragma once

#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <string>

namespace trainc {

/// Content of a file; "-" is standard input. Fails if it is not a regular file, or larger than any model.
Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path);

/// A parsed model in an MLIR context of its own. During its lifetime diagnostics go to standard error, with
/// the source line.
class ParsedModel {
public:
  explicit ParsedModel(std::unique_ptr<llvm::MemoryBuffer> text);

  /// The module in phase `model`; null if the text has errors, which were emitted.
  mlir::ModuleOp module() { return module_ ? *module_ : mlir::ModuleOp(); }

private:
  mlir::MLIRContext context_;
  llvm::SourceMgr sources_;
  mlir::SourceMgrDiagnosticHandler diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace trainc
