// Reading and parsing of a model file.
#pragma once

#include "base/status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace trainc {

/// Content of a file; "-" is standard input. Fails if it is not a regular file, or larger than any model.
Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path);

/// Standard error for text that may quote untrusted files: escapes what printable() escapes except newline
/// and tab. Writes whole lines, in the colours of standard error.
class EscapedErrors final : public llvm::raw_ostream {
public:
  EscapedErrors() : raw_ostream(/*unbuffered=*/true) {}
  ~EscapedErrors() override { writeAll(); }

  bool is_displayed() const override { return llvm::errs().is_displayed(); }
  bool has_colors() const override { return llvm::errs().has_colors(); }
  raw_ostream &changeColor(Colors color, bool bold, bool background) override;
  raw_ostream &resetColor() override;

private:
  void write_impl(const char *begin, size_t size) override;
  uint64_t current_pos() const override { return written_; }
  void writeAll();

  std::string line_; ///< text without a newline yet
  uint64_t written_ = 0;
};

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
  EscapedErrors errors_;
  mlir::SourceMgrDiagnosticHandler diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace trainc
