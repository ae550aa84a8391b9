// Numbered snapshots of the module after every pass (`--dump-ir=DIR`).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <string>

namespace trainc {

/// Writes DIR/NN-<name>.mlir. The first failure is an error at the module and ends writing.
class Snapshots {
public:
  explicit Snapshots(std::string dir) : dir_(std::move(dir)) {}

  /// Writes the next snapshot; the first one creates the folder.
  void write(llvm::StringRef name, mlir::Operation *module);
  bool failed() const { return failed_; }
  /// Returns instrumentation that writes a snapshot after every pass; this object must outlive it.
  std::unique_ptr<mlir::PassInstrumentation> instrumentation();

private:
  std::string dir_;
  int next_ = 0;
  bool failed_ = false;
};

} // namespace trainc
