// The text of a model, and what it says.
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

/// The file's text; "-" is standard input. Fails where it is no regular file, or larger than any model.
Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path);

/// A model's text in a context of its own. While it lives, diagnostics go to standard error, with lines of
/// the text.
class ParsedModel {
public:
  explicit ParsedModel(std::unique_ptr<llvm::MemoryBuffer> text);

  /// Phase `model`; null where the text has errors, which are emitted.
  mlir::ModuleOp module() { return module_ ? *module_ : mlir::ModuleOp(); }

private:
  mlir::MLIRContext context_;
  llvm::SourceMgr sources_;
  mlir::SourceMgrDiagnosticHandler diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace trainc
