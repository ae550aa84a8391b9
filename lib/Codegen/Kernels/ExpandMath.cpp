// Replaces math ops without a CPU instruction by polynomials.
#include "lib/Codegen/Kernels/MathLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc::codegen;

using Function = Value (MathBuilder::*)(Value);

/// Returns the function that computes the op; null if there is none.
static Function functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([](math::ExpOp) { return &MathBuilder::exp; })
      .Case([](math::LogOp) { return &MathBuilder::log; })
      .Case([](math::Log1pOp) { return &MathBuilder::log1p; })
      .Case([](math::TanhOp) { return &MathBuilder::tanh; })
      .Case([](math::ErfOp) { return &MathBuilder::erf; })
      .Case([](math::SinOp) { return &MathBuilder::sin; })
      .Case([](math::CosOp) { return &MathBuilder::cos; })
      .Case([](math::RsqrtOp) { return &MathBuilder::rsqrt; })
      .Default([](Operation *) { return Function(); });
}

bool trainc::codegen::isMathFunction(Operation *op) { return functionOf(op) != nullptr; }

LogicalResult trainc::codegen::expandMath(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (!isa<math::MathDialect>(op->getDialect()))
      return WalkResult::advance();
    if (isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::AbsIOp, math::CopySignOp>(op))
      return WalkResult::advance(); // computed by instructions
    const Function function = functionOf(op);
    Type element = getElementTypeOrSelf(op->getResult(0));
    if (!function || !(element.isF32() || element.isF64())) {
      op->emitError("code generation: expected a function of f32 or f64 from the list in "
                    "lib/Codegen/Kernels/MathLowering.h");
      return WalkResult::interrupt();
    }
    OpBuilder builder(op);
    MathBuilder build(builder, op->getLoc(), op->getResult(0).getType());
    op->getResult(0).replaceAllUsesWith((build.*function)(op->getOperand(0)));
    op->erase();
    return WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}
