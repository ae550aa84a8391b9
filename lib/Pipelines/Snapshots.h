// Numbered snapshots of the module after every pass (`--dump-ir=DIR`).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <string>

namespace trainc {

/// Writes DIR/NN-<name>.mlir. The first that cannot be written is an error at the module, and the last.
class Snapshots {
public:
  explicit Snapshots(std::string dir) : dir_(std::move(dir)) {}

  /// Writes the next snapshot; the first one creates the folder.
  void write(llvm::StringRef name, mlir::Operation *module);
  bool failed() const { return failed_; }
  /// Writes one after every pass; lives no longer than this.
  std::unique_ptr<mlir::PassInstrumentation> instrumentation();

private:
  std::string dir_;
  int next_ = 0;
  bool failed_ = false;
};

} // namespace trainc
