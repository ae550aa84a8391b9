// Registry of the functions that compute ops.
#pragma once

#include "lib/Reference/Interpreter.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <type_traits>

namespace trainc::reference {

/// Functions by op name. A function reads its operands from the frame and returns the op's results.
class Registry {
public:
  using Function = std::function<mlir::FailureOr<Tensors>(mlir::Operation *, Frame &)>;

  /// Registers `function(op, frame)`, which returns a Tensor, Tensors or FailureOr<Tensors>.
  template <typename Op, typename F> void add(F function) {
    functions_[Op::getOperationName()] = [function](mlir::Operation *op,
                                                    Frame &frame) -> mlir::FailureOr<Tensors> {
      if constexpr (std::is_same_v<decltype(function(mlir::cast<Op>(op), frame)), Tensor>)
        return Tensors{function(mlir::cast<Op>(op), frame)};
      else
        return function(mlir::cast<Op>(op), frame);
    };
  }

  /// Returns the function of an op, or null.
  const Function *find(mlir::Operation *op) const;

private:
  llvm::StringMap<Function> functions_;
};

/// Returns all functions, registered on first use.
const Registry &registry();

// One function per family of ops, each in the file of its name.
void registerElementwise(Registry &registry);
void registerShape(Registry &registry);
void registerLinear(Registry &registry);
void registerAttention(Registry &registry);
void registerNorm(Registry &registry);
void registerPosition(Registry &registry);
void registerLoss(Registry &registry);
void registerRandom(Registry &registry);
void registerKernel(Registry &registry);
void registerEntry(Registry &registry);
void registerRanks(Registry &registry);

} // namespace trainc::reference
