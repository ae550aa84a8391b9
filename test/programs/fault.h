// Faults that the tool itself makes in programs while they are compiled, to see whether it would find them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <span>
#include <vector>

namespace trainc::programs {

/// Each breaks a module in one place.
using Breakages = std::vector<std::function<void()>>;

struct FaultKind {
  const char *name;
  const char *pass; ///< the module is broken after this pass
  void (*find)(mlir::ModuleOp module, Breakages &breakages);
};

/// Typical faults of compilers.
std::span<const FaultKind> faultKinds();

/// A fault of some kind in the modules that are compiled.
struct Fault {
  const FaultKind &kind;
  unsigned seed;        ///< chooses the place
  bool wasMade = false; ///< there was such a place
};

/// As long as it lives, each module of the context that the kind's pass has run on is broken.
class FaultInCompiler {
public:
  FaultInCompiler(mlir::MLIRContext &context, Fault &fault);
  ~FaultInCompiler();
  FaultInCompiler(const FaultInCompiler &) = delete;
  FaultInCompiler &operator=(const FaultInCompiler &) = delete;

private:
  mlir::MLIRContext &context_;
};

} // namespace trainc::programs
